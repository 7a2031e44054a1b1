//go:build cgo

package cpu

// #include "kernels.h"
// #cgo noescape gemm_f32_neon
// #cgo nocallback gemm_f32_neon
// #cgo noescape softmax_f32_neon
// #cgo nocallback softmax_f32_neon
// #cgo noescape layer_norm_f32_neon
// #cgo nocallback layer_norm_f32_neon
// #cgo noescape gelu_f32_neon
// #cgo nocallback gelu_f32_neon
// #cgo noescape add_f32_neon
// #cgo nocallback add_f32_neon
// #cgo noescape scale_f32_neon
// #cgo nocallback scale_f32_neon
// #cgo noescape argmax_f32_neon
// #cgo nocallback argmax_f32_neon
// #cgo noescape peak_read_neon
// #cgo nocallback peak_read_neon
import "C"

func nativeTiers() []*kernels {
	return []*kernels{{
		name:         "neon",
		gemmF32:      gemmF32NEON,
		softmaxF32:   func(x []float32) { C.softmax_f32_neon(floats(x), size(x)) },
		layerNormF32: layerNormF32NEON,
		geluF32:      func(x []float32) { C.gelu_f32_neon(floats(x), size(x)) },
		addF32:       func(dst, x []float32) { C.add_f32_neon(floats(dst), floats(x), size(x)) },
		scaleF32:     func(x []float32, s float32) { C.scale_f32_neon(floats(x), size(x), C.float(s)) },
		argmaxF32:    func(x []float32) int { return index(C.argmax_f32_neon(floats(x), size(x)), x) },
		peakF32:      func(turns int) int { return int(C.peak_f32_neon(C.size_t(turns))) },
		peakI8:       func(turns int) int { return int(C.peak_i8_neon(C.size_t(turns))) },
		peakRead:     func(x []float32) float32 { return float32(C.peak_read_neon(floats(x), size(x))) },
	}}
}

func gemmF32NEON(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n0, n, k int, bias []float32) {
	C.gemm_f32_neon(floats(dst), C.size_t(ldd), floats(a), C.size_t(lda), C.size_t(m), floats(w.data),
		C.size_t(w.k), C.size_t(n0), C.size_t(n), C.size_t(k), floats(bias))
}

func layerNormF32NEON(dst, x, gamma, beta []float32) {
	C.layer_norm_f32_neon(floats(dst), floats(x), floats(gamma), floats(beta), size(x), layerNormEps)
}
