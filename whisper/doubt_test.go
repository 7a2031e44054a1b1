package whisper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// listen gives the pieces to a listener in order and returns the texts.
func listen(t *testing.T, l *Listener, pieces ...[]float32) []string {
	t.Helper()
	var texts []string
	for _, p := range pieces {
		h, err := l.Piece(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, h.Text)
	}
	return texts
}

// TestDoubt is cases C28, C29 and C39: text on weak evidence.
func TestDoubt(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer said
		opts   Options
		sound  []float32
		want   string
	}{
		{"phrase that the model doubts", said{text: "Thank you.", logProb: -1.5, noSpeech: 0.8}, Options{}, voice(3), ""},
		{"phrase that it does not", said{text: "Thank you.", logProb: -0.3, noSpeech: 0.1}, Options{}, voice(3), "Thank you."},
		{"you you you on zeros", said{text: "you you you", logProb: -0.3, noSpeech: 0.1}, Options{}, quiet(30), ""},
		{"No. No. No. No. on zeros", said{text: "No. No. No. No.", logProb: -0.3, noSpeech: 0.1}, Options{}, quiet(30), ""},
		{"laughter without spaces on zeros", said{text: "hahahahaha", logProb: -0.3, noSpeech: 0.1}, Options{}, quiet(30), ""},
		{"anything where there is no sound", said{text: "Thank you for watching", logProb: -0.1, noSpeech: 0.1}, Options{}, quiet(30), ""},
		{"marks only", said{text: ". . .", logProb: -0.3, noSpeech: 0.1}, Options{}, voice(3), ""},
		{"no no no, spoken", said{text: "no no no", logProb: -0.2, noSpeech: 0.1}, Options{}, voice(1.5), "no no no"},
		{"prompt on zeros", said{text: "Helstone, Merneptah, Delmonico", logProb: -0.2, noSpeech: 0.1}, Options{Prompt: "Helstone, Merneptah, Delmonico"}, quiet(2), ""},
		{"part of the hotwords on zeros", said{text: "Merneptah", logProb: -0.2, noSpeech: 0.1}, Options{Hotwords: "Helstone, Merneptah"}, quiet(2), ""},
		{"words of the prompt, spoken", said{text: "crayfish and lobster", logProb: -0.2, noSpeech: 0.1}, Options{Prompt: "crayfish, lobster"}, voice(3), "crayfish and lobster"},
		{"the prompt itself, spoken", said{text: "crayfish, lobster", logProb: -0.2, noSpeech: 0.1}, Options{Prompt: "crayfish, lobster"}, voice(3), "crayfish, lobster"},
		{"a chant as long as its sound", said{text: strings.Repeat("we want it. ", 4), logProb: -0.2, noSpeech: 0.1}, Options{}, voice(12), strings.TrimSpace(strings.Repeat("we want it. ", 4))},
		{"guards off", said{text: "Thank you.", logProb: -1.5, noSpeech: 0.8}, Options{NoGuards: true}, voice(3), "Thank you."},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Language = "en"
			l := &Listener{Engine: newStub(t, func(int, string) said { return c.answer }), Options: c.opts}
			if got := listen(t, l, c.sound); got[0] != c.want {
				t.Errorf("got %q, want %q", got[0], c.want)
			}
		})
	}
}

// TestNoContextBetweenPieces is case C35: a decoder that repeats what its prompt holds.
func TestNoContextBetweenPieces(t *testing.T) {
	script := func(window int, prompt string) said {
		if window == 7 || strings.Contains(prompt, "we will see") {
			return said{text: "we will see", logProb: -0.2, noSpeech: 0.1}
		}
		return said{text: fmt.Sprintf("line %d", window), logProb: -0.2, noSpeech: 0.1}
	}
	l := &Listener{Engine: newStub(t, script), Options: Options{Language: "en"}}
	got := listen(t, l, slices.Repeat([][]float32{voice(1)}, 240)...)
	for k, text := range got {
		want := fmt.Sprintf("line %d", k)
		if k == 7 {
			want = "we will see"
		}
		if text != want {
			t.Fatalf("window %d: %q, want %q", k, text, want)
		}
	}
}

// TestDoubtfulTextIsNotFedBack is case C37, with context asked for.
func TestDoubtfulTextIsNotFedBack(t *testing.T) {
	script := func(window int, prompt string) said {
		switch {
		case strings.Contains(prompt, "and and"):
			return said{text: "", logProb: -0.2, noSpeech: 0.1}
		case window == 40:
			return said{text: strings.Repeat("and ", 80), logProb: -1e-9, noSpeech: 0.1} // at any temperature
		}
		return said{text: fmt.Sprintf("line %d", window), logProb: -0.2, noSpeech: 0.1}
	}
	for _, withContext := range []bool{false, true} {
		l := &Listener{Engine: newStub(t, script), Options: Options{Language: "en"}, Context: withContext}
		for k, text := range listen(t, l, slices.Repeat([][]float32{voice(30)}, 112)...) {
			if strings.Contains(text, "and and") || k > 40 && text != fmt.Sprintf("line %d", k) {
				t.Fatalf("context %v: window %d: %q", withContext, k, text)
			}
		}
	}
}

// TestCapGrowsWithTheAudio is case C96: a decoder that never ends its text.
func TestCapGrowsWithTheAudio(t *testing.T) {
	endless := strings.Repeat("the quick brown fox jumps over lazy dogs, pack my box with five dozen liquor jugs; ", 8)
	last := 0
	for _, length := range []float64{1, 2, 5, 10, 30} {
		e := newStub(t, func(int, string) said { return said{text: endless, logProb: -0.2, noSpeech: 0.1} })
		r, err := e.Transcribe(context.Background(), voice(length), Options{Language: "en", Temperatures: []float64{0}})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(r.Tokens); r.Stop == EndOfText || n > 224 || n < last || r.good() {
			t.Errorf("%g s: %d tokens, stopped by %s, good %v", length, n, r.Stop, r.good())
		}
		last = len(r.Tokens)
	}
}

// TestMaxTokens is case C40: a cap on a segment loses nothing.
func TestMaxTokens(t *testing.T) {
	text := "abcdefghij klmnopqrst uvwxyzabcd efghijklmn opqrstuvwx yzabcdefgh ijklmnopqr stuvwxyzab cdefghijkl m"
	e := newStub(t, func(int, string) said { return said{text: text, logProb: -0.2, noSpeech: 0.1} })
	r, err := e.Transcribe(context.Background(), voice(20), Options{Language: "en", MaxTokens: 32})
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != text || len(r.Segments) < 4 {
		t.Errorf("got %d segments: %q", len(r.Segments), r.Text)
	}
	for i, s := range r.Segments {
		if len(s.Text) > 32 || s.End < s.Start || i > 0 && s.Start < r.Segments[i-1].End {
			t.Errorf("segment %d: %+v", i, s)
		}
	}
}

// TestLanguageHysteresis is case C68.
func TestLanguageHysteresis(t *testing.T) {
	l := &Listener{Engine: newStub(t, nil), language: "zh"}
	heard := func(probability float64) spoken {
		logits := []float32{logit(probability, 1), 0} // English against Chinese
		return spoken{"en", probability, logits}
	}
	if l.switches(heard(0.45), 1.2) {
		t.Error("0.45 over 1.2 s: switched")
	}
	if !l.switches(heard(0.95), 6) {
		t.Error("0.95 over 6 s: stayed")
	}
}
