package cpu

import "math"

// expFloorF32 is where exp ends: ln of the smallest normal float32 is −87.336.
const expFloorF32 = -87.33

// softmaxF32Generic defines [SoftmaxF32].
func softmaxF32Generic(x []float32) {
	if sum := expSumF32Generic(x); sum != 0 {
		scaleF32Generic(x, float32(1/sum))
	}
}

// logSumExpF32Generic defines [LogSumExpF32].
func logSumExpF32Generic(x []float32) float32 {
	largest := float32(math.Inf(-1))
	for _, v := range x {
		if v > largest {
			largest = v
		}
	}
	if math.IsInf(float64(largest), -1) {
		largest = 0
	}
	var sum float64
	for _, v := range x {
		if d := v - largest; !(d < expFloorF32) {
			sum += math.Exp(float64(d))
		}
	}
	return float32(float64(largest) + math.Log(sum))
}

// expSumF32Generic replaces x by exp(x[i]-max) and returns the sum, 0 if all are
// −Inf. It is taken in float64, in ascending order: zeros at the end do not change it.
func expSumF32Generic(x []float32) float64 {
	shift := float32(math.Inf(-1))
	for _, v := range x {
		shift = max(shift, v)
	}
	if math.IsInf(float64(shift), -1) {
		shift = 0
	}
	var sum float64
	for i, v := range x {
		d := v - shift
		if d < expFloorF32 {
			x[i] = 0
			continue
		}
		x[i] = float32(math.Exp(float64(d)))
		sum += float64(x[i])
	}
	return sum
}

// layerNormF32Generic defines [LayerNormF32]; mean and variance are float64 sums.
func layerNormF32Generic(dst, x, gamma, beta []float32) {
	n := float64(len(x))
	var mean, variance float64
	for _, v := range x {
		mean += float64(v)
	}
	mean /= n
	for _, v := range x {
		d := float64(v) - mean
		variance += float64(d * d)
	}
	scale := 1 / math.Sqrt(variance/n+layerNormEps)
	for i, v := range x {
		unit := float32((float64(v) - mean) * scale)
		dst[i] = float32(unit*gamma[i]) + beta[i]
	}
}

// geluF32Generic defines [GeluF32].
func geluF32Generic(x []float32) {
	for i, v := range x {
		d := float64(v)
		x[i] = float32(d / 2 * (1 + math.Erf(d/math.Sqrt2)))
	}
}

func addF32Generic(dst, x []float32) {
	for i, v := range x {
		dst[i] += v
	}
}

func scaleF32Generic(x []float32, s float32) {
	for i := range x {
		x[i] *= s
	}
}

// argmaxF32Generic defines [ArgmaxF32].
func argmaxF32Generic(x []float32) int {
	best := -1
	for i, v := range x {
		if v == v && (best < 0 || v > x[best]) {
			best = i
		}
	}
	return best
}
