package resample

import (
	"math"

	"earshot/audio"
)

// The filter's design. Kaiser's formulas give window shape and length from the
// attenuation; 4 dB over what is promised leave room for the interpolation between phases.
const (
	passEdge    = 0.9  // of the smaller Nyquist frequency
	attenuation = 84.0 // dB
	maxPhases   = 640  // 11025 Hz; rates that need more phases get them by interpolation
	// interpolated is how many phases are tabulated per lobe of the filter's sinc for
	// such rates. Linear interpolation is off by at most (π/interpolated)²/8 of the
	// peak: -94 dB at 256.
	interpolated = 256
)

// bank is the filter, tabulated at fractions of an input frame. Phase p holds the
// weights of the frames around an output sample that stands p/phases of a frame
// behind frame 0: frames -before … after.
type bank struct {
	den           int // output positions are multiples of 1/den frame
	phases        int // equal to den, or tabulated with one more for interpolation
	before, after int
	weights       []float32 // [phases (+1)][before+after+1]
}

func (b *bank) taps() int { return b.before + b.after + 1 }

// newBank designs the filter for a rate whose output positions are multiples of
// 1/den input frame.
func newBank(rate, den int) bank {
	nyquist := float64(min(rate, audio.SampleRate)) / 2 / float64(rate) // cycles per input frame
	cutoff := nyquist * (1 + passEdge) / 2
	width := nyquist * (1 - passEdge)
	half := (attenuation - 7.95) / (2.285 * 2 * math.Pi * width) / 2 // Kaiser 1974, eq. 6

	reach := int(math.Ceil(half))
	b := bank{den: den, phases: den, before: reach - 1, after: reach}
	rows := den
	if den > maxPhases {
		b.phases = int(math.Ceil(interpolated * 2 * cutoff))
		rows = b.phases + 1
	}
	b.weights = make([]float32, 0, rows*b.taps())
	for p := range rows {
		b.weights = append(b.weights, b.phase(float64(p)/float64(b.phases), cutoff, half)...)
	}
	return b
}

// phase returns the weights of frames -before … after for an output sample that
// stands at frame d, 0 ≤ d ≤ 1. They add up to exactly 1, so that a constant stays
// the same constant in all phases.
func (b *bank) phase(d, cutoff, half float64) []float32 {
	h := make([]float64, b.taps())
	sum := 0.0
	for i := range h {
		t := float64(i-b.before) - d
		h[i] = sinc(2*cutoff*t) * kaiser(t/half)
		sum += h[i]
	}
	weights := make([]float32, len(h))
	for i := range h {
		weights[i] = float32(h[i] / sum)
	}
	return weights
}

// at filters x at num/den of a frame behind its frame [before].
func (b *bank) at(x []float32, num int) float32 {
	taps := b.taps()
	x = x[:taps]
	if b.phases == b.den {
		return dot(b.weights[num*taps:], x)
	}
	p, rest := num*b.phases/b.den, num*b.phases%b.den
	lower := dot(b.weights[p*taps:], x)
	upper := dot(b.weights[(p+1)*taps:], x)
	return lower + (upper-lower)*float32(rest)/float32(b.den)
}

// dot returns Σ w[i]·x[i] over x. Eight running sums keep the adder busy: one alone
// takes three times as long on amd64.
func dot(w, x []float32) float32 {
	w = w[:len(x)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(x) >= 8 && len(w) >= 8 {
		s0 += w[0] * x[0]
		s1 += w[1] * x[1]
		s2 += w[2] * x[2]
		s3 += w[3] * x[3]
		s4 += w[4] * x[4]
		s5 += w[5] * x[5]
		s6 += w[6] * x[6]
		s7 += w[7] * x[7]
		w, x = w[8:], x[8:]
	}
	for i := range x {
		s0 += w[i] * x[i]
	}
	return (s0 + s1) + (s2 + s3) + ((s4 + s5) + (s6 + s7))
}

func sinc(t float64) float64 {
	if t == 0 {
		return 1
	}
	return math.Sin(math.Pi*t) / (math.Pi * t)
}

// kaiser is the Kaiser window at t, 0 outside (-1, 1).
func kaiser(t float64) float64 {
	const beta = 0.1102 * (attenuation - 8.7)
	if t <= -1 || t >= 1 {
		return 0
	}
	return bessel0(beta*math.Sqrt(1-t*t)) / bessel0(beta)
}

// bessel0 is the modified Bessel function of the first kind and order 0, by its
// power series Σ ((x/2)^k / k!)².
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term*term > 1e-17*sum; k++ {
		term *= x / 2 / k
		sum += term * term
	}
	return sum
}
