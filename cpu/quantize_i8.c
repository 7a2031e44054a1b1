//go:build amd64 || arm64

// scales[i] = max_c |r[c]| / 127, dst[i*stride+c] = round(r[c]·(127/max)), ties to even,
// zeros between k and stride; r is x[i*ldx…], k values, rotated: r[c], r[c+s] =
// r[c]+r[c+s], r[c]−r[c+s] for s = 16, 32, 64 … as long as k is a multiple of 2s, where
// k is at most MOST_ROTATED. All tiers add the same numbers.

#include "kernels.h"
#include "vec_i8.h"

#define SMALLEST_MAX 1e-36f // 127 divided by it is finite

// The first s: the width of the widest vector.
#define NEAREST 16
#define MOST_ROTATED 8192

// The rotation for s = stride up to radix/2·stride, from x into t, which may be x.
// Sums of several s at once spare loads and stores, which cost more than they do.
INLINE void butterflies(const int radix, float *t, const float *x, size_t stride, size_t k)
{
	for (size_t run = 0; run < k; run += radix * stride)
		for (size_t c = run; c < run + stride; c += LANES) {
			vf v[8];
#pragma GCC unroll 8
			for (int i = 0; i < radix; i++)
				v[i] = LOAD(x + c + i * stride);
#pragma GCC unroll 3
			for (int s = 1; s < radix; s *= 2)
#pragma GCC unroll 8
				for (int i = 0; i < radix; i++)
					if (!(i & s)) {
						vf a = v[i], b = v[i + s];
						v[i] = ADD(a, b);
						v[i + s] = SUB(a, b);
					}
#pragma GCC unroll 8
			for (int i = 0; i < radix; i++)
				STORE(t + c + i * stride, v[i]);
		}
}

// Returns x where it is not to be rotated.
TARGET static const float *rotate(float *t, const float *x, size_t k)
{
	size_t stride = NEAREST;

	if (k == 0 || k > MOST_ROTATED)
		return x;
	for (; k % (8 * stride) == 0; stride *= 8, x = t)
		butterflies(8, t, x, stride, k);
	if (k % (4 * stride) == 0)
		butterflies(4, t, x, stride, k);
	else if (k % (2 * stride) == 0)
		butterflies(2, t, x, stride, k);
	else
		return x;
	return t;
}

// The largest magnitude of k values, infinity or NaN if there is one. Magnitudes
// compare as their bits do, so that no NaN is lost.
INLINE float largest(const float *x, size_t k)
{
	vi top = SPLAT_INT(0);
	size_t c = 0;
	for (; c + LANES <= k; c += LANES)
		top = MAX_INT(top, MAGNITUDE_BITS(LOAD(x + c)));
	if (c < k)
		top = MAX_INT(top, MAGNITUDE_BITS(load_tail(x + c, k - c, 0)));

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
	x = rotate(t, x, k);
	const float max = largest(x, k);
	const int finite = max < INFINITY;

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
