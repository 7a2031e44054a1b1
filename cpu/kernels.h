// The kernels that Go calls. The Go side has checked lengths and bounds; nothing
// here allocates, blocks or keeps a pointer, and no alignment is needed. The Go
// twins (*_generic.go) are the definition.

#ifndef EARSHOT_KERNELS_H
#define EARSHOT_KERNELS_H

#include <stddef.h>

// Whether the processor and the system have AVX2 and FMA.
int has_avx2(void);

// The kernels of one tier that the jobs of a pool are made of.
struct kernels {
	void (*gemm_f32)(float *dst, size_t ldd, const float *a, size_t lda, size_t m,
	                 const float *w, size_t kcap, size_t n0, size_t n, size_t k,
	                 const float *bias);
	void (*layer_norm_f32)(float *dst, const float *x, const float *gamma, const float *beta,
	                       size_t n, float eps);
	void (*gelu_f32)(float *x, size_t n);
	void (*add_f32)(float *dst, const float *x, size_t n);
	void (*scale_f32)(float *x, size_t n, float s);
	float (*exp_sum_f32)(float *x, size_t n);
};

#define DECLARE(tier)                                                                      \
	void gemm_f32_##tier(float *dst, size_t ldd, const float *a, size_t lda, size_t m,     \
	                     const float *w, size_t kcap, size_t n0, size_t n, size_t k,       \
	                     const float *bias);                                               \
	void softmax_f32_##tier(float *x, size_t n);                                           \
	float exp_sum_f32_##tier(float *x, size_t n);                                          \
	void layer_norm_f32_##tier(float *dst, const float *x, const float *gamma,             \
	                           const float *beta, size_t n, float eps);                    \
	void gelu_f32_##tier(float *x, size_t n);                                              \
	void add_f32_##tier(float *dst, const float *x, size_t n);                             \
	void scale_f32_##tier(float *x, size_t n, float s);                                    \
	size_t argmax_f32_##tier(const float *x, size_t n);                                    \
	extern const struct kernels kernels_##tier;

DECLARE(avx2)
DECLARE(neon)

#undef DECLARE

#endif
