package vad

import (
	"testing"

	"earshot/audio"
)

// steady says the same of every chunk but the first ones, which are silence.
type steady struct{ chunks int }

func (s *steady) Reset() { s.chunks = 0 }

func (s *steady) Probability([]float32) float32 {
	if s.chunks++; s.chunks <= leadInChunks {
		return 0
	}
	return 0.9
}

// TestBackground: what is quieter than the speaker by BackgroundDB, in noise that the
// detector takes for speech, is a pause from its first moment on.
func TestBackground(t *testing.T) {
	const second = audio.SampleRate
	o := LiveOptions()
	for name, c := range map[string]struct {
		voiceDB, behindDB float64
		pause             int // samples
		segments          int
	}{
		"OK":          {-20, -32, second, 2},
		"short":       {-20, -32, second / 2, 1},
		"not so low":  {-20, -28, second, 1},
		"far speaker": {-45, -57, second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			x := whiteNoise(4*second, c.voiceDB)
			x = append(x, whiteNoise(c.pause, c.behindDB)...)
			x = append(x, whiteNoise(4*second, c.voiceDB)...)
			all := segments(NewSegmenter(&steady{}, o), x, ChunkSamples)
			if len(all) != c.segments {
				t.Fatalf("%d segments, want %d", len(all), c.segments)
			}
			if off := all[0].Spoken - 4*second; c.segments > 1 && (off < -ChunkSamples || off > 2*ChunkSamples) {
				t.Errorf("the pause begins %d samples off", off)
			}
		})
	}
}
