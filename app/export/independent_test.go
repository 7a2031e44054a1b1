package export

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the samples in testdata; run independent.py there afterwards")

// sample has one segment of every kind that has gone wrong somewhere (cases.md).
func sample() Transcript {
	word := func(start, end float64, text string) Word { return Word{start, end, text, 1} }
	return Transcript{Title: "sample", Language: "en", Duration: 360_002.25, Segments: []Segment{
		{Start: 0.9995, End: 5, Text: " And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country."},
		{Start: 5.5, End: 7, Text: "a --> b & <c>"},
		{Start: 7, End: 9, Text: "one\n\ntwo", Words: []Word{word(7.25, 7.5, " one"), word(8.1255, 9, " two")}},
		{Start: 9, End: 10, Text: "<img src=x onerror=alert(1)> &amp;"},
		{Start: 9.5, End: 9.25, Text: "42"},
		{Start: 11, End: 20, Text: strings.Repeat("漢", 60)},
		{Start: 20, End: 21, Text: "👨‍👩‍👧‍👦 안녕하세요 여러분, สวัสดี שלום e\u0301"},
		{Start: 60, End: 133, Text: "la la la la"},
		{Start: 140, End: 150, Text: "Yes.", Speaker: "Ann & <Bob>"},
		{Start: 145, End: 155, Text: "No --> 1", Speaker: "right"},
		{Start: 3599.9999, End: 3601.5, Text: "one hour"},
		{Start: 36_001.5, End: 36_002, Text: "ten hours"},
		{Start: 360_001.5, End: 500_000, Text: "a hundred hours"},
	}}
}

// TestIndependent compares our reading with that of other parsers, which is kept in
// testdata, and our writing with the files that they read.
func TestIndependent(t *testing.T) {
	data, err := os.ReadFile("testdata/independent.json")
	if err != nil {
		t.Fatal(err)
	}
	var others map[string][][4]any
	if err := json.Unmarshal(data, &others); err != nil {
		t.Fatal(err)
	}
	for f, parsers := range map[Format][]string{SRT: {"pysrt", "srt"}, VTT: {"webvtt-py"}} {
		name := "testdata/sample." + string(f)
		text := render(t, f, sample(), Options{WordTimes: true})
		if *update {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if file, err := os.ReadFile(name); err != nil || string(file) != text {
			t.Fatalf("%s: %v; got\n%s\nwant\n%s", name, err, text, file)
		}
		ours, err := Read(strings.NewReader(text), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, parser := range parsers {
			if got, want := rows(ours.Segments), squeezed(others[parser]); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got\n%v\nwant\n%v", parser, got, want)
			}
		}
	}
}

// rows are cues as independent.py writes them, without spaces in the texts: how lines
// are joined is ours to say.
func rows(segments []Segment) [][4]any {
	var out [][4]any
	for _, s := range segments {
		out = append(out, [4]any{float64(millis(s.Start)), float64(millis(s.End)), s.Speaker, s.Text})
	}
	return squeezed(out)
}

func squeezed(rows [][4]any) [][4]any {
	for i := range rows {
		rows[i][3] = nonSpace([]string{rows[i][3].(string)})
	}
	return rows
}
