package vad

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// numbered makes every sample of x tell its place, without touching the first ones of
// chunks, which the detector of these tests looks at.
func numbered(x []float32) []float32 {
	x = slices.Clone(x)
	for i := range x {
		if i%ChunkSamples != 0 {
			x[i] = float32(i)
		}
	}
	return x
}

func TestSpeech(t *testing.T) {
	word, pause := "000999000", strings.Repeat("0", 5)
	for name, c := range map[string]struct {
		digits string
		want   [][]Span // in chunks
	}{
		"nothing":         {"", nil},
		"no speech":       {"00000000000000000000", nil},
		"OK":              {word, [][]Span{{{0, 0, 8}}}},
		"short silence":   {word + pause + word, [][]Span{{{0, 0, 8}, {8, 14, 8}}}},
		"long silence":    {word + pause + pause + word, [][]Span{{{0, 0, 8}}, {{0, 19, 8}}}},
		"window is full":  {strings.Repeat(word+pause, 5), [][]Span{{{0, 0, 8}, {8, 14, 8}, {16, 28, 8}, {24, 42, 8}}, {{0, 56, 8}}}},
		"pads that touch": {"00099000099000000", [][]Span{{{0, 0, 13}}}},
		"always speech":   {strings.Repeat("9", 60), [][]Span{{{0, 0, 23}}, {{0, 23, 23}}, {{0, 46, 14}}}},
	} {
		t.Run(name, func(t *testing.T) {
			x := numbered(signal(c.digits))
			var got [][]Span
			for p, err := range Speech(&samples{x, io.EOF}, loudness{}, inChunks) {
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range p.Samples {
					if real := p.RealTime(i); x[real] != v {
						t.Fatalf("sample %d of the piece is not sample %d of the recording", i, real)
					}
				}
				var spans []Span
				for _, s := range p.Spans {
					spans = append(spans, Span{round(s.Cut), round(s.Start), round(s.Length)})
				}
				got = append(got, spans)
			}
			if !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// round is the nearest number of chunks.
func round(samples int) int { return (samples + ChunkSamples/2) / ChunkSamples }

func TestSpeechGivesWhatCameBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	var got int
	var last error
	for p, err := range Speech(&samples{signal("00099999"), broken}, loudness{}, inChunks) {
		got += len(p.Samples)
		last = err
	}
	if got != 8*ChunkSamples || !errors.Is(last, broken) {
		t.Errorf("got %d samples and %v, want %d and the error", got, last, 8*ChunkSamples)
	}
	for p, err := range Speech(&samples{signal("000"), broken}, loudness{}, inChunks) {
		if len(p.Samples) != 0 || !errors.Is(err, broken) {
			t.Errorf("without speech: %d samples and %v", len(p.Samples), err)
		}
	}
}

func TestSpeechStops(t *testing.T) {
	x := signal(strings.Repeat("000999000000000000000000", 4))
	n := 0
	for range Speech(&samples{x, io.EOF}, loudness{}, inChunks) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d pieces after the first one was enough", n)
	}
}

func TestPieceTimes(t *testing.T) {
	p := Piece{Spans: []Span{{0, 1000, 50}, {50, 2000, 50}, {100, 9000, 100}}}
	for cut, want := range map[int]int{0: 1000, 49: 1049, 50: 2000, 99: 2049, 100: 9000, 199: 9099, 200: 9100, 210: 9110} {
		if got := p.RealTime(cut); got != want {
			t.Errorf("sample %d is at %d, want %d", cut, got, want)
		}
	}
	for _, c := range []struct {
		name     string
		from, to int
		want     [2]int
	}{
		{"OK", 10, 20, [2]int{1010, 1020}},
		{"up to the cut", 10, 50, [2]int{1010, 1050}},
		{"from the cut on", 50, 60, [2]int{2000, 2010}},
		{"mostly before", 20, 60, [2]int{1020, 1050}},
		{"mostly behind", 40, 90, [2]int{2000, 2040}},
		{"over a whole span", 40, 110, [2]int{2000, 2050}},
		{"empty", 30, 30, [2]int{1030, 1030}},
		{"to the end", 150, 200, [2]int{9050, 9100}},
	} {
		if start, end := p.Interval(c.from, c.to); [2]int{start, end} != c.want {
			t.Errorf("%s: %d…%d is at %d…%d, want %v", c.name, c.from, c.to, start, end, c.want)
		}
	}
}
