package capture

import (
	"math"
	"sync/atomic"

	"earshot/audio"
)

// highPass is a Butterworth high-pass of second order, which also removes a constant
// offset: with K = tan(π·f/rate),
//
//	H(z) = b0·(1 - 2z⁻¹ + z⁻²) / (1 + a1·z⁻¹ + a2·z⁻²),
//	b0 = 1/(1 + √2·K + K²), a1 = 2·b0·(K² - 1), a2 = b0·(1 - √2·K + K²)
//
// (bilinear transform). In transposed direct form II, in float64: at 60 Hz the poles
// lie so near 1 that float32 would add noise. At 60 Hz it takes 3 dB, at 100 Hz 0.5 dB.
type highPass struct {
	b0, a1, a2, z1, z2 float64
	started            bool
}

const highPassHz = 60

func newHighPass() *highPass {
	k := math.Tan(math.Pi * highPassHz / audio.SampleRate)
	b0 := 1 / (1 + math.Sqrt2*k + k*k)
	return &highPass{b0: b0, a1: 2 * b0 * (k*k - 1), a2: b0 * (1 - math.Sqrt2*k + k*k)}
}

func (f *highPass) apply(samples []float32) {
	if !f.started && len(samples) > 0 {
		// As if the first sample had been there for ever: an offset makes no click.
		x := float64(samples[0])
		f.z1, f.z2, f.started = -f.b0*x, f.b0*x, true
	}
	for i, s := range samples {
		x := float64(s)
		y := f.b0*x + f.z1
		f.z1 = -2*f.b0*x - f.a1*y + f.z2
		f.z2 = f.b0*x - f.a2*y
		samples[i] = float32(max(-1, min(1, y)))
	}
}

// level measures the RMS of frames of 20 ms.
type level struct {
	sum  float64
	n    int
	last atomic.Uint64 // mean square of the last whole frame, bits of a float64
}

func (l *level) add(samples []float32) {
	for _, s := range samples {
		l.sum += float64(s) * float64(s)
		if l.n++; l.n == chunk {
			l.last.Store(math.Float64bits(l.sum / chunk))
			l.sum, l.n = 0, 0
		}
	}
}

// Quietest is the level of silence, in dBFS, where a number is needed: half a step of
// 16 bits is at -101.
const Quietest = -120.0

func (l *level) db() float64 { return decibels(math.Float64frombits(l.last.Load())) }

// decibels is a mean square in dB against full scale, no less than Quietest.
func decibels(square float64) float64 {
	return max(Quietest, 10*math.Log10(max(square, 1e-30)))
}
