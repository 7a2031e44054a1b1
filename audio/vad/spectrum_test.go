package vad

import (
	"math"
	"testing"

	"github.com/mjibson/go-dsp/spectral"
	"github.com/mjibson/go-dsp/window"

	"earshot/audio"
)

// TestDensity compares with go-dsp's estimate by Welch's method.
func TestDensity(t *testing.T) {
	var a analyser
	for _, x := range [][]float32{whiteNoise(ChunkSamples, -30), whiteNoise(ChunkSamples, -90), sine(ChunkSamples, 1000)} {
		wide := make([]float64, len(x))
		for i, v := range x {
			wide[i] = float64(v)
		}
		want, _ := spectral.Pwelch(wide, audio.SampleRate, &spectral.PwelchOptions{NFFT: 256, Noverlap: 128, Window: window.Hann})
		a.telephoneBand(x)
		for k := 1; k < welchBins-1; k++ {
			got := float64(a.spectra[k]) + float64(a.spectra[welchBins+k]) + float64(a.spectra[2*welchBins+k])
			if math.Abs(got-want[k]) > 1e-6*want[k] {
				t.Fatalf("density at %g Hz is %g, want %g", 62.5*float64(k), got, want[k])
			}
		}
	}
}

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
			level, flatness := new(analyser).telephoneBand(c.x)
			if math.Abs(level-c.level) > 0.5 || math.Abs(flatness-c.flatness) > c.within {
				t.Errorf("level %.1f dB, flatness %.3f, want %.1f dB, %.3f", level, flatness, c.level, c.flatness)
			}
		})
	}
}

// tonal says whether a chunk is silenced as a tone.
func tonal(chunk []float32) bool {
	probs := []float32{1}
	new(analyser).silenceTones(probs, chunk)
	return probs[0] == 0
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
			if got := tonal(x); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if tonal(make([]float32, ChunkSamples)) {
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
