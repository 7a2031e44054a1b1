package export

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// lay returns the lines of the cues of a text.
func lay(text string, width, most int) [][]string {
	var out [][]string
	for _, c := range cues(Segment{Text: text, End: 10}, 0, width, most) {
		out = append(out, c.lines)
	}
	return out
}

// Case C66.
func TestCuesGraphemes(t *testing.T) {
	family := "👨‍👩‍👧‍👦"
	if len(family) != 25 || utf8.RuneCountInString(family) != 7 {
		t.Fatalf("the family has %d bytes", len(family))
	}
	for _, c := range []struct {
		name, unit string
		count      int
		want       []int
	}{
		{"double width", "漢", 60, []int{21, 21, 18}},
		{"combining", "e\u0301", 100, []int{42, 42, 16}},
		{"family", family, 50, []int{21, 21, 8}},
		{"flags", "🇩🇪", 22, []int{21, 1}},
		{"long word", "x", 50, []int{42, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Repeat(c.unit, c.count)
			for _, most := range []int{-1, 1, 2, 3} {
				var got []int
				all := ""
				for _, lines := range lay(text, 42, most) {
					for _, line := range lines {
						if line != strings.Repeat(c.unit, len(line)/len(c.unit)) {
							t.Errorf("%d lines: a character is cut: %q", most, line)
						}
						got = append(got, len(line)/len(c.unit))
						all += line
					}
				}
				if !reflect.DeepEqual(got, c.want) || all != text {
					t.Errorf("%d lines: got %v, want %v", most, got, c.want)
				}
			}
		})
	}
}

func TestCues(t *testing.T) {
	for _, c := range []struct {
		name, text string
		width      int
		want       [][]string
	}{
		{"OK", "And so my fellow Americans", 42, [][]string{{"And so my fellow Americans"}}},
		{"behind the comma", "And so, my fellow Americans, ask not what your country can do", 42,
			[][]string{{"And so, my fellow Americans, ", "ask not what your country can do"}}},
		{"balanced", "one two three four five six", 24, [][]string{{"one two three ", "four five six"}}},
		{"several cues", "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.", 42,
			[][]string{{"And so my fellow Americans, ", "ask not what your country can do for you, "}, {"ask what you can do for your country."}}},
		{"Korean at spaces", "안녕하세요 여러분 오늘은", 12, [][]string{{"안녕하세요 "}, {"여러분 ", "오늘은"}}},
		{"no line starts with a full stop", "漢字漢字漢字。漢字", 12, [][]string{{"漢字漢字漢", "字。漢字"}}},
		{"no-break space", "est-ce que tu viens\u00a0?", 16, [][]string{{"est-ce que ", "tu viens\u00a0?"}}},
		{"hyphen stays", "one well-known two", 12, [][]string{{"one ", "well-known "}, {"two"}}},
		{"wider than a line", "a 漢 b", 1, [][]string{{"a ", "漢 "}, {"b"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := lay(c.text, c.width, 2); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestCuesWords(t *testing.T) {
	s := Segment{Start: 1, End: 9, Text: "one two three four", Words: []Word{
		{1, 2, "one", 1}, {2, 3, "two", 1}, {5, 6, "three", 1}, {6, 9, "four", 1}}}
	got := cues(s, 0, 10, 1)
	if len(got) != 2 || got[0].Start != 1 || got[0].End != 3 || got[1].Start != 5 || got[1].End != 9 ||
		len(got[0].Words) != 2 || len(got[1].Words) != 2 {
		t.Errorf("got %+v", got)
	}
	// With a label in front of the text, as in srt.
	s.Text = "Ann: " + s.Text
	if got := cues(s, 5, 12, 1); len(got) != 2 || got[0].Text != "Ann: one two" || got[0].End != 3 || got[1].Start != 5 {
		t.Errorf("with a label: got %+v", got)
	}
}

func TestCuesRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(66, 0))
	for range 1_500 {
		s := Segment{Start: 5, End: 5 + 25*r.Float64(), Text: randomText(r, 60)}
		if r.IntN(2) == 0 {
			s.Words = randomWords(r, s)
		}
		s = Tidy([]Segment{s}, 0, 0)[0]
		width, most := 12+r.IntN(40), 1+r.IntN(3)
		all, end := "", s.Start
		for _, c := range cues(s, 0, width, most) {
			if len(c.lines) > most || c.Start < end || c.End < c.Start || c.End > s.End {
				t.Fatalf("%q: %d lines of %d, %v–%v after %v", s.Text, len(c.lines), most, c.Start, c.End, end)
			}
			if got := strings.Join(c.lines, ""); strings.TrimRight(got, " ") != c.Text {
				t.Fatalf("got %q for %q", got, c.Text)
			}
			for _, line := range c.lines {
				if w := uniseg.StringWidth(strings.TrimRight(line, " ")); w > width || !utf8.ValidString(line) {
					t.Fatalf("%q: %d columns of %d", line, w, width)
				}
				all += line
			}
			end = c.End
		}
		if all != s.Text {
			t.Fatalf("got  %q\nwant %q", all, s.Text)
		}
	}
}
