package cpu

import (
	"fmt"
	"math"
)

// SoftmaxF32 replaces the row x by exp(x[i]-max)/Σ exp(x[j]-max).
//
// −Inf is a masked entry: it becomes 0, and entries masked at the end of a row
// leave the others with the same bits as the shorter row would have. A row that
// is all −Inf becomes zeros. A NaN or +Inf makes the whole row NaN. Entries more
// than 87.3 below the maximum become 0, not a denormal.
func SoftmaxF32(x []float32) {
	if len(x) > 0 {
		active.softmaxF32(x)
	}
}

// LogSumExpF32 returns log Σ exp(x[i]), the logarithm of what softmax divides by. It
// is −Inf where all are (or there are none), and NaN where one is NaN or +Inf.
func LogSumExpF32(x []float32) float32 {
	if len(x) == 0 {
		return float32(math.Inf(-1))
	}
	return active.logSumExpF32(x)
}

// LayerNormF32 computes, over one row of D values,
//
//	dst[i] = (x[i] − mean)/sqrt(var + 1e-5)·gamma[i] + beta[i]
//
// with the biased variance and the epsilon that PyTorch's LayerNorm has by
// default. All four have len(x) values; dst may be x.
func LayerNormF32(dst, x, gamma, beta []float32) {
	checkLayerNormF32(dst, x, gamma, beta)
	if len(gamma) != len(x) {
		panic(fmt.Sprintf("BUG: layer norm of one row of %d values with %d gammas", len(x), len(gamma)))
	}
	if len(x) > 0 {
		active.layerNormF32(dst, x, gamma, beta)
	}
}

// checkLayerNormF32 is for x of any number of rows.
func checkLayerNormF32(dst, x, gamma, beta []float32) {
	if len(dst) != len(x) || len(beta) != len(gamma) || len(x) > 0 && (len(gamma) == 0 || len(x)%len(gamma) != 0) {
		panic(fmt.Sprintf("BUG: layer norm of %d values into %d with %d gammas and %d betas",
			len(x), len(dst), len(gamma), len(beta)))
	}
}

// layerNormEps is added to the variance: PyTorch's default, which Whisper keeps.
const layerNormEps = 1e-5

// GeluF32 replaces every x by x·Φ(x) = x/2·(1 + erf(x/√2)), the exact form and not
// the tanh one; the error is at most 3e-7·max(1,|x|). As the formula has it, −Inf
// becomes NaN (−∞·0).
func GeluF32(x []float32) {
	if len(x) > 0 {
		active.geluF32(x)
	}
}

// AddF32 adds x to dst, element by element.
func AddF32(dst, x []float32) {
	checkAddF32(dst, x)
	if len(x) > 0 {
		active.addF32(dst, x)
	}
}

func checkAddF32(dst, x []float32) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("BUG: add %d values to %d", len(x), len(dst)))
	}
}

// ScaleF32 multiplies every element of x by s.
func ScaleF32(x []float32, s float32) {
	if len(x) > 0 {
		active.scaleF32(x, s)
	}
}

// ArgmaxF32 returns the index of the largest element, the lowest one among equals.
// A NaN never wins; where there is no other value (or none at all) it returns -1.
func ArgmaxF32(x []float32) int {
	if len(x) == 0 {
		return -1
	}
	return active.argmaxF32(x)
}
