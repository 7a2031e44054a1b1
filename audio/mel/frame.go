package mel

import "math"

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

// load puts frame t, weighted by the Hann window, in e.samples.
func (e *Extractor) load(w waveform, t int) {
	start := t*Hop - reach
	if at := start - w.first; start >= 0 && at+window <= len(w.samples) && start+window <= w.total {
		for i, x := range w.samples[at:][:window] {
			e.samples[i] = float64(x) * e.hann[i]
		}
		return
	}
	for i := range e.samples {
		e.samples[i] = float64(w.at(start+i)) * e.hann[i]
	}
}

// appendFrame appends frame t of a waveform as unclamped log-mel, [M]: with X the
// discrete Fourier transform of the weighted samples and f the filter bank,
//
//	y[b] = log10(max(Σ_k f[b][k]·|X[k]|², 1e-10))
func (e *Extractor) appendFrame(dst []float32, w waveform, t int) []float32 {
	e.load(w, t)
	e.fft.Coefficients(e.spectrum[:], e.samples[:])
	for k, x := range e.spectrum {
		e.power[k] = real(x)*real(x) + imag(x)*imag(x)
	}
	for _, b := range e.bands {
		dst = append(dst, logPower(b.dot(&e.power)))
	}
	return dst
}

// logPower is the logarithm with its floor. NaN and +Inf get the floor too.
func logPower(p float64) float32 {
	if !(p > powerFloor && p <= math.MaxFloat64) {
		return silence
	}
	return float32(math.Log10(p))
}

// hann is the periodic Hann window, sin²(πi/400).
func hann() [window]float64 {
	var h [window]float64
	for i := range h {
		s := math.Sin(math.Pi * float64(i) / window)
		h[i] = s * s
	}
	return h
}
