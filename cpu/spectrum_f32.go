package cpu

import (
	"fmt"
	"math"
)

// Spectrum is a windowed Fourier transform of N real values. It is not changed after
// [NewSpectrum] and may be shared.
type Spectrum struct {
	window []float64    // [N] weights, halved
	turns  [][2]float64 // [N] real and imaginary part of e^(−2πi·k/N)
}

// mostSpectrum is the largest N: the buffers of the C kernel are on its stack.
const mostSpectrum = 512

// NewSpectrum makes the transform of windows with these weights. N = len(window) is
// even, at most 512, and N/2 is a product of twos and fives.
func NewSpectrum(window []float64) *Spectrum {
	n := len(window)
	rest := n / 2
	for _, factor := range []int{2, 5} {
		for rest > 1 && rest%factor == 0 {
			rest /= factor
		}
	}
	if n%2 != 0 || n > mostSpectrum || rest != 1 {
		panic(fmt.Sprintf("BUG: spectrum of %d values", n))
	}
	s := &Spectrum{window: make([]float64, n), turns: make([][2]float64, n)}
	for k, w := range window {
		s.window[k] = w / 2
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		s.turns[k] = [2]float64{cos, -sin}
	}
	return s
}

// PowerF32 computes the power spectra of m rows of N values, which may overlap, lda
// values from row to row:
//
//	dst[i*ldd+k] = |Σ_{j<N} window[j]·x[i*lda+j]·e^(−2πi·jk/N)|²   for i < m, k <= N/2
//
// The sums are float64. A row's result is the same to the last bit whatever m is. dst
// must not overlap x. It runs on the calling thread.
func (s *Spectrum) PowerF32(dst []float32, ldd int, x []float32, lda, m int) {
	n := len(s.window)
	switch bins := n/2 + 1; {
	case m == 0:
		return
	case m < 0 || lda < 0 || m > 1 && ldd < bins:
		panic(fmt.Sprintf("BUG: %d spectra of %d bins, ldd %d, lda %d", m, bins, ldd, lda))
	case len(dst) < (m-1)*ldd+bins || len(x) < (m-1)*lda+n:
		panic(fmt.Sprintf("BUG: %d spectra of %d bins (ldd %d, lda %d) from %d into %d values", m, bins, ldd, lda, len(x), len(dst)))
	}
	active.powerSpectraF32(dst, ldd, x, lda, m, s)
}
