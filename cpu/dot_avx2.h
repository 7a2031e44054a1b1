// Products of bytes in AVX2, for vec_i8.h.
//
// There is only a product of unsigned with signed bytes. It takes |a|, and w with all
// its bits turned where a < 0: that is −w − 1, so that a sum lacks |a| for each such a,
// whatever the weights are. To turn bits is one of four instructions for 32 products
// and runs on any port; to give a the sign of w, as usual, is slower on Zen 3, and
// needs |w| as well. A pair of products, at most 2·127·128, fits the 16 bits that it is
// summed in.

// A prepared group is |a| of its columns, then −1 where a < 0 and else 0.
#undef PREPARED
#define PREPARED 2

typedef struct {
	vi abs, negative;
} activations;

typedef vi weights;

#define load_weights(p) _mm256_loadu_si256((const vi *)(p))

INLINE vi dot(vi sum, weights w, activations a)
{
	vi pairs = _mm256_maddubs_epi16(a.abs, _mm256_xor_si256(w, a.negative));
	sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
	// Keeps gcc from interleaving so much that sums go to memory.
	__asm__("" : "+x"(sum));
	return sum;
}

#define PREPARED_SLACK 16 // bytes that may be written behind a prepared row

// Prepares a row of activations and returns what its sums start at.
INLINE int32_t prepare(int8_t *dst, const int8_t *a, size_t stride)
{
	const vi zero = SPLAT_INT(0);
	vi lacking = zero;

	for (size_t c = 0; c < stride; c += 4 * GROUP) {
		const __m128i *p = (const __m128i *)(a + c);
		__m128i bytes = c + 4 * GROUP <= stride ? _mm_loadu_si128(p) : _mm_loadl_epi64(p);
		vi groups = _mm256_cvtepu32_epi64(bytes); // each with room behind it
		vi abs = _mm256_abs_epi8(groups), negative = _mm256_cmpgt_epi8(zero, groups);
		lacking = _mm256_add_epi64(lacking, _mm256_sad_epu8(_mm256_and_si256(abs, negative), zero));
		STORE_INT(dst + c * PREPARED, _mm256_or_si256(abs, _mm256_slli_epi64(negative, 32)));
	}
	int64_t part[4];
	STORE_INT(part, lacking);
	return (int32_t)(part[0] + part[1] + part[2] + part[3]);
}
