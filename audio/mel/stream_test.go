package mel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// streamed sends samples through a Stream in pieces of random length and returns
// the unclamped frames.
func streamed(s *Stream, samples []float32, rng *rand.Rand, longest int) []float32 {
	var frames []float32
	for len(samples) > 0 {
		n := min(len(samples), rng.IntN(longest+1))
		frames = s.Write(frames, samples[:n])
		samples = samples[n:]
	}
	return s.Finish(frames)
}

// TestStreamEqualsWhole compares the two forms to the last bit, for lengths around
// every border and for pieces from single samples to all at once. The Stream is
// used again and again.
func TestStreamEqualsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, bands := range []int{80, 128} {
		e := newExtractor(t, bands)
		s := e.Stream()
		lengths := []int{0, 1, 2, 159, 160, 161, 199, 200, 201, 202, 319, 320, 321, 359, 360, 361, 399, 400, 401, 3199, 3200, 3201, 20000}
		for range 20 {
			lengths = append(lengths, rng.IntN(6000))
		}
		for _, n := range lengths {
			x := noise(n)
			want := e.LogMel(x, Frames(n))
			for _, longest := range []int{1, 50, 160, 1000, 100000} {
				logMel := streamed(s, x, rng, longest)
				if len(logMel) != Frames(n)*bands {
					t.Fatalf("%d samples in pieces of up to %d: %d values", n, longest, len(logMel))
				}
				if !slices.Equal(e.Normalise(logMel, Frames(n)), want) {
					t.Errorf("%d samples in pieces of up to %d: not equal to the whole form", n, longest)
				}
			}
		}
	}
}

// TestStreamIsPrompt checks that a frame comes with the sample that completes it.
func TestStreamIsPrompt(t *testing.T) {
	s := newExtractor(t, 80).Stream()
	for i, x := range noise(2000) {
		before := s.frames
		got := s.Write(nil, []float32{x})
		want := 0
		if i == 200 || i > 200 && (i+1-200)%160 == 0 {
			want = 1
		}
		if len(got) != want*80 || s.frames != before+want {
			t.Errorf("sample %d: %d values, want %d", i, len(got), want*80)
		}
	}
}

// TestStreamMemory sends ten minutes in one piece and in many.
func TestStreamMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	s := newExtractor(t, 80).Stream()
	x := make([]float32, 16000*60)
	dst := make([]float32, 0, 7000*80)
	held := cap(s.buf)
	for range 3 {
		dst = s.Write(dst[:0], x)
	}
	if cap(s.buf) != held {
		t.Errorf("buffer of %d samples, %d at the start", cap(s.buf), held)
	}
	if n := testing.AllocsPerRun(10, func() { dst = s.Write(dst[:0], x[:16000]) }); n != 0 {
		t.Errorf("%v allocations per second of sound", n)
	}
}

func TestNormaliseLengths(t *testing.T) {
	e := newExtractor(t, 80)
	logMel := make([]float32, 2*80)
	for i := range logMel {
		logMel[i] = float32(i / 80) // frame 0 is 0, frame 1 is 1
	}
	tests := []struct {
		name   string
		frames int
		want   []float32 // of every band
	}{
		{"OK", 2, []float32{1, 1.25}},
		{"frames missing", 4, []float32{1, 1.25, -0.75, -0.75}},
		{"frames too many", 1, []float32{1}},
		{"none", 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := e.Normalise(logMel, tt.frames)
			if want := slices.Repeat(tt.want, 80); !slices.Equal(got, want) {
				t.Errorf("%v…, want %v…", got[:min(4, len(got))], want[:min(4, len(want))])
			}
		})
	}
}
