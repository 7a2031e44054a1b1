//go:build cgo && (amd64 || arm64)

package cpu

// #cgo CFLAGS: -pthread
// #cgo LDFLAGS: -pthread
// #include "jobs.h"
// #cgo noescape pool_gemm_f32
// #cgo nocallback pool_gemm_f32
// #cgo noescape pool_gemm_i8
// #cgo nocallback pool_gemm_i8
// #cgo noescape pool_largest_i8
// #cgo nocallback pool_largest_i8
// #cgo noescape pool_layer_norm_f32
// #cgo nocallback pool_layer_norm_f32
// #cgo noescape pool_gelu_f32
// #cgo nocallback pool_gelu_f32
// #cgo noescape pool_add_f32
// #cgo nocallback pool_add_f32
// #cgo noescape pool_put_kv
// #cgo nocallback pool_put_kv
// #cgo noescape pool_attend_f32
// #cgo nocallback pool_attend_f32
// #cgo noescape pool_probe
// #cgo nocallback pool_probe
import "C"

import (
	"runtime"
	"unsafe"
)

type nativePool = *C.struct_pool

func openNative(threads int, cpus []int) (nativePool, int) {
	list := make([]C.int, len(cpus))
	for i, c := range cpus {
		list[i] = C.int(c)
	}
	p := C.pool_open(C.size_t(threads), unsafe.SliceData(list), C.size_t(len(list)))
	if p == nil {
		panic("out of memory for a pool of threads")
	}
	return p, int(C.pool_threads(p))
}

func closeNative(p nativePool) { C.pool_close(p) }

// nativeJobs are the loops on threads of C with the kernels of k.
func nativeJobs(k *C.struct_kernels) jobs {
	return jobs{
		gemmF32: func(p *Pool, dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, depth int, bias []float32) {
			C.pool_gemm_f32(p.native, k, floats(dst), C.size_t(ldd), floats(a), C.size_t(lda), C.size_t(m),
				floats(w.data), C.size_t(w.k), C.size_t(n), C.size_t(depth), floats(bias))
		},
		gemmI8: func(p *Pool, dst []float32, ldd int, x []float32, ldx, m int, w *PackedI8, bias []float32) {
			C.pool_gemm_i8(p.native, k, floats(dst), C.size_t(ldd), floats(x), C.size_t(ldx), C.size_t(m),
				bytes(w.data), floats(w.scales), C.size_t(w.n), C.size_t(w.k), C.size_t(StrideI8(w.k)), floats(bias),
				bytes(p.a), floats(p.aScales))
		},
		largestI8: func(p *Pool, dst []float32, ldd int, x []float32, ldx, m int, w *SplitI8, margin float32) {
			largestI8(p, k, dst, ldd, x, ldx, m, w, margin)
		},
		layerNormF32: func(p *Pool, dst, x, gamma, beta []float32) {
			rows := len(x) / len(gamma)
			C.pool_layer_norm_f32(p.native, k, floats(dst), floats(x), floats(gamma), floats(beta),
				C.size_t(rows), size(gamma), layerNormEps)
		},
		geluF32: func(p *Pool, x []float32) { C.pool_gelu_f32(p.native, k, floats(x), size(x)) },
		addF32:  func(p *Pool, dst, x []float32) { C.pool_add_f32(p.native, k, floats(dst), floats(x), size(x)) },
		putKV: func(p *Pool, c *KVCache, at, n int, x []float32, ldx int, v []float32, ldv int) {
			putKV(p, k, c, at, n, x, ldx, v, ldv)
		},
		attendF32: func(p *Pool, a *attendArgs) { attendF32(p, k, a) },
	}
}

func largestI8(p *Pool, k *C.struct_kernels, dst []float32, ldd int, x []float32, ldx, m int, w *SplitI8, margin float32) {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(unsafe.SliceData(w.high))
	pin.Pin(unsafe.SliceData(w.low))
	pin.Pin(unsafe.SliceData(w.scales))
	split := C.struct_split_i8{
		high: (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(w.high))), low: (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(w.low))),
		scales: floats(w.scales), n: C.size_t(w.n), k: C.size_t(w.k), stride: C.size_t(StrideI8(w.k)),
	}
	C.pool_largest_i8(p.native, k, floats(dst), C.size_t(ldd), floats(x), C.size_t(ldx), C.size_t(m), split,
		C.float(margin), bytes(p.a), floats(p.aScales), floats(p.tops), (*C.uint32_t)(unsafe.SliceData(p.exact)))
}

func putKV(p *Pool, kernels *C.struct_kernels, c *KVCache, at, n int, k []float32, ldk int, v []float32, ldv int) {
	var pin runtime.Pinner
	defer pin.Unpin()
	cache := nativeCache(c, &pin)
	C.pool_put_kv(p.native, kernels, &cache, C.size_t(at), C.size_t(n), floats(k), C.size_t(ldk), floats(v), C.size_t(ldv))
}

// nativeCache is [KVCache] as C takes it.
func nativeCache(c *KVCache, pin *runtime.Pinner) C.struct_kv {
	to := C.struct_kv{heads: C.size_t(c.heads), d: C.size_t(c.d), capacity: C.size_t(c.capacity)}
	if c.f16 != nil {
		pin.Pin(unsafe.SliceData(c.f16))
		to.f16 = (*C.uint16_t)(unsafe.SliceData(c.f16))
	} else {
		pin.Pin(unsafe.SliceData(c.f32))
		to.f32 = floats(c.f32)
	}
	return to
}

// nativeQuery is [Query] as C takes it.
type nativeQuery = C.struct_query

func attendF32(p *Pool, k *C.struct_kernels, a *attendArgs) {
	var pin runtime.Pinner
	defer pin.Unpin()
	p.queries = p.queries[:0]
	room := attendRoom
	for _, q := range a.queries {
		causal := C.int(0)
		if q.Causal {
			causal = 1
		}
		p.queries = append(p.queries, nativeQuery{
			cache: nativeCache(q.Cache, &pin), n: C.size_t(q.N), rows: C.size_t(q.Rows), causal: causal,
		})
		room = max(room, roundUp(q.last(), panelRows))
	}
	if len(p.scratch) < room*p.threads {
		p.scratch = alignedF32(room * p.threads)
	}
	C.pool_attend_f32(p.native, k, floats(a.out), C.size_t(a.ldo), floats(a.q), C.size_t(a.ldq),
		unsafe.SliceData(p.queries), C.size_t(len(p.queries)), C.size_t(a.heads), C.size_t(a.d),
		floats(a.weights), C.size_t(a.ldw), floats(p.scratch), C.size_t(room))
	clear(p.queries) // keeps no cache alive
}

// probe runs a loop of C that adds 1 to every element of hits after some turns of an
// empty loop.
func (p *Pool) probe(hits []int32, turns int) {
	defer p.lock().Unlock()
	C.pool_probe(p.native, (*C.int)(unsafe.Pointer(unsafe.SliceData(hits))), C.size_t(len(hits)), C.size_t(turns))
}
