package cpu

import "math"

// log10F32Generic defines [Log10F32].
func log10F32Generic(x []float32, floor, log10Floor float32) {
	for i, v := range x {
		x[i] = log10Floor
		if v > floor && v <= math.MaxFloat32 {
			x[i] = float32(math.Log10(float64(v)))
		}
	}
}

// sigmoidF32Generic defines [SigmoidF32].
func sigmoidF32Generic(x []float32) {
	for i, v := range x {
		x[i] = float32(1 / (1 + math.Exp(-float64(v))))
	}
}

// reluF32Generic defines [ReluF32].
func reluF32Generic(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}
