package pipeline

import (
	"testing"

	"earshot/whisper"
)

// TestCaption: words become stable when two texts in a row have them, and stay so; the
// rest is volatile.
func TestCaption(t *testing.T) {
	r := &recording{id: 3, began: 1000}
	type step struct{ text, stable, volatile string }
	for name, steps := range map[string][]step{
		"OK":               {{"a b", "", "a b"}, {"a b c", "a b", "c"}, {"a b c d", "a b c", "d"}},
		"the last changes": {{"a b", "", "a b"}, {"a x", "a", "x"}, {"a x y", "a x", "y"}},
		"no agreement":     {{"a", "", "a"}, {"b", "", "b"}, {"c", "", "c"}},
		"never taken back": {{"a b c", "", "a b c"}, {"a b c", "a b c", ""}, {"x", "a b c", ""}, {"x y z d", "a b c", "d"}},
		"agreed elsewhere": {{"a b c", "", "a b c"}, {"a b c", "a b c", ""}, {"x b c d e", "a b c", "d e"}, {"x b c d e", "a b c d e", ""}},
		"a word goes on":   {{"so", "", "so"}, {"some", "", "some"}, {"some more", "some", "more"}},
		"nothing":          {{"", "", ""}, {"a", "", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var c caption
			u := &utterance{recording: r, start: 2000, end: 18000}
			for i, s := range steps {
				got := c.update(u, whisper.Heard{Result: whisper.Result{Text: s.text, Language: "en"}})
				if got.Text != s.stable || got.Volatile != s.volatile {
					t.Errorf("text %d: %q and %q, want %q and %q", i, got.Text, got.Volatile, s.stable, s.volatile)
				}
				if got.Kind != Caption || got.Recording != 3 || got.Start != timeOf(1000) || got.End != timeOf(17000) || got.Language != "en" {
					t.Errorf("text %d: %+v", i, got)
				}
			}
		})
	}
}

// TestCaptionBegins: what was agreed on in one utterance is nothing to the next.
func TestCaptionBegins(t *testing.T) {
	a, b := &recording{id: 1}, &recording{id: 2}
	var c caption
	say := func(u *utterance) Message {
		return c.update(u, whisper.Heard{Result: whisper.Result{Text: "so"}})
	}
	for i, u := range []*utterance{
		{recording: a, start: 100},
		{recording: a, start: 200},
		{recording: b, start: 200},
	} {
		if m := say(u); m.Text != "" || m.Volatile != "so" {
			t.Errorf("utterance %d: %q is stable after one text", i, m.Text)
		}
		if m := say(u); m.Text != "so" || m.Volatile != "" {
			t.Errorf("utterance %d: %q and %q after two", i, m.Text, m.Volatile)
		}
	}
}
