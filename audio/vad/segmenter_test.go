package vad

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/audio"
)

// loudness is a detector for made-up signals: a chunk's probability is its first
// sample. Before the recording it hears zeros as any other.
type loudness struct{}

func (loudness) Probability(chunk []float32) float32 { return chunk[0] }
func (loudness) Reset()                              {}

// signal has chunks of constant value, one for each digit: 9 is 0.9.
func signal(digits string) []float32 {
	x := make([]float32, 0, len(digits)*ChunkSamples)
	for _, d := range digits {
		for range ChunkSamples {
			x = append(x, float32(d-'0')/10)
		}
	}
	return x
}

// chunks is a number of chunks as a duration.
func chunks(n int) time.Duration { return time.Duration(n) * 32 * time.Millisecond }

var inChunks = Options{
	Threshold:    0.5,
	EndThreshold: 0.35,
	MinSpeech:    chunks(2),
	MinSilence:   chunks(4),
	PreRoll:      chunks(3),
	Trail:        chunks(2),
	Longest:      chunks(32),
	Apart:        chunks(10),
}

// segments feeds x in blocks and returns the ends.
func segments(s *Segmenter, x []float32, block int) []Segment {
	var all []Segment
	keep := func(events []Event) {
		for _, e := range events {
			if e.Ended {
				e.Samples = slices.Clone(e.Samples)
				all = append(all, e.Segment)
			}
		}
	}
	for b := range slices.Chunk(x, block) {
		keep(s.Feed(b))
	}
	keep(s.Flush())
	return all
}

