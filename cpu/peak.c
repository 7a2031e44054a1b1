//go:build amd64 || arm64

// What a core can do at most, to compare the kernels with: multiply-adds on
// registers alone, and reading memory that no cache holds.

#include "kernels.h"
#include "vec_f32.h"

#include <stdint.h>

// Sums that do not wait for each other, enough to hide the latency of a
// multiply-add: 4 cycles, two a cycle.
#define SUMS 10

// The compiler may not know what is in v, so that no turn of a loop is like another.
#if defined(HIDE) // scripts/test-avx512
#elif defined(__x86_64__)
#define HIDE(v) __asm__ volatile("" : "+x"(v))
#else
#define HIDE(v) __asm__ volatile("" : "+w"(v))
#endif

// Returns the operations done: two for each product and its sum.
TARGET size_t TIER(peak_f32)(size_t turns)
{
	vf sum[SUMS], a = SPLAT(0.5f), b = SPLAT(1);

	HIDE(a);
	HIDE(b);
#pragma GCC unroll 16
	for (int i = 0; i < SUMS; i++)
		sum[i] = a;
	for (size_t t = 0; t < turns; t++)
#pragma GCC unroll 16
		for (int i = 0; i < SUMS; i++) {
			sum[i] = MUL_ADD(sum[i], a, b);
			HIDE(sum[i]);
		}
	return turns * SUMS * LANES * 2;
}

// products adds PRODUCTS of two bytes to each lane of sum, with the instructions of
// the tier that do so fastest.
#if defined(EARSHOT_I8MM)
#define PRODUCTS 8
#else
#define PRODUCTS 4
#endif

#if defined(EARSHOT_VNNI)

typedef __m512i vi;

INLINE vi products(vi sum, vi a, vi b) { return _mm512_dpbusd_epi32(sum, a, b); }

#elif defined(EARSHOT_AVX512)

typedef __m512i vi;

INLINE vi products(vi sum, vi a, vi b)
{
	return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1)));
}

#elif defined(__x86_64__)

typedef __m256i vi;

INLINE vi products(vi sum, vi a, vi b)
{
	return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
}

#elif defined(EARSHOT_I8MM)

typedef int32x4_t vi;

INLINE vi products(vi sum, vi a, vi b)
{
	return vmmlaq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
}

#elif defined(EARSHOT_DOTPROD)

typedef int32x4_t vi;

INLINE vi products(vi sum, vi a, vi b)
{
	return vdotq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
}

#else

typedef int32x4_t vi;

INLINE vi products(vi sum, vi a, vi b)
{
	int8x16_t x = vreinterpretq_s8_s32(a), y = vreinterpretq_s8_s32(b);
	return vpadalq_s16(sum, vmlal_high_s8(vmull_s8(vget_low_s8(x), vget_low_s8(y)), x, y));
}

#endif

// Returns the operations done.
TARGET size_t TIER(peak_i8)(size_t turns)
{
	vi sum[SUMS], a, b;

	memset(&a, 1, sizeof a);
	b = a;
	HIDE(b);
#pragma GCC unroll 16
	for (int i = 0; i < SUMS; i++)
		sum[i] = a;
	for (size_t t = 0; t < turns; t++)
#pragma GCC unroll 16
		for (int i = 0; i < SUMS; i++) {
			HIDE(a); // or all of a turn's products are one
			sum[i] = products(sum[i], a, b);
			HIDE(sum[i]);
		}
	return turns * SUMS * LANES * PRODUCTS * 2;
}

// The sum of n values, a multiple of 8·LANES.
TARGET float TIER(peak_read)(const float *x, size_t n)
{
	vf sum[8];

#pragma GCC unroll 8
	for (int i = 0; i < 8; i++)
		sum[i] = SPLAT(0);
	for (const float *end = x + n; x < end; x += 8 * LANES)
#pragma GCC unroll 8
		for (int i = 0; i < 8; i++)
			sum[i] = ADD(sum[i], LOAD(x + i * LANES));
#pragma GCC unroll 8
	for (int i = 1; i < 8; i++)
		sum[0] = ADD(sum[0], sum[i]);
	return sum_lanes(sum[0]);
}
