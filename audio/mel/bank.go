package mel

import (
	"math"
	"slices"

	"earshot/audio"
	"earshot/cpu"
)

// nyquist is the highest frequency, in Hz.
const nyquist = audio.SampleRate / 2

// band is one filter of the bank: a triangle over the spectrum, of which only the
// bins that are not zero are kept.
type band struct {
	first   int // bin of weights[0]
	weights []float64
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

// groupBands are multiplied at once: one panel of a PackedF32. Both numbers of bands
// are multiples of it.
const groupBands = 16

// group is groupBands neighbouring filters as a matrix over the bins that they reach:
// a sixth of the products that the whole bank as one matrix takes.
type group struct {
	first, bins int
	weights     *cpu.PackedF32 // [groupBands, bins]
}

// groups are the bank in groups.
func groups(bank []band) []group {
	var all []group
	for some := range slices.Chunk(bank, groupBands) {
		last := some[groupBands-1]
		g := group{first: some[0].first, bins: last.first + len(last.weights) - some[0].first}
		dense := make([]float32, groupBands*g.bins)
		for i, b := range some {
			for k, w := range b.weights {
				dense[i*g.bins+b.first-g.first+k] = float32(w)
			}
		}
		g.weights = cpu.PackF32(dense, groupBands, g.bins, g.bins, 1)
		all = append(all, g)
	}
	return all
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
