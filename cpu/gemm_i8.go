package cpu

import "fmt"

// QuantizeI8 turns rows of activations into signed bytes with a scale per row. A row
// x[i] of k values is first rotated into r = H·x[i], as the rows of a [PackedI8] are:
//
//	scales[i] = max_c |r[c]| / 127
//	dst[i*StrideI8(k)+c] = round(r[c] · (127 / max))   for i < m, c < k
//
// rounded to nearest, ties to even; between k and the stride it writes zeros. ldx
// may be smaller than k (the windows of a convolution overlap). A row whose largest
// value is below 1e-36 (127/max would overflow) counts as zeros with scale 0. A row
// with a NaN or an infinity, or whose sums overflow, becomes zeros with scale NaN: its
// products are NaN. All tiers give the same bits.
func QuantizeI8(dst []int8, scales, x []float32, ldx, m, k int) {
	checkQuantizeI8(dst, scales, x, ldx, m, k)
	if m > 0 {
		active.quantizeI8(dst, scales, x, ldx, m, k)
	}
}

func checkQuantizeI8(dst []int8, scales, x []float32, ldx, m, k int) {
	switch {
	case m < 0 || k < 0 || ldx < 0:
		panic(fmt.Sprintf("BUG: quantise %d×%d, ldx %d", m, k, ldx))
	case m == 0:
	case len(dst) < m*StrideI8(k) || len(scales) < m || k > 0 && len(x) < (m-1)*ldx+k:
		panic(fmt.Sprintf("BUG: quantise %d×%d (ldx %d) from %d values into %d bytes and %d scales",
			m, k, ldx, len(x), len(dst), len(scales)))
	}
}

// GemmI8 computes dst = A·Wᵀ (+ bias) from quantised operands:
//
//	dst[i*ldd+j] = float32(Σ_c a[i*StrideI8(k)+c]·q[j,c]) · (aScales[i]·scale[j]) + bias[j]
//
// for i < m and all n rows j of W. A is [m,k] as [QuantizeI8] leaves it (−128 must
// not occur); what lies between k and the stride does not count. dst is [m,n] with
// ldd from row to row, bias is [n] or nil.
//
// The sum is exact, and the product of the scales, the product with the sum and the
// sum with the bias are each rounded once: all tiers give the same bits, whatever m
// is. It runs on the calling thread.
func GemmI8(dst []float32, ldd int, a []int8, aScales []float32, m int, w *PackedI8, bias []float32) {
	checkGemmI8(dst, ldd, a, aScales, m, w, bias)
	if m == 0 || w.n == 0 {
		return
	}
	active.gemmI8(dst, ldd, a, aScales, m, w, 0, w.n, bias)
}

func checkGemmI8(dst []float32, ldd int, a []int8, aScales []float32, m int, w *PackedI8, bias []float32) {
	checkResultI8(dst, ldd, m, w.n)
	switch n := w.n; {
	case m == 0 || n == 0:
	case len(a) < m*StrideI8(w.k) || len(aScales) < m:
		panic(fmt.Sprintf("BUG: int8 gemm of %d×%d from %d bytes and %d scales", m, w.k, len(a), len(aScales)))
	case bias != nil && len(bias) < n:
		panic(fmt.Sprintf("BUG: int8 gemm to %d columns with %d biases", n, len(bias)))
	}
}

// checkResultI8 checks what an [m,n] result is written to.
func checkResultI8(dst []float32, ldd, m, n int) {
	switch {
	case m < 0 || ldd < 0:
		panic(fmt.Sprintf("BUG: int8 gemm with m %d, ldd %d", m, ldd))
	case m == 0 || n == 0:
	case m > 1 && ldd < n:
		panic(fmt.Sprintf("BUG: int8 gemm writes rows of %d values %d apart", n, ldd))
	case len(dst) < (m-1)*ldd+n:
		panic(fmt.Sprintf("BUG: int8 gemm of %d×%d (ldd %d) into %d values", m, n, ldd, len(dst)))
	}
}
