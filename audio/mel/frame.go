package mel

import (
	"math"
	"slices"

	"earshot/cpu"
)

// waveform is the part at hand of a waveform that is total samples long: sample i
// of the waveform is samples[i−first], and zero where samples has ended.
type waveform struct {
	samples []float32
	first   int
	total   int
}

// endless is the total of a waveform whose end has not come yet.
const endless = math.MaxInt / 4

// at returns sample i. Beyond the ends the waveform is reflected, without
// repeating the sample at the end, as often as it takes (numpy.pad, mode
// "reflect"): a short waveform goes back and forth.
func (w waveform) at(i int) float32 {
	for i < 0 || i >= w.total {
		if i < 0 {
			i = -i
		}
		if i >= w.total {
			i = 2*(w.total-1) - i
		}
	}
	if i -= w.first; i < len(w.samples) {
		return w.samples[i]
	}
	return 0
}

// whole is how many frames from t on see only samples at hand.
func (w waveform) whole(t int) int {
	start := t*Hop - reach
	end := min(w.total, w.first+len(w.samples))
	if start < max(0, w.first) || end < start+window {
		return 0
	}
	return (end-start-window)/Hop + 1
}

// blockFrames are computed at once: enough for whole tiles of the kernels, and their
// spectra (26 KB) stay in the cache.
const blockFrames = 32

// appendFrames appends frames from to to−1 of a waveform as unclamped log-mel,
// [frames, M]. A frame's values do not depend on the frames beside it.
func (e *Extractor) appendFrames(dst []float32, w waveform, from, to int) []float32 {
	for t := from; t < to; {
		n := min(to-t, w.whole(t), blockFrames)
		if n > 0 {
			dst = e.appendLogMel(dst, w.samples[t*Hop-reach-w.first:], n)
		} else {
			n = 1
			for i := range e.samples {
				e.samples[i] = w.at(t*Hop - reach + i)
			}
			dst = e.appendLogMel(dst, e.samples[:], n)
		}
		t += n
	}
	return dst
}

// appendLogMel appends n frames whose samples begin at x, Hop apart. With X the
// discrete Fourier transform of the samples weighted by the Hann window, and f the
// filter bank,
//
//	y[b] = log10(max(Σ_k f[b][k]·|X[k]|², 1e-10))
//
// where what is not finite counts as 1e-10.
func (e *Extractor) appendLogMel(dst, x []float32, n int) []float32 {
	had := len(dst)
	dst = slices.Grow(dst, n*e.bands)[:had+n*e.bands]
	out := dst[had:]
	e.spectrum.PowerF32(e.power[:], bins, x, Hop, n)
	for i, g := range e.groups {
		cpu.GemmF32(out[i*groupBands:], e.bands, e.power[g.first:], bins, n, g.weights, groupBands, g.bins, nil)
	}
	cpu.Log10F32(out, powerFloor)
	return dst
}

// hann is the periodic Hann window, sin²(πi/400).
func hann() []float64 {
	h := make([]float64, window)
	for i := range h {
		s := math.Sin(math.Pi * float64(i) / window)
		h[i] = s * s
	}
	return h
}
