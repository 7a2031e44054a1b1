//go:build amd64 || arm64

// Sums, products and maxima of rows. The plain loops are vectorised by the compiler.

#include "kernels.h"
#include "vec_f32.h"

// dst[i] += x[i]
TARGET void TIER(add_f32)(float *dst, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		dst[i] += x[i];
}

// x[i] *= s
TARGET void TIER(scale_f32)(float *x, size_t n, float s)
{
	for (size_t i = 0; i < n; i++)
		x[i] *= s;
}

#define BLOCK (32 * LANES)

// The largest value of one block, −Inf if it has no other number.
INLINE float block_max(const float *x)
{
	vf top[4] = {SPLAT(-INFINITY), SPLAT(-INFINITY), SPLAT(-INFINITY), SPLAT(-INFINITY)};
	for (int i = 0; i < BLOCK; i += 4 * LANES)
		for (int c = 0; c < 4; c++)
			top[c] = MAX_NUM(LOAD(x + i + c * LANES), top[c]);
	return max_lanes(MAX_NUM(MAX_NUM(top[0], top[1]), MAX_NUM(top[2], top[3])));
}

// The first i whose x[i] is the largest number, n if there is none. Whole blocks
// are passed over unless they hold something larger than all before.
TARGET size_t TIER(argmax_f32)(const float *x, size_t n)
{
	size_t best = n;
	for (size_t i = 0; i < n; i += BLOCK) {
		const size_t end = i + BLOCK < n ? i + BLOCK : n;
		if (best < n && end == i + BLOCK && !(block_max(x + i) > x[best]))
			continue;
		for (size_t j = i; j < end; j++)
			if (x[j] == x[j] && (best == n || x[j] > x[best]))
				best = j;
	}
	return best;
}
