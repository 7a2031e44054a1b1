// A vector of floats in the few operations that the float32 kernels need. Each
// kernel's file is compiled once as it is, for the architecture's first tier (AVX2
// with FMA, or NEON), and is included once more by the files of the tiers above,
// which say by a macro what they are (avx512*.c, dotprod.c, i8mm.c).
//
// What an architecture does not always have must be asked for by name, function by
// function (TARGET).

#ifndef EARSHOT_VEC_F32_H
#define EARSHOT_VEC_F32_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#if defined(EARSHOT_AVX512)

#include <immintrin.h>

#ifdef EARSHOT_VNNI
#define TIER(name) name##_avx512vnni
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#else
#define TIER(name) name##_avx512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#endif
#define LANES 16

typedef __m512 vf;

#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define LOAD_F16(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(p)))
#define STORE_F16(p, v) _mm256_storeu_si256((__m256i *)(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define SPLAT(x) _mm512_set1_ps(x)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define DIV(a, b) _mm512_div_ps(a, b)
#define MUL_ADD(a, b, c) _mm512_fmadd_ps(a, b, c)           // a·b + c, rounded once
#define SUB_MUL(c, a, b) _mm512_fnmadd_ps(a, b, c)          // c − a·b, rounded once
#define MUL_ADD_X(a, x, c) _mm512_fmadd_ps(a, SPLAT(x), c)  // the same, x a scalar
#define ROUND(v) _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

// The instruction returns its second operand where either is NaN.
#define MAX_NUM(v, m) _mm512_max_ps(v, m)                   // m where v is NaN
#define AT_LEAST(v, lo) _mm512_max_ps(lo, v)                // NaN where v is NaN
#define AT_MOST(v, hi) _mm512_min_ps(hi, v)                 // NaN where v is NaN
#define ZERO_WHERE_LESS(v, a, b) _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ), v)

// Lanes in fours: the first two of each with the last two, and each with its neighbour.
#define SWAP_PAIRS(v) _mm512_shuffle_ps(v, v, 0x4e)
#define SWAP_NEXT(v) _mm512_shuffle_ps(v, v, 0xb1)

// 2^n of integral values from −126 to 127.
#define POW2(n) _mm512_castsi512_ps(_mm512_slli_epi32( \
	_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23))

#elif defined(__x86_64__)

#include <immintrin.h>

#define TIER(name) name##_avx2
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define LANES 8

typedef __m256 vf;

#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define LOAD_F16(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p)))
#define STORE_F16(p, v) _mm_storeu_si128((__m128i *)(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT))
#define SPLAT(x) _mm256_set1_ps(x)
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define DIV(a, b) _mm256_div_ps(a, b)
#define MUL_ADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#define SUB_MUL(c, a, b) _mm256_fnmadd_ps(a, b, c)
#define MUL_ADD_X(a, x, c) _mm256_fmadd_ps(a, SPLAT(x), c)
#define ROUND(v) _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

#define MAX_NUM(v, m) _mm256_max_ps(v, m)
#define AT_LEAST(v, lo) _mm256_max_ps(lo, v)
#define AT_MOST(v, hi) _mm256_min_ps(hi, v)
#define ZERO_WHERE_LESS(v, a, b) _mm256_andnot_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ), v)

#define SWAP_PAIRS(v) _mm256_permute_ps(v, 0x4e)
#define SWAP_NEXT(v) _mm256_permute_ps(v, 0xb1)

#define POW2(n) _mm256_castsi256_ps(_mm256_slli_epi32( \
	_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23))

#elif defined(__aarch64__)

#include <arm_neon.h>

// Both extensions are parts of Armv8.2.
#if defined(EARSHOT_I8MM)
#define TIER(name) name##_i8mm
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod+i8mm")))
#elif defined(EARSHOT_DOTPROD)
#define TIER(name) name##_dotprod
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#else
#define TIER(name) name##_neon
#define TARGET
#endif
#define LANES 4

typedef float32x4_t vf;

#define LOAD(p) vld1q_f32(p)
#define STORE(p, v) vst1q_f32(p, v)
#define LOAD_F16(p) vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)))
#define STORE_F16(p, v) vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(v)))
#define SPLAT(x) vdupq_n_f32(x)
#define ADD(a, b) vaddq_f32(a, b)
#define SUB(a, b) vsubq_f32(a, b)
#define MUL(a, b) vmulq_f32(a, b)
#define DIV(a, b) vdivq_f32(a, b)
#define MUL_ADD(a, b, c) vfmaq_f32(c, a, b)
#define SUB_MUL(c, a, b) vfmsq_f32(c, a, b)
#define MUL_ADD_X(a, x, c) vfmaq_n_f32(c, a, x)
#define ROUND(v) vrndnq_f32(v)

#define MAX_NUM(v, m) vmaxnmq_f32(v, m)
#define AT_LEAST(v, lo) vmaxq_f32(v, lo)
#define AT_MOST(v, hi) vminq_f32(v, hi)
#define ZERO_WHERE_LESS(v, a, b) \
	vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(v), vcltq_f32(a, b)))

#define SWAP_PAIRS(v) vextq_f32(v, v, 2)
#define SWAP_NEXT(v) vrev64q_f32(v)

#define POW2(n) vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)), 23))

#endif

#define INLINE static inline __attribute__((always_inline)) TARGET

// The first n < LANES values at p, then fill.
INLINE vf load_tail(const float *p, size_t n, float fill)
{
	float part[LANES];
	STORE(part, SPLAT(fill));
	memcpy(part, p, n * sizeof *p);
	return LOAD(part);
}

INLINE void store_tail(float *p, size_t n, vf v)
{
	float part[LANES];
	STORE(part, v);
	memcpy(p, part, n * sizeof *p);
}

// The lanes' sum, in pairs of equal distance.
INLINE float sum_lanes(vf v)
{
	float part[LANES];
	STORE(part, v);
	for (int width = LANES / 2; width > 0; width /= 2)
		for (int i = 0; i < width; i++)
			part[i] += part[i + width];
	return part[0];
}

// The largest lane; no lane is NaN.
INLINE float max_lanes(vf v)
{
	float part[LANES];
	STORE(part, v);
	float top = part[0];
	for (int i = 1; i < LANES; i++)
		top = part[i] > top ? part[i] : top;
	return top;
}

#endif
