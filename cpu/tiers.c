//go:build amd64 || arm64

// The tables of kernels, and which of them this machine can run.

#include "kernels.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

// A tier whose int8 products, and those of nibbles, may be of others than the rest.
#define KERNELS(tier, products, nibbles)     \
	static const struct kernels products = { \
		#products,                           \
		gemm_f32_##tier,                     \
		gemm_f16_##tier,                     \
		round_f16_##tier,                    \
		gemm_i8_##products,                  \
		quantize_i8_##tier,                  \
		nibble_sums_##nibbles,               \
		softmax_f32_##tier,                  \
		exp_sum_f32_##tier,                  \
		log_sum_exp_f32_##tier,              \
		layer_norm_f32_##tier,               \
		gelu_f32_##tier,                     \
		add_f32_##tier,                      \
		scale_f32_##tier,                    \
		argmax_f32_##tier,                   \
		power_spectra_f32_##tier,            \
		log10_f32_##tier,                    \
		sigmoid_f32_##tier,                  \
		relu_f32_##tier,                     \
		peak_f32_##products,                 \
		peak_i8_##products,                  \
		peak_read_##products,                \
	};

#if defined(__x86_64__)

KERNELS(avx2, avx2, avx2)
KERNELS(avx512, avx512, avx512)
KERNELS(avx512, avx512vnni, avx512vnni)

static const struct kernels *const tiers[] = {&avx2, &avx512, &avx512vnni};

// What the processor has and the system saves.
static size_t supported(void)
{
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
	    !__builtin_cpu_supports("f16c"))
		return 0;
	if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
	    !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq"))
		return 1;
	if (!__builtin_cpu_supports("avx512vnni"))
		return 2;
	return 3;
}

#elif defined(__aarch64__)

KERNELS(neon, neon, neon)
KERNELS(neon, dotprod, dotprod)
KERNELS(neon, i8mm, dotprod)

static const struct kernels *const tiers[] = {&neon, &dotprod, &i8mm};

// What the kernel says that the processor has: a Cortex-A53 neither, A55, A76 and A78
// dot products.
static size_t supported(void)
{
	if (!(getauxval(AT_HWCAP) & HWCAP_ASIMDDP))
		return 1;
	if (!(getauxval(AT_HWCAP2) & HWCAP2_I8MM))
		return 2;
	return 3;
}

#endif

const struct kernels *const *native_tiers(size_t *count)
{
	*count = supported();
	return tiers;
}