func TestSegmenter(t *testing.T) {
	for name, c := range map[string]struct {
		digits string
		want   [][2]int // in chunks
	}{
		"nothing":                       {"", nil},
		"silence":                       {"0000000000", nil},
		"OK":                            {"000000999000000", [][2]int{{3, 11}}},
		"no room for the pre-roll":      {"0999000000", [][2]int{{0, 6}}},
		"too short":                     {"0000090000000", nil},
		"just long enough":              {"0000099000000", [][2]int{{2, 9}}},
		"chunks of speech are summed":   {"00000900900000", [][2]int{{2, 11}}},
		"pause that is too short":       {"00009900099000000", [][2]int{{1, 13}}},
		"pause that is long enough":     {"000099000099000000", [][2]int{{1, 8}, {8, 14}}},
		"pads do not touch":             {"00009900000000990000000", [][2]int{{1, 8}, {11, 18}}},
		"hysteresis: speech goes on":    {"000099444444440000000", [][2]int{{1, 16}}},
		"hysteresis: pause goes on":     {"000099044490000000", [][2]int{{1, 8}}},
		"at the threshold":              {"00005500000000", [][2]int{{1, 8}}},
		"below the threshold":           {"00004400000000", nil},
		"the recording ends in speech":  {"000099", [][2]int{{1, 6}}},
		"the recording ends in a pause": {"00009990", [][2]int{{1, 8}}},
		"the recording ends in a pad":   {"0000999000", [][2]int{{1, 9}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][2]int
			for _, s := range segments(NewSegmenter(loudness{}, inChunks), signal(c.digits), 512) {
				got = append(got, [2]int{s.Start / ChunkSamples, s.End / ChunkSamples})
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestSegmenterCut has a voice that never stops: segments are closed at the longest
// length, in the pause if there is one, and nothing is lost between them (C72).
func TestSegmenterCut(t *testing.T) {
	always := signal(strings.Repeat("9", 100))
	withPause := slices.Clone(always)
	for i := 25*ChunkSamples + 100; i < 28*ChunkSamples; i++ {
		withPause[i] = 0.1
	}
	withPause[27*ChunkSamples] = 0.9 // a longer pause of two chunks stays
	for name, c := range map[string]struct {
		x    []float32
		from int // of the first cut, in samples
		to   int
	}{
		"no pause": {always, 32 * ChunkSamples * 2 / 3, 32 * ChunkSamples},
		"pause":    {withPause, 26 * ChunkSamples, 27 * ChunkSamples},
	} {
		t.Run(name, func(t *testing.T) {
			all := segments(NewSegmenter(loudness{}, inChunks), c.x, 1000)
			if cut := all[0].End; cut < c.from || cut > c.to {
				t.Errorf("first cut at %d, want %d…%d", cut, c.from, c.to)
			}
			end := 0
			for _, s := range all {
				if s.Start != end || s.End-s.Start > 32*ChunkSamples {
					t.Errorf("segment %d…%d behind %d", s.Start, s.End, end)
				}
				end = s.End
			}
			if end != len(c.x) {
				t.Errorf("the last one ends at %d, want %d", end, len(c.x))
			}
		})
	}
}

// TestSegmenterCutBeforeSilence: what is left behind a cut must have speech.
func TestSegmenterCutBeforeSilence(t *testing.T) {
	x := signal(strings.Repeat("9", 30) + "0000000000000")
	all := segments(NewSegmenter(loudness{}, inChunks), x, 512)
	if len(all) != 1 || all[0].End < 30*ChunkSamples {
		t.Errorf("got %d segments, the first until %d; want one until %d or later", len(all), all[0].End, 30*ChunkSamples)
	}
}

// TestSegmenterProperties has random signals: whatever the blocks, the segments are
// the same, in order, apart, not too long, and hold the recording's samples.
func TestSegmenterProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := NewSegmenter(loudness{}, inChunks)
	for range 100 {
		x := make([]float32, r.IntN(200*ChunkSamples))
		level := r.Float32()
		for i := range x {
			if r.IntN(4000) == 0 {
				level = r.Float32()
			}
			x[i] = level
		}
		all := segments(s, x, 512)
		for _, block := range []int{1 + r.IntN(400), 4096, len(x) + 1} {
			if other := segments(s, x, block); !same(all, other) {
				t.Fatalf("blocks of %d: %s, of 512: %s", block, describe(other), describe(all))
			}
		}
		end := 0
		for _, seg := range all {
			if seg.Start < end || seg.End <= seg.Start || seg.End > len(x) || seg.End-seg.Start > 32*ChunkSamples {
				t.Fatalf("%d samples: %s", len(x), describe(all))
			}
			if !slices.Equal(seg.Samples, x[seg.Start:seg.End]) {
				t.Fatalf("segment %d…%d has other samples", seg.Start, seg.End)
			}
			end = seg.End
		}
	}
}

func same(a, b []Segment) bool {
	return slices.EqualFunc(a, b, func(a, b Segment) bool { return a.Start == b.Start && a.End == b.End })
}

func describe(all []Segment) (s string) {
	for _, seg := range all {
		s += fmt.Sprintf(" %d…%d", seg.Start, seg.End)
	}
	return s
}

func TestSegmenterEvents(t *testing.T) {
	s := NewSegmenter(loudness{}, inChunks)
	if _, ok := s.Open(); ok {
		t.Error("a segment is open before anything was said")
	}
	begun := s.Feed(signal("0000099"))
	if len(begun) != 1 || begun[0].Ended || begun[0].Start != 2*ChunkSamples || begun[0].End != 7*ChunkSamples {
		t.Errorf("after two chunks of speech: %+v", begun)
	}
	s.Feed(signal("9000"))
	open, ok := s.Open()
	if !ok || open.Start != 2*ChunkSamples || open.End != 11*ChunkSamples || open.Spoken != 8*ChunkSamples {
		t.Errorf("open: %d…%d, spoken to %d, %v", open.Start, open.End, open.Spoken, ok)
	}
	if len(open.Samples) != open.End-open.Start {
		t.Errorf("open: %d samples", len(open.Samples))
	}
	ended := s.Feed(signal("0"))
	if len(ended) != 1 || !ended[0].Ended || ended[0].End != 10*ChunkSamples {
		t.Errorf("after four chunks of silence: %+v", ended)
	}
}

// TestSegmenterMemory feeds hours of silence, of speech, and of what is neither: above
// the end threshold, after too little or enough speech.
func TestSegmenterMemory(t *testing.T) {
	for _, c := range []struct{ first, then string }{{"", "0"}, {"", "9"}, {"9", "4"}, {"999", "4"}} {
		s := NewSegmenter(loudness{}, inChunks)
		s.Feed(signal(c.first))
		block := signal(strings.Repeat(c.then, 8))
		for range 3600 * audio.SampleRate / len(block) {
			s.Feed(block)
		}
		if got := cap(s.buf); got > 200*ChunkSamples {
			t.Errorf("%s, then %s: %d samples are held", c.first, c.then, got)
		}
	}
}
