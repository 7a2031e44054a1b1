//go:build amd64 || arm64

// sums[j] = Σ_c a[c]·u[j,c] for the 32 rows of a pair of panels of nibbles (SplitI8 in
// Go); c runs to the stride, a multiple of 8
//
// Nibbles are small and have no sign, so that many products fit 16 bits where there
// is no instruction that adds up to 32.

#include "kernels.h"
#include "vec_i8.h"

#define LINE (PANEL * GROUP) // bytes of a group: 64 nibbles of each panel

// How far ahead a plane is fetched, which mostly comes from memory.
#define AHEAD 4096

#if defined(__aarch64__)
#define AS_BYTES(v) vreinterpretq_s8_s32(v)
typedef int8x16_t group;
#else
#define AS_BYTES(v) (v)
typedef vi group;
#endif

// A group of activations, the same in every lane.
INLINE group load_group(const int8_t *p)
{
	int32_t x;
	memcpy(&x, p, GROUP);
	return AS_BYTES(SPLAT_INT(x));
}

#if defined(__x86_64__)

#define HALVES (PANEL / LANES)

#if defined(EARSHOT_AVX512)
#define LOAD_BYTES(p) _mm512_loadu_si512(p)
#define LOW_NIBBLES(v) _mm512_and_si512(v, _mm512_set1_epi8(15))
#define HIGH_NIBBLES(v) LOW_NIBBLES(_mm512_srli_epi16(v, 4))
#define ADD_INT(a, b) _mm512_add_epi32(a, b)
#define ADD_SHORT(a, b) _mm512_add_epi16(a, b)
#define PAIR_PRODUCTS(u, a) _mm512_maddubs_epi16(u, a)
#define WIDEN(v) _mm512_madd_epi16(v, _mm512_set1_epi16(1))
#else
#define LOAD_BYTES(p) _mm256_loadu_si256((const vi *)(p))
#define LOW_NIBBLES(v) _mm256_and_si256(v, _mm256_set1_epi8(15))
#define HIGH_NIBBLES(v) LOW_NIBBLES(_mm256_srli_epi16(v, 4))
#define ADD_INT(a, b) _mm256_add_epi32(a, b)
#define ADD_SHORT(a, b) _mm256_add_epi16(a, b)
#define PAIR_PRODUCTS(u, a) _mm256_maddubs_epi16(u, a)
#define WIDEN(v) _mm256_madd_epi16(v, _mm256_set1_epi16(1))
#endif

// Groups whose products are added in 16 bits: 8·2·15·127 fits. With a dot product
// instruction they are added in 32 as they come.
#if defined(EARSHOT_VNNI)
#define RUN 1
#define ADD_PRODUCTS(sum, u, a) _mm512_dpbusd_epi32(sum, u, a)
#define ADD_RUN(sum, run) (run)
#else
#define RUN 8
#define ADD_PRODUCTS(sum, u, a) ADD_SHORT(sum, PAIR_PRODUCTS(u, a))
#define ADD_RUN(sum, run) ADD_INT(sum, WIDEN(run))
#endif

// The next groups, at most RUN of them, for every sum.
INLINE void add_run(vi *sum, const int8_t *a, const uint8_t *plane, size_t groups)
{
	vi run[2 * HALVES];
	for (int s = 0; s < 2 * HALVES; s++)
		run[s] = RUN == 1 ? sum[s] : SPLAT_INT(0);
	for (size_t g = 0; g < groups; g++) {
		const group x = load_group(a + g * GROUP);
		__builtin_prefetch(plane + g * LINE + AHEAD);
		for (int h = 0; h < HALVES; h++) {
			const vi both = LOAD_BYTES(plane + g * LINE + h * LANES * GROUP);
			run[h] = ADD_PRODUCTS(run[h], LOW_NIBBLES(both), x);
			run[HALVES + h] = ADD_PRODUCTS(run[HALVES + h], HIGH_NIBBLES(both), x);
		}
	}
	for (int s = 0; s < 2 * HALVES; s++)
		sum[s] = ADD_RUN(sum[s], run[s]);
}

