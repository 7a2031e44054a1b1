// The kernels that Go calls. The Go side has checked lengths and bounds; nothing
// here allocates, blocks or keeps a pointer, and no alignment is needed. The Go
// twins (*_generic.go) are the definition.

#ifndef EARSHOT_KERNELS_H
#define EARSHOT_KERNELS_H

#include <stddef.h>
#include <stdint.h>

// The most columns of a product of bytes; a row of them has room on the stack.
#define MAX_COLUMNS_I8 (1 << 16)

// One tier: every kernel for one instruction set.
struct kernels {
	const char *name;
	void (*gemm_f32)(float *dst, size_t ldd, const float *a, size_t lda, size_t m, const float *w,
	                 size_t kcap, size_t n0, size_t n, size_t k, const float *bias);
	void (*gemm_f16)(float *dst, size_t ldd, const float *a, size_t lda, size_t m, const uint16_t *w,
	                 size_t kcap, size_t n0, size_t n, size_t k, const float *bias);
	void (*round_f16)(uint16_t *dst, const float *x, size_t n);
	void (*gemm_i8)(float *dst, size_t ldd, const int8_t *a, const float *ascale, size_t m,
	                const int8_t *w, const float *wscale, size_t n0, size_t n, size_t stride,
	                const float *bias);
	void (*quantize_i8)(int8_t *dst, size_t stride, float *scales, const float *x, size_t ldx,
	                    size_t m, size_t k);
	void (*nibble_sums)(int32_t *sums, const int8_t *a, const uint8_t *plane, size_t stride);
	void (*softmax_f32)(float *x, size_t n);
	float (*exp_sum_f32)(float *x, size_t n);
	float (*log_sum_exp_f32)(const float *x, size_t n);
	void (*layer_norm_f32)(float *dst, const float *x, const float *gamma, const float *beta,
	                       size_t n, float eps);
	void (*gelu_f32)(float *x, size_t n);
	void (*add_f32)(float *dst, const float *x, size_t n);
	void (*scale_f32)(float *x, size_t n, float s);
	size_t (*argmax_f32)(const float *x, size_t n);
	void (*power_spectra_f32)(float *dst, size_t ldd, const float *x, size_t lda, size_t m, size_t n,
	                          const double *window, const double *turns);
	void (*log10_f32)(float *x, size_t n, float floor, float log10_floor);
	void (*sigmoid_f32)(float *x, size_t n);
	void (*relu_f32)(float *x, size_t n);
	size_t (*peak_f32)(size_t turns);
	size_t (*peak_i8)(size_t turns);
	float (*peak_read)(const float *x, size_t n);
};

static inline size_t min(size_t a, size_t b) { return a < b ? a : b; }

// The tiers that this machine can run, the best last.
const struct kernels *const *native_tiers(size_t *count);

#define DECLARE(tier)                                                                       \
	void gemm_f32_##tier(float *dst, size_t ldd, const float *a, size_t lda, size_t m,      \
	                     const float *w, size_t kcap, size_t n0, size_t n, size_t k,        \
	                     const float *bias);                                                \
	void gemm_f16_##tier(float *dst, size_t ldd, const float *a, size_t lda, size_t m,      \
	                     const uint16_t *w, size_t kcap, size_t n0, size_t n, size_t k,     \
	                     const float *bias);                                                \
	void round_f16_##tier(uint16_t *dst, const float *x, size_t n);                         \
	void gemm_i8_##tier(float *dst, size_t ldd, const int8_t *a, const float *ascale,       \
	                    size_t m, const int8_t *w, const float *wscale, size_t n0,          \
	                    size_t n, size_t stride, const float *bias);                        \
	void quantize_i8_##tier(int8_t *dst, size_t stride, float *scales, const float *x,      \
	                        size_t ldx, size_t m, size_t k);                                \
	void nibble_sums_##tier(int32_t *sums, const int8_t *a, const uint8_t *plane,           \
	                        size_t stride);                                                 \
	void softmax_f32_##tier(float *x, size_t n);                                            \
	float exp_sum_f32_##tier(float *x, size_t n);                                           \
	float log_sum_exp_f32_##tier(const float *x, size_t n);                                 \
	void layer_norm_f32_##tier(float *dst, const float *x, const float *gamma,              \
	                           const float *beta, size_t n, float eps);                     \
	void gelu_f32_##tier(float *x, size_t n);                                               \
	void add_f32_##tier(float *dst, const float *x, size_t n);                              \
	void scale_f32_##tier(float *x, size_t n, float s);                                     \
	size_t argmax_f32_##tier(const float *x, size_t n);                                     \
	void power_spectra_f32_##tier(float *dst, size_t ldd, const float *x, size_t lda,       \
	                              size_t m, size_t n, const double *window,                 \
	                              const double *turns);                                     \
	void log10_f32_##tier(float *x, size_t n, float floor, float log10_floor);              \
	void sigmoid_f32_##tier(float *x, size_t n);                                            \
	void relu_f32_##tier(float *x, size_t n);                                               \
	size_t peak_f32_##tier(size_t turns);                                                   \
	size_t peak_i8_##tier(size_t turns);                                                    \
	float peak_read_##tier(const float *x, size_t n);

DECLARE(avx2)
DECLARE(avx512)
DECLARE(avx512vnni)
DECLARE(neon)
DECLARE(dotprod)
DECLARE(i8mm)

#undef DECLARE

#endif
