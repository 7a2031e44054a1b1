//go:build amd64 || arm64

// scales[i] = max_c |r[c]| / 127, dst[i*stride+c] = round(r[c]·(127/max)), ties to even,
// zeros between k and stride; r is x[i*ldx…], k values, rotated.

#include "kernels.h"
#include "rotate_i8.h"

#define SMALLEST_MAX 1e-36f // 127 divided by it is finite

// The largest magnitudes of k values.
INLINE vi largest(const float *x, size_t k)
{
	vi top = SPLAT_INT(0);
	size_t c = 0;
	for (; c + LANES <= k; c += LANES)
		top = MAX_INT(top, MAGNITUDE_BITS(LOAD(x + c)));
	if (c < k)
		top = MAX_INT(top, MAGNITUDE_BITS(load_tail(x + c, k - c, 0)));
	return top;
}

// The largest magnitude, infinity or NaN if there is one. Magnitudes compare as their bits
// do, so that no NaN is lost.
INLINE float largest_lane(vi top)
{
	int32_t bits[LANES];
	STORE_INT(bits, top);
	for (int i = 1; i < LANES; i++)
		bits[0] = bits[i] > bits[0] ? bits[i] : bits[0];
	float max;
	memcpy(&max, bits, sizeof max);
	return max;
}

TARGET static void quantize_row(int8_t *dst, size_t stride, float *scale, const float *x, size_t k)
{
	float t[MOST_ROTATED];
	const int rotated = ROTATED(k);
	const float max = largest_lane(rotated ? rotate(t, x, k) : largest(x, k));
	const int finite = max < INFINITY;

	if (rotated)
		x = t;
	memset(dst + k, 0, stride - k);
	if (!finite || max < SMALLEST_MAX) {
		memset(dst, 0, k);
		*scale = finite ? 0 : NAN;
		return;
	}
	*scale = max / 127;
	const float factor = 127 / max;
	size_t c = 0;
	for (; c + LANES <= k; c += LANES)
		store_bytes(dst + c, ROUND_INT(MUL(LOAD(x + c), SPLAT(factor))));
	if (c < k) {
		int8_t part[LANES];
		store_bytes(part, ROUND_INT(MUL(load_tail(x + c, k - c, 0), SPLAT(factor))));
		memcpy(dst + c, part, k - c);
	}
}

void TIER(quantize_i8)(int8_t *dst, size_t stride, float *scales, const float *x, size_t ldx,
                       size_t m, size_t k)
{
	for (size_t i = 0; i < m; i++)
		quantize_row(dst + i * stride, stride, scales + i, x + i * ldx, k);
}
