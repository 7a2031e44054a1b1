package export

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func TestTidyRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 0))
	lists := 10_000
	if testing.Short() {
		lists = 1000
	}
	for n := range lists {
		in := randomSegments(r)
		duration, longest := 120*r.Float64(), 40*r.Float64()
		if n%4 != 0 { // mostly the usual limit: a cut takes time
			longest = 0
		}
		if n%8 == 0 {
			duration = 0
		}
		checkTidy(t, in, duration, longest)
		if t.Failed() {
			t.Fatalf("list %d: %+v\nduration %v, longest %v", n, in, duration, longest)
		}
	}
}

// checkTidy holds Tidy to its promises, for segments without speakers.
func checkTidy(t *testing.T, in []Segment, duration, longest float64) {
	t.Helper()
	out := Tidy(in, duration, longest)
	if duration == 0 {
		duration = maxSeconds
	}
	if longest == 0 {
		longest = DefaultLongest
	}
	var before, after []string
	for _, s := range in {
		before = append(before, s.Text)
	}
	end := 0.0
	for i, s := range out {
		after = append(after, s.Text)
		if !(end <= s.Start && s.Start <= s.End && s.End <= duration) {
			t.Errorf("segment %d: %v–%v after %v, of %v", i, s.Start, s.End, end, duration)
		}
		if s.End-s.Start > longest+1e-9 {
			t.Errorf("segment %d: %v–%v is longer than %v", i, s.Start, s.End, longest)
		}
		end = s.End
		from := s.Start
		for k, w := range s.Words {
			if !(from <= w.Start && w.Start <= w.End && w.End <= s.End) {
				t.Errorf("segment %d %v–%v, word %d: %v–%v after %v", i, s.Start, s.End, k, w.Start, w.End, from)
			}
			from = w.End
		}
		if len(s.Words) > 0 && align(s, 0) == nil {
			t.Errorf("segment %d: the words of %q are %v", i, s.Text, s.Words)
		}
	}
	if got, want := nonSpace(after), nonSpace(before); got != want {
		t.Errorf("text\ngot  %q\nwant %q", got, want)
	}
	if len(in) > 0 && !reflect.DeepEqual(Tidy(out, duration, longest+1e-9), out) {
		t.Error("tidy again: something changes")
	}
}

func nonSpace(texts []string) string {
	return strings.Join(strings.FieldsFunc(strings.Join(texts, ""), isSpace), "")
}

