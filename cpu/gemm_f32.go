package cpu

import "fmt"

// GemmF32 computes dst = A·Wᵀ (+ bias):
//
//	dst[i*ldd+j] = Σ_{c<k} a[i*lda+c]·W[j,c] + bias[j]   for i < m, j < n
//
// A is [m,k] with lda values from row to row (lda may be smaller than k: the
// windows of a convolution overlap), dst is [m,n] with ldd from row to row, bias
// is [n] or nil. n and k may be less than w's capacity. dst must not overlap a.
//
// Each output is one sum in ascending c, the bias added last, so that a row's
// result is the same to the last bit whatever m is. It runs on the calling thread.
func GemmF32(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, k int, bias []float32) {
	checkGemmF32(dst, ldd, a, lda, m, w, n, k, bias)
	if m == 0 || n == 0 {
		return
	}
	active.gemmF32(dst, ldd, a, lda, m, w, 0, n, k, bias)
}

func checkGemmF32(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, k int, bias []float32) {
	w.check(n, k)
	switch {
	case m < 0 || ldd < 0 || lda < 0:
		panic(fmt.Sprintf("BUG: gemm with m %d, ldd %d, lda %d", m, ldd, lda))
	case m == 0 || n == 0:
	case m > 1 && ldd < n:
		panic(fmt.Sprintf("BUG: gemm writes rows of %d values %d apart", n, ldd))
	case len(dst) < (m-1)*ldd+n:
		panic(fmt.Sprintf("BUG: gemm of %d×%d (ldd %d) into %d values", m, n, ldd, len(dst)))
	case k > 0 && len(a) < (m-1)*lda+k:
		panic(fmt.Sprintf("BUG: gemm of %d×%d (lda %d) from %d values", m, k, lda, len(a)))
	case bias != nil && len(bias) < n:
		panic(fmt.Sprintf("BUG: gemm to %d columns with %d biases", n, len(bias)))
	}
}
