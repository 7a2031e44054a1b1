package cpu

// gemmF32Generic defines [GemmF32] for columns n0…n-1 of dst; n0 is a multiple of
// panelRows. dst and bias are indexed from column 0.
func gemmF32Generic(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n0, n, k int, bias []float32) {
	gemmGeneric(dst, ldd, a, lda, m, w.data, w.k, n0, n, k, bias, dotF32Generic)
}

// gemmGeneric is gemmF32Generic for a W of any type, in panels of kcap columns, with
// the product of two rows of A and four of W.
//
// Two rows of A by four rows of W make eight sums, as many as keep the adders of
// a scalar core busy. The product is rounded before the sum (the conversion
// forbids fusing), so that the result is the same on every architecture.
func gemmGeneric[T any](dst []float32, ldd int, a []float32, lda, m int, w []T, kcap, n0, n, k int, bias []float32, dot func(a0, a1 []float32, b []T) [2][4]float32) {
	for j := n0; j < n; j += 4 {
		lanes := min(4, n-j)
		b := w[j/panelRows*kcap*panelRows:][:k*panelRows]
		off := j % panelRows
		for i := 0; i < m; i += 2 {
			i1 := min(i+1, m-1)
			var sum [2][4]float32
			if k > 0 {
				sum = dot(a[i*lda:i*lda+k], a[i1*lda:i1*lda+k], b[off:])
			}
			for row := i; row <= i1; row++ {
				s := sum[row-i][:lanes]
				if bias != nil {
					addF32Generic(s, bias[j:j+lanes])
				}
				copy(dst[row*ldd+j:], s)
			}
		}
	}
}

// dotF32Generic returns the products of two rows of A with four neighbouring
// rows of a panel; b starts at the first one's column 0.
func dotF32Generic(a0, a1, b []float32) [2][4]float32 {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	a1 = a1[:len(a0)]
	for c, x := range a0 {
		y := a1[c]
		q := (*[4]float32)(b[c*panelRows:])
		s00 += float32(x * q[0])
		s01 += float32(x * q[1])
		s02 += float32(x * q[2])
		s03 += float32(x * q[3])
		s10 += float32(y * q[0])
		s11 += float32(y * q[1])
		s12 += float32(y * q[2])
		s13 += float32(y * q[3])
	}
	return [2][4]float32{{s00, s01, s02, s03}, {s10, s11, s12, s13}}
}