func TestTidy(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		duration float64
		in, want [][2]float64
	}{
		{"OK", 10, [][2]float64{{0, 1}, {1, 2}, {5, 10}}, [][2]float64{{0, 1}, {1, 2}, {5, 10}}},
		{"behind the end", 29.9, [][2]float64{{20, 30.02}, {30, 31}}, [][2]float64{{20, 29.9}, {29.9, 29.9}}},
		{"behind the last whole ms", 29.9996, [][2]float64{{20, 30}}, [][2]float64{{20, 29.999}}},
		{"in front of the start", 10, [][2]float64{{-2, -1}, {-1, 3}}, [][2]float64{{0, 0}, {0, 3}}},
		{"reversed", 10, [][2]float64{{3, 1}}, [][2]float64{{1, 3}}},
		{"overlap", 10, [][2]float64{{1, 5}, {4, 8}, {2, 3}}, [][2]float64{{1, 5}, {5, 8}, {8, 8}}},
		{"no start", 10, [][2]float64{{1, 2}, {nan, 4}}, [][2]float64{{1, 2}, {2, 4}}},
		{"no end", 10, [][2]float64{{1, nan}, {2, 3}}, [][2]float64{{1, 1}, {2, 3}}},
		{"no times", 10, [][2]float64{{nan, nan}}, [][2]float64{{0, 0}}},
		{"infinite", 10, [][2]float64{{1, 2}, {math.Inf(-1), math.Inf(1)}, {math.Inf(1), 3}, {4, math.Inf(1)}}, [][2]float64{{1, 2}, {2, 2}, {2, 3}, {4, 4}}},
		{"unknown duration", 0, [][2]float64{{360_001.5, 360_002}}, [][2]float64{{360_001.5, 360_002}}},
		{"NaN duration", nan, [][2]float64{{1, 2}}, [][2]float64{{1, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var in []Segment
			for _, p := range c.in {
				in = append(in, Segment{Start: p[0], End: p[1], Text: "x"})
			}
			var got [][2]float64
			for _, s := range Tidy(in, c.duration, 0) {
				got = append(got, [2]float64{s.Start, s.End})
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestTidyText(t *testing.T) {
	for in, want := range map[string]string{
		" And so ":             "And so",
		"one\n\ntwo":           "one two",
		"a\tb\r\nc\u2028d":     "a b c d",
		"地\xe5\x9c":            "地", // a byte left over (C64)
		"\ufeffa\x00\x1bb\x7f": "ab",
		"👨‍👩‍👧":                "👨‍👩‍👧",
		"quoi\u00a0?":          "quoi\u00a0?",
	} {
		got := Tidy([]Segment{{Text: in}}, 0, 0)
		if len(got) != 1 || got[0].Text != want {
			t.Errorf("%q: got %+v, want %q", in, got, want)
		}
	}
	if got := Tidy([]Segment{{Text: " \n\u3000"}, {Text: "\xff"}}, 0, 0); len(got) != 0 {
		t.Errorf("segments without text: got %+v, want none", got)
	}
}

// Two channels may talk at once.
func TestTidySpeakers(t *testing.T) {
	got := Tidy([]Segment{
		{Start: 0, End: 10, Text: "a", Speaker: "left"},
		{Start: 2, End: 8, Text: "b", Speaker: "right"},
		{Start: 7, End: 9, Text: "c", Speaker: "right"},
		{Start: 1, End: 12, Text: "d", Speaker: "left"},
	}, 0, 0)
	want := [][2]float64{{0, 10}, {2, 8}, {8, 9}, {10, 12}}
	for i, s := range got {
		if s.Start != want[i][0] || s.End != want[i][1] {
			t.Errorf("segment %d: got %v–%v, want %v", i, s.Start, s.End, want[i])
		}
	}
}

func TestTidyLongest(t *testing.T) {
	word := func(start, end float64, text string) Word { return Word{start, end, text, 1} }
	for _, c := range []struct {
		name string
		in   Segment
		want []Segment
	}{
		{"one word", Segment{Start: 1, End: 74, Text: "♪"}, []Segment{{Start: 1, End: 31, Text: "♪"}}},
		{"spoken evenly", Segment{End: 40, Text: "aaaa bbbb cccc dddd"},
			[]Segment{{Start: 0, End: 40. * 10 / 19, Text: "aaaa bbbb"}, {Start: 40. * 10 / 19, End: 40, Text: "cccc dddd"}}},
		{"at the sentence", Segment{End: 40, Text: "aaaa bbbb cccc. Dddd eeee"},
			[]Segment{{Start: 0, End: 40. * 16 / 25, Text: "aaaa bbbb cccc."}, {Start: 40. * 16 / 25, End: 40, Text: "Dddd eeee"}}},
		{"words know", Segment{Start: 1, End: 73, Text: "And so. Yes",
			Words: []Word{word(1, 1.5, " And"), word(2, 3, " so."), word(70, 73, " Yes")}},
			[]Segment{{Start: 1, End: 3, Text: "And so.", Words: []Word{word(1, 1.5, "And"), word(2, 3, "so.")}},
				{Start: 70, End: 73, Text: "Yes", Words: []Word{word(70, 73, "Yes")}}}},
		{"a long word", Segment{End: 73, Text: "And", Words: []Word{word(0, 73, "And")}},
			[]Segment{{End: 30, Text: "And", Words: []Word{word(0, 30, "And")}}}},
		{"words of another text", Segment{End: 40, Text: "aaaa bbbb", Words: []Word{word(0, 1, "cccc")}},
			[]Segment{{End: 40. * 5 / 9, Text: "aaaa"}, {Start: 40. * 5 / 9, End: 40, Text: "bbbb"}}},
		{"no spaces", Segment{End: 40, Text: "漢字漢字"},
			[]Segment{{End: 20, Text: "漢字"}, {Start: 20, End: 40, Text: "漢字"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Tidy([]Segment{c.in}, 0, 0)
			for i := range got {
				if len(got[i].Words) == 0 {
					got[i].Words = nil
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}
