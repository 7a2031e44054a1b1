package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// spectrumOf is row i of PowerF32 by its equation.
func spectrumOf(window []float64, x []float32) []float64 {
	n := len(window)
	power := make([]float64, n/2+1)
	for k := range power {
		var re, im float64
		for j, w := range window {
			sin, cos := math.Sincos(2 * math.Pi * float64(j*k%n) / float64(n))
			re += w * float64(x[j]) * cos
			im -= w * float64(x[j]) * sin
		}
		power[k] = re*re + im*im
	}
	return power
}

// TestSpectrum compares with the equation: every line to float32, and to the noise of
// double sums where a line is far below the loudest one.
func TestSpectrum(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(6, 7))
		for _, n := range []int{2, 4, 8, 10, 16, 20, 50, 80, 100, 256, 320, 400, 500, 512} {
			window := make([]float64, n)
			for i := range window {
				window[i] = r.NormFloat64()
			}
			x := make([]float32, n)
			for _, signal := range []string{"noise", "tone", "one sample"} {
				for i := range x {
					switch signal {
					case "noise":
						x[i] = float32(r.NormFloat64())
					case "tone": // of the first line, and nothing else
						x[i] = float32(math.Cos(2 * math.Pi * float64(i) / float64(n)))
						window[i] = 1
					case "one sample":
						x[i] = float32(i / (n - 1))
					}
				}
				got := make([]float32, n/2+1)
				NewSpectrum(window).PowerF32(got, 0, x, 0, 1)
				want := spectrumOf(window, x)
				loudest := math.Sqrt(slices.Max(want))
				for k, w := range want {
					w = math.Sqrt(w)
					if g := math.Sqrt(float64(got[k])); math.Abs(g-w) > 1e-7*w+1e-14*loudest {
						t.Errorf("%d values, %s: line %d has amplitude %g, want %g", n, signal, k, g, w)
					}
				}
			}
		}
	})
}

// TestSpectrumRows checks that any number of rows gives the bits of one row alone,
// and that nothing around them is touched.
func TestSpectrumRows(t *testing.T) {
	const n, bins, lda, ldd = 400, 201, 160, 210
	s := NewSpectrum(slices.Repeat([]float64{0.7, 0.3}, n/2))
	x := make([]float32, 20*lda+n)
	normals(rand.New(rand.NewPCG(8, 9)), x, 1)
	x[5*lda+n/2] = nan // reaches rows 4 to 6 and no other
	eachTier(t, func(t *testing.T) {
		want := make([]float32, 20*ldd)
		for i := range want {
			want[i] = poison
		}
		for i := range 20 {
			s.PowerF32(want[i*ldd:], 0, x[i*lda:][:n], 0, 1)
		}
		for m := range 20 {
			got := make([]float32, 20*ldd)
			for i := range got {
				got[i] = poison
			}
			s.PowerF32(got, ldd, x, lda, m)
			compare(t, fmt.Sprintf("%d rows", m), got[:m*ldd], want[:m*ldd], 0)
			for _, v := range got[m*ldd:] {
				if v != poison {
					t.Fatalf("%d rows: wrote behind them", m)
				}
			}
		}
	})
}

func TestSpectrumTwin(t *testing.T) {
	window := make([]float64, 400)
	for i := range window {
		window[i] = math.Pow(math.Sin(math.Pi*float64(i)/400), 2)
	}
	s, x := NewSpectrum(window), make([]float32, 400)
	normals(rand.New(rand.NewPCG(8, 10)), x, 1)
	want := make([]float32, 201)
	withGeneric(func() { s.PowerF32(want, 0, x, 0, 1) })
	eachTier(t, func(t *testing.T) {
		got := make([]float32, 201)
		s.PowerF32(got, 0, x, 0, 1)
		for k := range got {
			if d := math.Abs(float64(got[k] - want[k])); d > 1e-7*float64(want[k]) {
				t.Errorf("line %d is %g, want %g", k, got[k], want[k])
			}
		}
	})
}

func TestSpectrumLengths(t *testing.T) {
	for _, n := range []int{0, 1, 3, 5, 6, 12, 25, 402, 640} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d values: no panic", n)
				}
			}()
			NewSpectrum(make([]float64, n))
		}()
	}
}

func BenchmarkSpectrum(b *testing.B) {
	for _, k := range tiers {
		for _, n := range []int{256, 400, 512} {
			for _, m := range []int{1, 64} {
				b.Run(fmt.Sprintf("%s/%d/rows=%d", k.name, n, m), func(b *testing.B) {
					use(b, k)
					s := NewSpectrum(slices.Repeat([]float64{1}, n))
					x, dst := make([]float32, 160*m+n), make([]float32, m*(n/2+1))
					for b.Loop() {
						s.PowerF32(dst, n/2+1, x, 160, m)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*m), "ns/row")
				})
			}
		}
	}
}
