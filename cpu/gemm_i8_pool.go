package cpu

// GemmI8 is QuantizeI8 of A, and then the package's GemmI8, on the pool's threads: A is [m,k] in
// float32 with ldx values from row to row.
func (p *Pool) GemmI8(dst []float32, ldd int, x []float32, ldx, m int, w *PackedI8, bias []float32) {
	stride := StrideI8(w.k)
	a, scales := make([]int8, m*stride), make([]float32, m)
	tasks := ceilDiv(m, 64)
	p.Run(tasks, func(t int) {
		i := t * 64
		n := min(64, m-i)
		QuantizeI8(a[i*stride:], scales[i:], x[i*ldx:], ldx, n, w.k)
	})
	checkGemmI8(dst, ldd, a, scales, m, w, bias)
	cols := 64
	if m == 1 {
		cols = max(64, ceilDiv(ceilDiv(w.n, 16), p.Threads())*16)
	}
	p.Run(ceilDiv(w.n, cols), func(t int) {
		active.gemmI8(dst, ldd, a, scales, m, w, t*cols, min(w.n, (t+1)*cols), bias)
	})
}
