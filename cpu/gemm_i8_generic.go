package cpu

import "math"

// smallestMaxI8 is the maximum below which a row counts as zeros: 127 divided by
// it must be finite.
const smallestMaxI8 = 1e-36

// quantizeI8Generic defines [QuantizeI8]. The largest magnitude is found among the
// bits, which compare as the numbers do and have infinity and NaN on top.
func quantizeI8Generic(dst []int8, scales, x []float32, ldx, m, k int) {
	stride := StrideI8(k)
	row := make([]float32, k)
	for i := range m {
		copy(row, x[i*ldx:])
		rotateI8(row)
		out := dst[i*stride:][:stride]
		var bits uint32
		for _, v := range row {
			bits = max(bits, math.Float32bits(v)&math.MaxInt32)
		}
		var factor float32
		scales[i], factor = scalesI8(math.Float32frombits(bits))
		clear(out)
		if factor == 0 {
			continue
		}
		for c, v := range row {
			out[c] = int8(math.RoundToEven(float64(float32(v * factor))))
		}
	}
}

// scalesI8 returns the scale of a row whose largest magnitude is top (infinity or
// NaN if there is one), and the factor that quantises it, 0 if nothing is left.
func scalesI8(top float32) (scale, factor float32) {
	switch {
	case !(top <= math.MaxFloat32):
		return float32(math.NaN()), 0
	case top < smallestMaxI8:
		return 0, 0
	}
	return top / 127, 127 / top
}

// gemmI8Generic defines [GemmI8] for columns n0…n-1 of dst; n0 is a multiple of
// panelRows. dst and bias are indexed from column 0.
func gemmI8Generic(dst []float32, ldd int, a []int8, aScales []float32, m int, w *PackedI8, n0, n int, bias []float32) {
	stride := StrideI8(w.k)
	for j := n0; j < n; j++ {
		lane, scale := w.lane(j), w.scales[j]
		for i := range m {
			sum := dotI8Generic(a[i*stride:(i+1)*stride], lane)
			v := float32(float32(sum) * float32(aScales[i]*scale))
			if bias != nil {
				v += bias[j]
			}
			dst[i*ldd+j] = v
		}
	}
}

// dotI8Generic returns the product of a row of A with a row of W, whose groups are
// 64 bytes apart. Two groups at a time: the stride is a multiple of 8.
func dotI8Generic(a, lane []int8) int32 {
	var even, odd int32
	for len(a) >= strideI8 {
		x := (*[strideI8]int8)(a)
		y, z := (*[groupI8]int8)(lane), (*[groupI8]int8)(lane[panelRows*groupI8:])
		even += int32(x[0])*int32(y[0]) + int32(x[1])*int32(y[1]) + int32(x[2])*int32(y[2]) + int32(x[3])*int32(y[3])
		odd += int32(x[4])*int32(z[0]) + int32(x[5])*int32(z[1]) + int32(x[6])*int32(z[2]) + int32(x[7])*int32(z[3])
		a, lane = a[strideI8:], lane[min(len(lane), 2*panelRows*groupI8):]
	}
	return even + odd
}
