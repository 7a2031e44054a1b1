package mel

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mjibson/go-dsp/fft"
)

func newExtractor(t testing.TB, bands int) *Extractor {
	t.Helper()
	e, err := New(bands)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// noise is white noise at about −11 dBFS.
func noise(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.Float64() - 0.5)
	}
	return x
}

// largestDifference is the largest |got − want|; NaN counts as infinite.
func largestDifference(t *testing.T, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst = max(worst, d)
	}
	return worst
}

func TestNewRefuses(t *testing.T) {
	for _, bands := range []int{-1, 0, 1, 79, 81, 129} {
		if _, err := New(bands); err == nil {
			t.Errorf("%d bands: no error", bands)
		}
	}
}

// TestGolden compares with what faster-whisper computes, before and behind the end
// of the sound.
func TestGolden(t *testing.T) {
	samples := readWAV(t, sharedFile(t, "audio/jfk/jfk.wav"))
	e := newExtractor(t, 80)
	for _, frames := range []int{1100, 3000} {
		got := e.LogMel(samples, 3000)
		name, limit := "golden/mel-jfk-80x3000.f16.npy", 1e-3
		if frames == 1100 {
			// The float32 file holds the head of the 30 s window.
			name, limit = "golden/mel-jfk-80x1100.npy", 1e-4
			got = head(got, 3000, frames)
		}
		want := readNPY(t, sharedFile(t, name), 80, frames)
		worst := largestDifference(t, got, want)
		t.Logf("%s: largest difference %.2g", name, worst)
		if worst > limit {
			t.Errorf("%s: largest difference %g, want at most %g", name, worst, limit)
		}
	}
}

// head cuts every row of have values to its first n.
func head(x []float32, have, n int) []float32 {
	var out []float32
	for row := range slices.Chunk(x, have) {
		out = append(out, row[:n]...)
	}
	return out
}

// TestReference compares with the definition: a dense filter bank, another
// transform, padding by plain indices.
func TestReference(t *testing.T) {
	for _, bands := range []int{80, 128} {
		for _, n := range []int{160, 400, 1000, 16000} {
			t.Run(fmt.Sprintf("%d bands, %d samples", bands, n), func(t *testing.T) {
				x := noise(n)
				frames := Frames(n)
				got := newExtractor(t, bands).LogMel(x, frames)
				if worst := largestDifference(t, got, reference(x, frames, bands)); worst > 2e-6 {
					t.Errorf("largest difference %g", worst)
				}
			})
		}
	}
}

// TestQuietBands has bands that lie up to 80 dB below a tone in the same frame, and
// frames that lie as far below others. With a transform in float32 it is off by 3e-5.
func TestQuietBands(t *testing.T) {
	x := noise(16000)
	for i := range x {
		x[i] *= 5e-5
		if i < 8000 {
			x[i] += float32(0.9 * math.Sin(2*math.Pi*450/16000*float64(i)))
		}
	}
	for _, bands := range []int{80, 128} {
		got, want := newExtractor(t, bands).LogMel(x, 100), reference(x, 100, bands)
		if worst := largestDifference(t, got, want); worst > 2e-6 {
			t.Errorf("%d bands: largest difference %g", bands, worst)
		}
		if quiet := head(want, 100, 45); slices.Max(want)-slices.Min(quiet) < 1.8 {
			t.Errorf("%d bands: values from %g to %g, want 72 dB between them", bands, slices.Min(quiet), slices.Max(want))
		}
	}
}

// reference computes LogMel by the book.
func reference(samples []float32, frames, bands int) []float32 {
	wave := make([]float64, frames*160)
	for i := range min(len(samples), len(wave)) {
		wave[i] = float64(samples[i])
	}
	bank := denseFilterBank(bands)
	logMel := make([]float64, bands*frames)
	loudest := math.Inf(-1)
	for t := range frames {
		frame := make([]float64, 400)
		for i := range frame {
			hann := 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/400)
			frame[i] = hann * reflected(wave, t*160-200+i)
		}
		spectrum := fft.FFTReal(frame)
		for b := range bands {
			power := 0.0
			for k := range 201 {
				power += bank[b][k] * math.Pow(cmplx.Abs(spectrum[k]), 2)
			}
			y := math.Log10(max(power, 1e-10))
			logMel[b*frames+t] = y
			loudest = max(loudest, y)
		}
	}
	out := make([]float32, len(logMel))
	for i, y := range logMel {
		out[i] = float32((max(y, loudest-8) + 4) / 4)
	}
	return out
}

