// How Go calls a kernel of a tier: cgo cannot call through a pointer.

#ifndef EARSHOT_CALLS_H
#define EARSHOT_CALLS_H

#include "kernels.h"

static inline void gemm_f32(const struct kernels *t, float *dst, size_t ldd, const float *a, size_t lda,
                            size_t m, const float *w, size_t kcap, size_t n0, size_t n, size_t k,
                            const float *bias)
{
	t->gemm_f32(dst, ldd, a, lda, m, w, kcap, n0, n, k, bias);
}

static inline void gemm_i8(const struct kernels *t, float *dst, size_t ldd, const int8_t *a,
                           const float *ascale, size_t m, const int8_t *w, const float *wscale,
                           size_t n0, size_t n, size_t stride, const float *bias)
{
	t->gemm_i8(dst, ldd, a, ascale, m, w, wscale, n0, n, stride, bias);
}

static inline void quantize_i8(const struct kernels *t, int8_t *dst, size_t stride, float *scales,
                               const float *x, size_t ldx, size_t m, size_t k)
{
	t->quantize_i8(dst, stride, scales, x, ldx, m, k);
}

static inline void softmax_f32(const struct kernels *t, float *x, size_t n) { t->softmax_f32(x, n); }

static inline float log_sum_exp_f32(const struct kernels *t, const float *x, size_t n)
{
	return t->log_sum_exp_f32(x, n);
}

static inline void layer_norm_f32(const struct kernels *t, float *dst, const float *x, const float *gamma,
                                  const float *beta, size_t n, float eps)
{
	t->layer_norm_f32(dst, x, gamma, beta, n, eps);
}

static inline void gelu_f32(const struct kernels *t, float *x, size_t n) { t->gelu_f32(x, n); }

static inline void add_f32(const struct kernels *t, float *dst, const float *x, size_t n)
{
	t->add_f32(dst, x, n);
}

static inline void scale_f32(const struct kernels *t, float *x, size_t n, float s)
{
	t->scale_f32(x, n, s);
}

static inline size_t argmax_f32(const struct kernels *t, const float *x, size_t n)
{
	return t->argmax_f32(x, n);
}

static inline void power_spectra_f32(const struct kernels *t, float *dst, size_t ldd, const float *x,
                                     size_t lda, size_t m, size_t n, const double *window,
                                     const double *turns)
{
	t->power_spectra_f32(dst, ldd, x, lda, m, n, window, turns);
}

static inline void log10_f32(const struct kernels *t, float *x, size_t n, float floor, float log10_floor)
{
	t->log10_f32(x, n, floor, log10_floor);
}

static inline void sigmoid_f32(const struct kernels *t, float *x, size_t n) { t->sigmoid_f32(x, n); }

static inline void relu_f32(const struct kernels *t, float *x, size_t n) { t->relu_f32(x, n); }

static inline size_t peak_f32(const struct kernels *t, size_t turns) { return t->peak_f32(turns); }

static inline size_t peak_i8(const struct kernels *t, size_t turns) { return t->peak_i8(turns); }

static inline float peak_read(const struct kernels *t, const float *x, size_t n)
{
	return t->peak_read(x, n);
}

#endif
