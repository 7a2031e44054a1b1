package cpu

// jobs are the loops over a pool's threads in one tier. Lengths and bounds have
// been checked when one is called, nothing is empty, and the pool is locked.
type jobs struct {
	gemmF32      func(p *Pool, dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, k int, bias []float32)
	gemmI8       func(p *Pool, dst []float32, ldd int, x []float32, ldx, m int, w *PackedI8, bias []float32)
	largestI8    func(p *Pool, dst []float32, ldd int, x []float32, ldx, m int, w *SplitI8, margin float32)
	layerNormF32 func(p *Pool, dst, x, gamma, beta []float32)
	geluF32      func(p *Pool, x []float32)
	addF32       func(p *Pool, dst, x []float32)
	putKV        func(p *Pool, c *KVCache, at, n int, k []float32, ldk int, v []float32, ldv int)
	attendF32    func(p *Pool, a *attendArgs)
}

// GemmF32 is the function [GemmF32] on the threads of the pool, with the same
// result to the last bit.
func (p *Pool) GemmF32(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, k int, bias []float32) {
	checkGemmF32(dst, ldd, a, lda, m, w, n, k, bias)
	if m == 0 || n == 0 {
		return
	}
	defer p.lock().Unlock()
	active.jobs.gemmF32(p, dst, ldd, a, lda, m, w, n, k, bias)
}

// GemmI8 is [QuantizeI8] of A and then the function [GemmI8], on the threads of the
// pool: A is x, [m,k] in float32 with ldx values from row to row (ldx may be smaller than
// k: the windows of a convolution overlap).
func (p *Pool) GemmI8(dst []float32, ldd int, x []float32, ldx, m int, w *PackedI8, bias []float32) {
	defer p.lock().Unlock()
	p.growA(m, w.k)
	checkQuantizeI8(p.a, p.aScales, x, ldx, m, w.k)
	checkGemmI8(dst, ldd, p.a, p.aScales, m, w, bias)
	if m > 0 && w.n > 0 {
		active.jobs.gemmI8(p, dst, ldd, x, ldx, m, w, bias)
	}
}

// growA makes room for m rows of k activations in int8.
func (p *Pool) growA(m, k int) {
	if need := m * StrideI8(k); len(p.a) < need {
		p.a = bytesOf(alignedF32(need / 4))
	}
	if len(p.aScales) < m {
		p.aScales = make([]float32, m)
	}
}

// LayerNormF32 is the function [LayerNormF32] for every row of x [rows, D], into
// dst [rows, D], on the threads of the pool. gamma and beta are [D]; dst may be x.
func (p *Pool) LayerNormF32(dst, x, gamma, beta []float32) {
	checkLayerNormF32(dst, x, gamma, beta)
	if len(x) == 0 {
		return
	}
	defer p.lock().Unlock()
	active.jobs.layerNormF32(p, dst, x, gamma, beta)
}

// GeluF32 is the function [GeluF32] on the threads of the pool.
func (p *Pool) GeluF32(x []float32) {
	if len(x) == 0 {
		return
	}
	defer p.lock().Unlock()
	active.jobs.geluF32(p, x)
}

// AddF32 is the function [AddF32] on the threads of the pool.
func (p *Pool) AddF32(dst, x []float32) {
	checkAddF32(dst, x)
	if len(x) == 0 {
		return
	}
	defer p.lock().Unlock()
	active.jobs.addF32(p, dst, x)
}
