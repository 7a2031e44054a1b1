package export

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// Cases C57 and C58.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{
		{0, "00:00:00,000"},
		{0.9995, "00:00:01,000"},
		{1.9995, "00:00:02,000"},
		{59.9996, "00:01:00,000"},
		{3599.9999, "01:00:00,000"},
		{3_600 + 1.5, "01:00:01,500"},
		{36_000 + 1.5, "10:00:01,500"},
		{360_000 + 1.5, "100:00:01,500"},
		{maxSeconds, "277777:46:40,000"},
	} {
		if got := clock(millis(c.seconds), ','); got != c.want {
			t.Errorf("%v s: got %s, want %s", c.seconds, got, c.want)
		}
	}
}

func TestClockSweep(t *testing.T) {
	shape := regexp.MustCompile(`^\d{2,}:[0-5]\d:[0-5]\d,\d{3}$`)
	for k := range 100_001 {
		seconds := float64(k) / 10_000
		text := clock(millis(seconds), ',')
		if !shape.MatchString(text) {
			t.Fatalf("%v s: %s", seconds, text)
		}
		got, ok := parseClock(text)
		if off := math.Abs(float64(got)/1000 - seconds); !ok || off > 0.0005+1e-12 {
			t.Fatalf("%v s: %s reads as %d ms", seconds, text, got)
		}
		if got := millis(limit(float64(k+1) / 1000)); got != int64(k+1) {
			t.Fatalf("a recording of %d ms ends at %d ms", k+1, got)
		}
	}
}

// The same times through every format that has them.
func TestTimesRoundTrip(t *testing.T) {
	for _, f := range []Format{SRT, VTT, JSON, JSONL, TSV} {
		for _, offset := range []float64{0, 3_600, 36_000, 360_000} {
			in := Transcript{Segments: []Segment{{Start: offset + 1.5, End: offset + 2.9996, Text: "x"}}}
			text := render(t, f, in, Options{})
			got, err := Read(strings.NewReader(text), f)
			if err != nil || len(got.Segments) != 1 || got.Segments[0].Start != offset+1.5 || got.Segments[0].End != offset+3 {
				t.Errorf("%s at %v s: got %+v, %v from\n%s", f, offset, got.Segments, err, text)
			}
		}
	}
}

func TestParseClock(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64 // -1: refused
	}{
		{"00:00:01,500", 1_500},
		{"00:00:01.500", 1_500},
		{"00:01.500", 1_500},
		{"1:2:3", 3_723_000},
		{"00:01,5", 1_500},
		{"00:01.05", 1_050},
		{"00:01.9996", 2_000},
		{"123:00:00.001", 442_800_001},
		{"99:59.99", 5_999_990},
		{"", -1}, {"5", -1}, {"1:60", -1}, {"1:60:00", -1}, {"-1:00", -1}, {"1:00.1.2", -1},
		{"1:00:00:00", -1}, {"a:00", -1}, {"1:", -1}, {":1", -1}, {"1: 2", -1}, {"1:00.+5", -1},
		{strings.Repeat("9", 30) + ":00", -1},
	} {
		t.Run(fmt.Sprintf("%q", c.text), func(t *testing.T) {
			got, ok := parseClock(c.text)
			if !ok {
				got = -1
			}
			if got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
