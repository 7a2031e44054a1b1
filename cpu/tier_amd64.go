//go:build cgo

package cpu

// #include "kernels.h"
// #cgo noescape gemm_f32_avx2
// #cgo nocallback gemm_f32_avx2
// #cgo noescape softmax_f32_avx2
// #cgo nocallback softmax_f32_avx2
// #cgo noescape layer_norm_f32_avx2
// #cgo nocallback layer_norm_f32_avx2
// #cgo noescape gelu_f32_avx2
// #cgo nocallback gelu_f32_avx2
// #cgo noescape add_f32_avx2
// #cgo nocallback add_f32_avx2
// #cgo noescape scale_f32_avx2
// #cgo nocallback scale_f32_avx2
// #cgo noescape argmax_f32_avx2
// #cgo nocallback argmax_f32_avx2
// #cgo noescape peak_read_avx2
// #cgo nocallback peak_read_avx2
import "C"

func nativeTiers() []*kernels {
	if C.has_avx2() == 0 {
		return nil
	}
	return []*kernels{{
		name:         "avx2",
		gemmF32:      gemmF32AVX2,
		softmaxF32:   func(x []float32) { C.softmax_f32_avx2(floats(x), size(x)) },
		layerNormF32: layerNormF32AVX2,
		geluF32:      func(x []float32) { C.gelu_f32_avx2(floats(x), size(x)) },
		addF32:       func(dst, x []float32) { C.add_f32_avx2(floats(dst), floats(x), size(x)) },
		scaleF32:     func(x []float32, s float32) { C.scale_f32_avx2(floats(x), size(x), C.float(s)) },
		argmaxF32:    func(x []float32) int { return index(C.argmax_f32_avx2(floats(x), size(x)), x) },
		peakF32:      func(turns int) int { return int(C.peak_f32_avx2(C.size_t(turns))) },
		peakI8:       func(turns int) int { return int(C.peak_i8_avx2(C.size_t(turns))) },
		peakRead:     func(x []float32) float32 { return float32(C.peak_read_avx2(floats(x), size(x))) },
	}}
}

func gemmF32AVX2(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n0, n, k int, bias []float32) {
	C.gemm_f32_avx2(floats(dst), C.size_t(ldd), floats(a), C.size_t(lda), C.size_t(m), floats(w.data),
		C.size_t(w.k), C.size_t(n0), C.size_t(n), C.size_t(k), floats(bias))
}

func layerNormF32AVX2(dst, x, gamma, beta []float32) {
	C.layer_norm_f32_avx2(floats(dst), floats(x), floats(gamma), floats(beta), size(x), layerNormEps)
}