TARGET void TIER(nibble_sums)(int32_t *sums, const int8_t *a, const uint8_t *plane, size_t stride)
{
	const size_t groups = stride / GROUP, whole = groups / RUN * RUN;
	vi sum[2 * HALVES];

	for (int s = 0; s < 2 * HALVES; s++)
		sum[s] = SPLAT_INT(0);
	for (size_t g = 0; g < whole; g += RUN)
		add_run(sum, a + g * GROUP, plane + g * LINE, RUN);
	add_run(sum, a + whole * GROUP, plane + whole * LINE, groups - whole);
	for (int s = 0; s < 2 * HALVES; s++)
		STORE_INT(sums + s * LANES, sum[s]);
}

#elif defined(EARSHOT_DOTPROD)

TARGET void TIER(nibble_sums)(int32_t *sums, const int8_t *a, const uint8_t *plane, size_t stride)
{
	const uint8x16_t mask = vdupq_n_u8(15);
	int32x4_t sum[2 * PANEL / LANES];

	for (int s = 0; s < 2 * PANEL / LANES; s++)
		sum[s] = SPLAT_INT(0);
	for (size_t c = 0; c < stride; c += GROUP, plane += LINE) {
		const group x = load_group(a + c);
		__builtin_prefetch(plane + AHEAD);
		for (int h = 0; h < PANEL / LANES; h++) {
			const uint8x16_t both = vld1q_u8(plane + h * LANES * GROUP);
			sum[h] = vdotq_s32(sum[h], vreinterpretq_s8_u8(vandq_u8(both, mask)), x);
			sum[PANEL / LANES + h] = vdotq_s32(sum[PANEL / LANES + h], vreinterpretq_s8_u8(vshrq_n_u8(both, 4)), x);
		}
	}
	for (int s = 0; s < 2 * PANEL / LANES; s++)
		STORE_INT(sums + s * LANES, sum[s]);
}

#else

// Groups whose products are added in 16 bits: 16·15·127 fits.
#define RUN 16

typedef struct {
	int16x8_t left, right;
} run;

INLINE run add_products(run r, int8x16_t u, group x)
{
	return (run){vmlal_s8(r.left, vget_low_s8(u), vget_low_s8(x)), vmlal_high_s8(r.right, u, x)};
}

// Two rows' halves in each of left and right: pairs, and then pairs of pairs.
INLINE int32x4_t add_run(int32x4_t sum, run r)
{
	return vaddq_s32(sum, vpaddq_s32(vpaddlq_s16(r.left), vpaddlq_s16(r.right)));
}

// Four rows of each panel at a time: more sums would not stay in registers. A pair of
// panels stays in the first-level cache meanwhile.
TARGET void TIER(nibble_sums)(int32_t *sums, const int8_t *a, const uint8_t *plane, size_t stride)
{
	const uint8x16_t mask = vdupq_n_u8(15);

	for (int h = 0; h < PANEL / LANES; h++, plane += LANES * GROUP) {
		int32x4_t first = SPLAT_INT(0), second = first;
		for (size_t from = 0; from < stride; from += RUN * GROUP) {
			run low = {vdupq_n_s16(0), vdupq_n_s16(0)}, high = low;
			for (size_t c = from; c < stride && c < from + RUN * GROUP; c += GROUP) {
				const group x = load_group(a + c);
				const uint8x16_t both = vld1q_u8(plane + c / GROUP * LINE);
				if (h == 0)
					__builtin_prefetch(plane + c / GROUP * LINE + AHEAD);
				low = add_products(low, vreinterpretq_s8_u8(vandq_u8(both, mask)), x);
				high = add_products(high, vreinterpretq_s8_u8(vshrq_n_u8(both, 4)), x);
			}
			first = add_run(first, low);
			second = add_run(second, high);
		}
		STORE_INT(sums + h * LANES, first);
		STORE_INT(sums + PANEL + h * LANES, second);
	}
}

#endif
