package vad

import (
	"math"
	"testing"
)

func TestTelephoneBand(t *testing.T) {
	for name, c := range map[string]struct {
		x               []float32
		level, flatness float64
		within          float64
	}{
		"white noise": {whiteNoise(ChunkSamples, -30), -30 + 10*math.Log10(3375./8000), 0.84, 0.1}, // of 8000 Hz
		"tone":        {sine(ChunkSamples, 1000), 10 * math.Log10(0.1*0.1/2), 0, 0.01},
		"zeros":       {make([]float32, ChunkSamples), 10 * math.Log10(1e-15*3375), 1, 1e-9},
	} {
		t.Run(name, func(t *testing.T) {
			level, flatness := telephoneBand(c.x)
			if math.Abs(level-c.level) > 0.5 || math.Abs(flatness-c.flatness) > c.within {
				t.Errorf("level %.1f dB, flatness %.3f, want %.1f dB, %.3f", level, flatness, c.level, c.flatness)
			}
		})
	}
}

func TestTone(t *testing.T) {
	quiet := whiteNoise(ChunkSamples, -40)
	for name, c := range map[string]struct {
		hz    float64
		extra []float32
		want  bool
	}{
		"low":            {100, nil, true},
		"high":           {7000, nil, true},
		"two":            {300, sine(ChunkSamples, 600), false},
		"in noise":       {300, quiet, false},
		"with an offset": {300, constant(0.5), false},
	} {
		t.Run(name, func(t *testing.T) {
			x := sine(ChunkSamples, c.hz)
			for i, v := range c.extra {
				x[i] += v
			}
			if got := isTone(x); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if isTone(make([]float32, ChunkSamples)) {
		t.Error("zeros are a tone")
	}
}

func constant(v float32) []float32 {
	x := make([]float32, ChunkSamples)
	for i := range x {
		x[i] = v
	}
	return x
}
