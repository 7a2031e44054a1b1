package vad

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"earshot/audio"
)

// TestSileroGolden compares with the Python package, whose values come from
// testdata/silero.py.
func TestSileroGolden(t *testing.T) {
	s := realSilero(t)
	data, err := os.ReadFile("testdata/silero.json")
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string][]float32{}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	for clip, want := range golden {
		t.Run(clip, func(t *testing.T) {
			s.Reset()
			got := probabilities(s, readTwice(t, clip))
			if len(got) != len(want) {
				t.Fatalf("%d probabilities, want %d", len(got), len(want))
			}
			var worst float64
			for i, p := range got {
				worst = max(worst, math.Abs(float64(p-want[i])))
			}
			t.Logf("worst difference of %d chunks: %.1e", len(got), worst)
			if worst > 1e-4 || len(got) == 0 {
				t.Errorf("probabilities differ by %g, want 1e-4 at most", worst)
			}
		})
	}
}

// readTwice reads a clip; one at 8 kHz has every sample twice.
func readTwice(t *testing.T, clip string) []float32 {
	x, rate := readNative(t, clip)
	if 2*rate != audio.SampleRate {
		return x
	}
	var out []float32
	for _, v := range x {
		out = append(out, v, v)
	}
	return out
}

// probabilities judges all of x, with zeros behind it up to a whole chunk.
func probabilities(d Detector, x []float32) []float32 {
	var out []float32
	x = append(slices.Clone(x), make([]float32, (ChunkSamples-len(x)%ChunkSamples)%ChunkSamples)...)
	for chunk := range slices.Chunk(x, ChunkSamples) {
		out = append(out, d.Probability(chunk))
	}
	return out
}

// randomSilero has weights of no meaning but for the transform, the same ones on every
// call.
func randomSilero(t testing.TB) (*Silero, map[string][]float32) {
	r := rand.New(rand.NewPCG(1, 2))
	all := map[string][]float32{}
	s, err := NewSilero(func(name string, shape ...int) ([]float32, error) {
		size := 1
		for _, n := range shape {
			size *= n
		}
		values := make([]float32, size)
		for i := range values {
			values[i] = float32(r.NormFloat64() * math.Sqrt(float64(shape[0])/float64(size)))
			if name == "stft_conv.weight" {
				bin, at := i/256, float64(i%256)
				phase := 2 * math.Pi * float64(bin%129) * at / 256
				values[i] = float32(math.Pow(math.Sin(math.Pi*at/256), 2) * math.Cos(phase+math.Pi/2*float64(bin/129)))
			}
		}
		all[name] = values
		return values, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, all
}

func TestNewSileroErrors(t *testing.T) {
	missing := errors.New("no such tensor")
	for name, c := range map[string]struct {
		tensors func(string, ...int) ([]float32, error)
		want    string
	}{
		"missing": {func(string, ...int) ([]float32, error) { return nil, missing }, "load silero: no such tensor"},
		"another transform": {func(_ string, shape ...int) ([]float32, error) {
			return make([]float32, 258*256)[:min(258*256, shape[0]*256)], nil
		}, "load silero: tensor stft_conv.weight is no transform of Hann windows: value 1 is 0, want 0.00015059"},
		"short": {func(string, ...int) ([]float32, error) { return nil, nil }, "load silero: tensor stft_conv.weight has 0 values, want 66048"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewSilero(c.tensors)
			if err == nil || s != nil || err.Error() != c.want {
				t.Errorf("got %v, %v, want %q", s, err, c.want)
			}
		})
	}
}

func BenchmarkSilero(b *testing.B) {
	s, _ := randomSilero(b)
	chunk := make([]float32, ChunkSamples)
	for i := range chunk {
		chunk[i] = rand.Float32()
	}
	for b.Loop() {
		s.Probability(chunk)
	}
	b.ReportMetric(ChunkSamples/float64(audio.SampleRate)*float64(b.N)/b.Elapsed().Seconds(), "×real-time")
}

// BenchmarkSpeech is all that a recording goes through.
func BenchmarkSpeech(b *testing.B) {
	d := NewGate(realSilero(b))
	x := read(b, "jfk/jfk.wav")
	for b.Loop() {
		for range Speech(&samples{x, io.EOF}, d, FileOptions()) {
		}
	}
	b.ReportMetric(float64(len(x))/audio.SampleRate*float64(b.N)/b.Elapsed().Seconds(), "×real-time")
}
