package mel

import (
	"math"

	"earshot/audio"
)

// nyquist is the highest frequency, in Hz.
const nyquist = audio.SampleRate / 2

// band is one filter of the bank: a triangle over the spectrum, of which only the
// bins that are not zero are kept.
type band struct {
	first   int // bin of weights[0]
	weights []float64
}

// dot is the power that the filter lets through.
func (b band) dot(power *[bins]float64) float64 {
	sum := 0.0
	for i, p := range power[b.first:][:len(b.weights)] {
		sum += b.weights[i] * p
	}
	return sum
}

// filterBank computes the mel filter bank that Whisper was trained with: M
// triangles from 0 to 8000 Hz whose corners are equally spaced on Slaney's mel
// scale, each of area 1 over frequency (librosa.filters.mel with its defaults,
// from which the reference implementation's mel_filters.npz was made).
func filterBank(bands int) []band {
	corner := make([]float64, bands+2)
	for i := range corner {
		corner[i] = hertz(nyquistMels * float64(i) / float64(bands+1))
	}
	bank := make([]band, bands)
	for b := range bank {
		low, peak, high := corner[b], corner[b+1], corner[b+2]
		for k := range bins {
			f := float64(k) * nyquist / (bins - 1)
			w := min((f-low)/(peak-low), (high-f)/(high-peak))
			if w <= 0 {
				continue
			}
			if bank[b].weights == nil {
				bank[b].first = k
			}
			bank[b].weights = append(bank[b].weights, w*2/(high-low))
		}
	}
	return bank
}

// Slaney's mel scale (Auditory Toolbox, 1998): linear with 200/3 Hz per mel up to
// 1000 Hz, above that 27 mels for every factor of 6.4.
const (
	melHertz  = 200.0 / 3
	knee      = 1000.0
	kneeMels  = knee / melHertz
	stepMels  = 27
	stepRatio = 6.4
)

// nyquistMels is 8000 Hz in mels, the end of the scale.
var nyquistMels = kneeMels + stepMels*math.Log(nyquist/knee)/math.Log(stepRatio)

// hertz converts mels to Hz.
func hertz(m float64) float64 {
	if m < kneeMels {
		return m * melHertz
	}
	return knee * math.Pow(stepRatio, (m-kneeMels)/stepMels)
}
