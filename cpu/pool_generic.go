package cpu

import (
	"sync"
	"sync/atomic"
)

// genericJobs define the loops over a pool: each index of them is one call of a
// generic kernel. Its goroutines are started anew for each loop, which is little
// beside what these kernels take.
var genericJobs = jobs{
	gemmF32: func(p *Pool, dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, k int, bias []float32) {
		// Few rows are shared out by columns, many by rows.
		const rows, cols = 32, 4 * panelRows
		across := ceilDiv(n, cols)
		p.share(ceilDiv(m, rows)*across, m*n*k, func(task int) {
			i, j := task/across*rows, task%across*cols
			gemmF32Generic(dst[i*ldd:], ldd, a[i*lda:], lda, min(rows, m-i), w, j, min(j+cols, n), k, bias)
		})
	},
	gemmI8: func(p *Pool, dst []float32, ldd int, x []float32, ldx, m int, w *PackedI8, bias []float32) {
		const rows, cols = 32, 4 * panelRows
		stride, across := StrideI8(w.k), ceilDiv(w.n, cols)
		quantizeI8Generic(p.a, p.aScales, x, ldx, m, w.k)
		p.share(ceilDiv(m, rows)*across, m*w.n*w.k, func(task int) {
			i, j := task/across*rows, task%across*cols
			gemmI8Generic(dst[i*ldd:], ldd, p.a[i*stride:], p.aScales[i:], min(rows, m-i), w, j, min(j+cols, w.n), bias)
		})
	},
	largestI8: largestI8Generic,
	layerNormF32: func(p *Pool, dst, x, gamma, beta []float32) {
		d := len(gamma)
		p.share(len(x)/d, 8*len(x), func(row int) {
			layerNormF32Generic(dst[row*d:(row+1)*d], x[row*d:(row+1)*d], gamma, beta)
		})
	},
	geluF32: func(p *Pool, x []float32) {
		p.shareElements(len(x), 32*len(x), func(from, to int) { geluF32Generic(x[from:to]) })
	},
	addF32: func(p *Pool, dst, x []float32) {
		p.shareElements(len(x), len(x), func(from, to int) { addF32Generic(dst[from:to], x[from:to]) })
	},
	putKV:     putKVGeneric,
	attendF32: attendF32Generic,
}

// share calls body(0) … body(n-1), each once, in any order, on as many goroutines as
// the pool has threads, or on this one where it is less than some 50 µs of work
// (in multiply-adds).
func (p *Pool) share(n, work int, body func(i int)) {
	var next atomic.Int64
	each := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			body(i)
		}
	}
	var others sync.WaitGroup
	if work >= 1<<16 {
		for range min(n, p.threads) - 1 {
			others.Go(each)
		}
	}
	each()
	others.Wait()
}

// shareElements is share for runs of n elements.
func (p *Pool) shareElements(n, work int, body func(from, to int)) {
	const run = 4096
	p.share(ceilDiv(n, run), work, func(i int) { body(i*run, min(n, (i+1)*run)) })
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
