// Sums of products of signed bytes, four to a lane of 32 bits, for the int8 kernels:
// what is called a dot product instruction where there is one. As many lanes as
// vec_f32.h has.
//
// Weights may be any bytes; activations are never −128. dot adds to the sums of
// LANES columns and a row (or TOGETHER rows) the products of activations with
// weights + WEIGHT_BIAS, for the next DEPTH of what is summed over. Where PREPARED is
// not 1, it wants activations in another form, of PREPARED bytes each.

#ifndef EARSHOT_VEC_I8_H
#define EARSHOT_VEC_I8_H

#include "vec_f32.h"

#include <stdint.h>

#define PANEL 16
#define GROUP 4 // neighbouring bytes of a row of weights; the row's next ones are in the next group
#define WEIGHT_BIAS 0
#define PREPARED 1

#if defined(EARSHOT_AVX512)

typedef __m512i vi;

#define SPLAT_INT(x) _mm512_set1_epi32(x)
#define TO_FLOAT(v) _mm512_cvtepi32_ps(v)
#define ROUND_INT(v) _mm512_cvtps_epi32(v) // to nearest, ties to even
#define MAX_INT(a, b) _mm512_max_epi32(a, b)
#define MAGNITUDE_BITS(v) _mm512_and_si512(_mm512_castps_si512(v), SPLAT_INT(INT32_MAX))
#define STORE_INT(p, v) _mm512_storeu_si512(p, v)

// The lanes, all within −128…127, as bytes.
INLINE void store_bytes(int8_t *p, vi v) { _mm_storeu_si128((__m128i *)p, _mm512_cvtsepi32_epi8(v)); }

#if defined(EARSHOT_VNNI)

// The instruction wants one operand unsigned: the weights, by flipping their sign.
#undef WEIGHT_BIAS
#define WEIGHT_BIAS 128

typedef vi weights;

INLINE weights load_weights(const int8_t *p)
{
	return _mm512_xor_si512(_mm512_loadu_si512(p), _mm512_set1_epi8(-128));
}

#define dot(sum, w, a) _mm512_dpbusd_epi32(sum, w, a)

#else

// There is only a product of unsigned with signed bytes: |w| times a, whose sign is
// turned under a mask where w < 0. A pair of products, at most 2·128·127, fits the 16
// bits that it is summed in.
typedef struct {
	vi abs;
	__mmask64 negative;
} weights;

INLINE weights load_weights(const int8_t *p)
{
	vi w = _mm512_loadu_si512(p);
	return (weights){_mm512_abs_epi8(w), _mm512_movepi8_mask(w)};
}

INLINE vi dot(vi sum, weights w, vi a)
{
	vi signed_a = _mm512_mask_sub_epi8(a, w.negative, _mm512_setzero_si512(), a);
	vi pairs = _mm512_maddubs_epi16(w.abs, signed_a);
	return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
}

#endif

#elif defined(__x86_64__)

typedef __m256i vi;

#define SPLAT_INT(x) _mm256_set1_epi32(x)
#define TO_FLOAT(v) _mm256_cvtepi32_ps(v)
#define ROUND_INT(v) _mm256_cvtps_epi32(v)
#define MAX_INT(a, b) _mm256_max_epi32(a, b)
#define MAGNITUDE_BITS(v) _mm256_and_si256(_mm256_castps_si256(v), SPLAT_INT(INT32_MAX))
#define STORE_INT(p, v) _mm256_storeu_si256((vi *)(p), v)

INLINE void store_bytes(int8_t *p, vi v)
{
	__m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
	_mm_storel_epi64((__m128i *)p, _mm_packs_epi16(words, words));
}

#include "dot_avx2.h"

#elif defined(__aarch64__)

typedef int32x4_t vi;

#define SPLAT_INT(x) vdupq_n_s32(x)
#define TO_FLOAT(v) vcvtq_f32_s32(v)
#define ROUND_INT(v) vcvtnq_s32_f32(v)
#define MAX_INT(a, b) vmaxq_s32(a, b)
#define MAGNITUDE_BITS(v) vandq_s32(vreinterpretq_s32_f32(v), SPLAT_INT(INT32_MAX))
#define STORE_INT(p, v) vst1q_s32(p, v)

INLINE void store_bytes(int8_t *p, vi v)
{
	int16x4_t words = vmovn_s32(v);
	int8x8_t bytes = vmovn_s16(vcombine_s16(words, words));
	memcpy(p, &bytes, LANES);
}

#include "dot_arm.h"

#endif

#if defined(__x86_64__)

// One group of columns, the same in every lane.
#define DEPTH GROUP
#define TOGETHER 1

typedef vi sums;

#define START(x) SPLAT_INT(x)
#define sums_of_row(s, row) (s)

INLINE vi splat_group(const int8_t *p)
{
	int32_t group;
	memcpy(&group, p, GROUP);
	return SPLAT_INT(group);
}

#if PREPARED == 2
#define load_activations(p, next) ((activations){splat_group(p), splat_group((p) + GROUP)})
#else
typedef vi activations;
#define load_activations(p, next) splat_group(p)
#endif

#endif

#if PREPARED == 1

#define PREPARED_SLACK 0

// What the sums of a row start at, to make up for the bias of the weights.
INLINE int32_t prepare(int8_t *dst, const int8_t *a, size_t stride)
{
	int32_t sum = 0;
	(void)dst;
	for (size_t c = 0; c < stride; c++)
		sum += a[c];
	return -WEIGHT_BIAS * sum;
}

#endif

#endif
