package ref

import "math"

// apply returns y [rows, out] with y[r] = W·x[r] + b, for x [rows, in].
func (l linear) apply(x []float32) []float32 {
	rows := len(x) / l.in
	y := make([]float32, rows*l.out)
	for r := range rows {
		for o := range l.out {
			sum := dot(x[r*l.in:(r+1)*l.in], l.weight[o*l.in:(o+1)*l.in])
			if l.bias != nil {
				sum += float64(l.bias[o])
			}
			y[r*l.out+o] = float32(sum)
		}
	}
	return y
}

// apply returns (x − mean)/√(variance + 1e-5)·γ + β for each row of x [rows, D],
// with the biased variance (PyTorch's LayerNorm and its default epsilon).
func (n norm) apply(x []float32) []float32 {
	width := len(n.gamma)
	y := make([]float32, len(x))
	for r := 0; r < len(x); r += width {
		row := x[r : r+width]
		var mean, variance float64
		for _, v := range row {
			mean += float64(v)
		}
		mean /= float64(width)
		for _, v := range row {
			variance += (float64(v) - mean) * (float64(v) - mean)
		}
		scale := 1 / math.Sqrt(variance/float64(width)+1e-5)
		for i, v := range row {
			y[r+i] = float32((float64(v)-mean)*scale)*n.gamma[i] + n.beta[i]
		}
	}
	return y
}

// attend is softmax(q·Kᵀ/√d)·V for one head and one row: q [d]; keys and values
// [n, width], of which the head's d columns start at offset. It adds nothing but
// writes out [d], and returns the n softmax weights.
func attend(out, q, keys, values []float32, n, width, offset int) []float32 {
	d := len(q)
	weights := make([]float32, n)
	scale := 1 / math.Sqrt(float64(d))
	for p := range n {
		weights[p] = float32(dot(q, keys[p*width+offset:p*width+offset+d]) * scale)
	}
	softmax(weights)
	for i := range d {
		var sum float64
		for p, w := range weights {
			sum += float64(w) * float64(values[p*width+offset+i])
		}
		out[i] = float32(sum)
	}
	return weights
}

// softmax is exp(x − max)/Σ, in place.
func softmax(x []float32) {
	largest := math.Inf(-1)
	for _, v := range x {
		largest = math.Max(largest, float64(v))
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - largest)
	}
	for i, v := range x {
		x[i] = float32(math.Exp(float64(v)-largest) / sum)
	}
}

// gelu is x·Φ(x) with the exact normal distribution function, in place
// (PyTorch's F.gelu without approximation).
func gelu(x []float32) {
	for i, v := range x {
		x[i] = float32(float64(v) * 0.5 * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
}

func dot(a, b []float32) float64 {
	var sum float64
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

func add(dst, x []float32) {
	for i, v := range x {
		dst[i] += v
	}
}
