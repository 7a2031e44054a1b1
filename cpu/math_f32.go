package cpu

import (
	"fmt"
	"math"
)

// Log10F32 replaces every x by log10(max(x, floor)), where floor is a normal positive
// number; the error is at most 3e-7·max(1,|log10 x|), and the logarithm of what is not
// above the floor is that of floor itself. NaN and +Inf count as floor: the result is
// finite.
func Log10F32(x []float32, floor float32) {
	if floor < 0x1p-126 || math.IsInf(float64(floor), 1) || floor != floor {
		panic(fmt.Sprintf("BUG: logarithm with floor %v", floor))
	}
	if len(x) > 0 {
		active.log10F32(x, floor, float32(math.Log10(float64(floor))))
	}
}

// SigmoidF32 replaces every x by 1/(1 + exp(−x)), with an error of at most 2e-7.
func SigmoidF32(x []float32) {
	if len(x) > 0 {
		active.sigmoidF32(x)
	}
}

// ReluF32 replaces what is below 0 by 0.
func ReluF32(x []float32) {
	if len(x) > 0 {
		active.reluF32(x)
	}
}