// reflected is x[i], with x continued to both sides with period 2(n−1).
func reflected(x []float64, i int) float64 {
	period := 2 * (len(x) - 1)
	i = ((i % period) + period) % period
	return x[min(i, period-i)]
}

// denseFilterBank is [bands][201], by Slaney's formulas for every bin.
func denseFilterBank(bands int) [][]float64 {
	toHertz := func(mel float64) float64 {
		if mel < 15 {
			return 200 * mel / 3
		}
		return 1000 * math.Exp(math.Log(6.4)/27*(mel-15))
	}
	top := 15 + 27*math.Log(8)/math.Log(6.4)
	bank := make([][]float64, bands)
	for b := range bank {
		low := toHertz(top * float64(b) / float64(bands+1))
		peak := toHertz(top * float64(b+1) / float64(bands+1))
		high := toHertz(top * float64(b+2) / float64(bands+1))
		bank[b] = make([]float64, 201)
		for k := range bank[b] {
			f := 40 * float64(k)
			bank[b][k] = 2 / (high - low) * max(0, min((f-low)/(peak-low), (high-f)/(high-peak)))
		}
	}
	return bank
}

// TestFilterBank checks what can be said of the bank without computing it again.
func TestFilterBank(t *testing.T) {
	for _, bands := range []int{80, 128} {
		total := make([]float64, bins)
		for b, f := range filterBank(bands) {
			if len(f.weights) == 0 {
				t.Errorf("%d bands: band %d lets nothing through", bands, b)
			}
			for i, w := range f.weights {
				total[f.first+i] += w
			}
		}
		if total[0] != 0 || total[bins-1] > 1e-9 {
			t.Errorf("%d bands: 0 Hz has %g, 8000 Hz %g", bands, total[0], total[bins-1])
		}
		// Neighbouring triangles of equal area add up to the inverse of their distance.
		if got, want := total[12], float64(bands+1)/(nyquistMels*melHertz); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d bands: weights at 480 Hz add up to %g, want %g", bands, got, want)
		}
	}
}

// TestAnyLength is case C24 (ggml-org/whisper.cpp#3925): buffers shorter than the
// reflected part.
func TestAnyLength(t *testing.T) {
	e := newExtractor(t, 80)
	for n, frames := range map[int]int{
		0: 0, 1: 1, 159: 1, 160: 1, 161: 2, 199: 2, 200: 2, 201: 2, 399: 3, 400: 3,
	} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i+1) / 32768
		}
		if got := Frames(n); got != frames {
			t.Errorf("%d samples: %d frames, want %d", n, got, frames)
		}
		for _, T := range []int{0, 1, frames, frames + 5} {
			got := e.LogMel(x, T)
			if len(got) != 80*T {
				t.Errorf("%d samples in %d frames: %d values", n, T, len(got))
			}
			if T > 0 && largestDifference(t, got, reference(x, T, 80)) > 1e-5 {
				t.Errorf("%d samples in %d frames: differs from the reference", n, T)
			}
		}
	}
}

func TestSilence(t *testing.T) {
	e := newExtractor(t, 80)
	for _, samples := range [][]float32{nil, make([]float32, 5000)} {
		for i, y := range e.LogMel(samples, 50) {
			if y != -1.5 {
				t.Fatalf("%d zeros: value %d is %g, want -1.5", len(samples), i, y)
			}
		}
	}
}

// TestZeroTail checks that frames which are not computed because they see only
// zeros are what computing them gives.
func TestZeroTail(t *testing.T) {
	e := newExtractor(t, 80)
	for n := 300; n < 700; n += 13 {
		x := noise(n)
		padded := append(slices.Clone(x), make([]float32, 1600-n)...)
		if !slices.Equal(e.LogMel(x, 10), e.LogMel(padded, 10)) {
			t.Errorf("%d samples: zeros behind them change the result", n)
		}
	}
}

func TestBrokenSamples(t *testing.T) {
	e := newExtractor(t, 80)
	x := noise(4000)
	x[100], x[2000] = float32(math.NaN()), float32(math.Inf(-1))
	x[3000], x[3001] = math.MaxFloat32, -math.MaxFloat32
	for i, y := range e.LogMel(x, 30) {
		if math.IsNaN(float64(y)) || math.IsInf(float64(y), 0) {
			t.Fatalf("value %d is %g", i, y)
		}
	}
}

func BenchmarkLogMel(b *testing.B) {
	for _, bands := range []int{80, 128} {
		b.Run(fmt.Sprintf("%d bands, 30 s", bands), func(b *testing.B) {
			e, x := newExtractor(b, bands), noise(480000)
			for b.Loop() {
				e.LogMel(x, 3000)
			}
		})
	}
}
