package store

import (
	"slices"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	s := openStore(t, Options{Dir: memoryDir(t)})
	id := startRecording(t, s)
	for i, text := range []string{
		"The quick brown fox jumps over the lazy dog.",
		"A fox is quick, and the dog is not.",
		"Crème brûlée für Zoë, bitte!",
		"我们明天去北京开会",
		"ﬁnal " + strings.Repeat("words before it ", 20) + "needle" + strings.Repeat(" words behind it", 20),
		`He said "don't" AND left`,
	} {
		say(t, s, id, float64(i), text)
	}
	for _, c := range []struct {
		name, query string
		want        []int // places of the segments, in any order
	}{
		{"OK", "fox", []int{0, 1}},
		{"all words", "lazy fox", []int{0}},
		{"case and accents", "CREME brulee zoe", []int{2}},
		{"phrase", `"quick brown"`, []int{0}},
		{"phrase in no such order", `"brown quick"`, nil},
		{"beginning", "jum*", []int{0}},
		{"no beginning", "jum", nil},
		{"no spaces between words", "北京", []int{3}},
		{"both kinds of script", "北京 fox", nil},
		{"operators are words", "AND", []int{1, 5}},
		{"punctuation", "don't", []int{5}},
		{"open quote", `"needle`, []int{4}},
		{"only signs", `* " ( ) - ^ :`, nil},
		{"empty", "", nil},
		{"column filter is none", "text:fox", nil},
		{"NUL and bad UTF-8", "fox\x00\xff", []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			hits, err := s.Search(ctx, c.query, 0, 10)
			must(t, err)
			var got []int
			for _, h := range hits {
				got = append(got, int(h.Start.Seconds()))
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	for query, want := range map[string]string{"needle": "needle", "明天": "明天", `"QUICK brown"`: "quick brown"} {
		hits, err := s.Search(ctx, query, 0, 10)
		must(t, err)
		if len(hits) != 1 || len(hits[0].Marks) < 2 || len(hits[0].Snippet) > 300 {
			t.Fatalf("%s: %+v", query, hits)
		}
		if h := hits[0]; h.Snippet[h.Marks[0]:h.Marks[1]] != want || h.Recording != id || strings.ContainsAny(h.Snippet, "\x02\x03") {
			t.Errorf("%s: snippet %q, marks %v", query, h.Snippet, h.Marks)
		}
	}
	for _, query := range []string{"dog", "北京"} {
		say(t, s, id, 10, "dog o 北京")
		first, err := s.Search(ctx, query, 0, 1)
		must(t, err)
		then, err := s.Search(ctx, query, first[0].ID, 1)
		must(t, err)
		if len(first) != 1 || len(then) != 1 || first[0].Start != seconds(10) || then[0].ID >= first[0].ID {
			t.Errorf("%s: %+v, then %+v", query, first, then)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, query := range []string{"fox", `"a b" c*`, `NEAR("x" y) - ^z {text}: OR`, "北京*", "\"\x00", "'; DROP TABLE segments"} {
		f.Add(query)
	}
	s, err := Open(ctx, Options{NoHistory: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	id, err := s.StartRecording(ctx, Recording{})
	if err == nil {
		_, err = s.Append(ctx, id, Utterance{Segments: []Segment{{Text: "a fox 在北京 and 'so' on"}}})
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if len(query) > 1000 {
			return
		}
		hits, err := s.Search(ctx, query, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			for i := 0; i < len(h.Marks); i += 2 {
				_ = h.Snippet[h.Marks[i]:h.Marks[i+1]]
			}
		}
	})
}
