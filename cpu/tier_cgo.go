//go:build cgo && (amd64 || arm64)

package cpu

// ISO mode is what keeps gcc from fusing products and sums by itself, and cgo
// admits no flag that says so outright; clang is told in vec_f32.h. Instruction
// sets are asked for per function, never for the whole build.

// #cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
// #cgo LDFLAGS: -lm
// #include "calls.h"
// #cgo noescape gemm_f32
// #cgo nocallback gemm_f32
// #cgo noescape gemm_i8
// #cgo nocallback gemm_i8
// #cgo noescape quantize_i8
// #cgo nocallback quantize_i8
// #cgo noescape softmax_f32
// #cgo nocallback softmax_f32
// #cgo noescape log_sum_exp_f32
// #cgo nocallback log_sum_exp_f32
// #cgo noescape layer_norm_f32
// #cgo nocallback layer_norm_f32
// #cgo noescape gelu_f32
// #cgo nocallback gelu_f32
// #cgo noescape add_f32
// #cgo nocallback add_f32
// #cgo noescape scale_f32
// #cgo nocallback scale_f32
// #cgo noescape argmax_f32
// #cgo nocallback argmax_f32
// #cgo noescape power_spectra_f32
// #cgo nocallback power_spectra_f32
// #cgo noescape log10_f32
// #cgo nocallback log10_f32
// #cgo noescape sigmoid_f32
// #cgo nocallback sigmoid_f32
// #cgo noescape relu_f32
// #cgo nocallback relu_f32
// #cgo noescape peak_read
// #cgo nocallback peak_read
import "C"

import "unsafe"

const _ = uint(C.MAX_COLUMNS_I8 - maxColumnsI8) // must not be negative

// nativeTiers returns the tiers of this machine that are in C.
func nativeTiers() []*kernels {
	var count C.size_t
	first := C.native_tiers(&count)
	var tiers []*kernels
	for _, t := range unsafe.Slice(first, count) {
		tiers = append(tiers, nativeTier(t))
	}
	return tiers
}

func nativeTier(t *C.struct_kernels) *kernels {
	return &kernels{
		name: C.GoString(t.name),
		gemmF32: func(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n0, n, k int, bias []float32) {
			C.gemm_f32(t, floats(dst), C.size_t(ldd), floats(a), C.size_t(lda), C.size_t(m), floats(w.data),
				C.size_t(w.k), C.size_t(n0), C.size_t(n), C.size_t(k), floats(bias))
		},
		gemmI8: func(dst []float32, ldd int, a []int8, aScales []float32, m int, w *PackedI8, n0, n int, bias []float32) {
			C.gemm_i8(t, floats(dst), C.size_t(ldd), bytes(a), floats(aScales), C.size_t(m), bytes(w.data),
				floats(w.scales), C.size_t(n0), C.size_t(n), C.size_t(StrideI8(w.k)), floats(bias))
		},
		quantizeI8: func(dst []int8, scales, x []float32, ldx, m, k int) {
			C.quantize_i8(t, bytes(dst), C.size_t(StrideI8(k)), floats(scales), floats(x), C.size_t(ldx), C.size_t(m), C.size_t(k))
		},
		softmaxF32:   func(x []float32) { C.softmax_f32(t, floats(x), size(x)) },
		logSumExpF32: func(x []float32) float32 { return float32(C.log_sum_exp_f32(t, floats(x), size(x))) },
		layerNormF32: func(dst, x, gamma, beta []float32) {
			C.layer_norm_f32(t, floats(dst), floats(x), floats(gamma), floats(beta), size(x), layerNormEps)
		},
		geluF32:   func(x []float32) { C.gelu_f32(t, floats(x), size(x)) },
		addF32:    func(dst, x []float32) { C.add_f32(t, floats(dst), floats(x), size(x)) },
		scaleF32:  func(x []float32, s float32) { C.scale_f32(t, floats(x), size(x), C.float(s)) },
		argmaxF32: func(x []float32) int { return index(C.argmax_f32(t, floats(x), size(x)), x) },
		powerSpectraF32: func(dst []float32, ldd int, x []float32, lda, m int, s *Spectrum) {
			C.power_spectra_f32(t, floats(dst), C.size_t(ldd), floats(x), C.size_t(lda), C.size_t(m), C.size_t(len(s.window)),
				(*C.double)(&s.window[0]), (*C.double)(&s.turns[0][0]))
		},
		log10F32: func(x []float32, floor, log10Floor float32) {
			C.log10_f32(t, floats(x), size(x), C.float(floor), C.float(log10Floor))
		},
		sigmoidF32: func(x []float32) { C.sigmoid_f32(t, floats(x), size(x)) },
		reluF32:    func(x []float32) { C.relu_f32(t, floats(x), size(x)) },

		peakF32:  func(turns int) int { return int(C.peak_f32(t, C.size_t(turns))) },
		peakI8:   func(turns int) int { return int(C.peak_i8(t, C.size_t(turns))) },
		peakRead: func(x []float32) float32 { return float32(C.peak_read(t, floats(x), size(x))) },

		jobs: nativeJobs(t),
	}
}

func floats(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

func bytes(x []int8) *C.int8_t { return (*C.int8_t)(unsafe.Pointer(unsafe.SliceData(x))) }

func size(x []float32) C.size_t { return C.size_t(len(x)) }

// index turns the length of x, which C returns for "none", into -1.
func index(i C.size_t, x []float32) int {
	if int(i) == len(x) {
		return -1
	}
	return int(i)
}
