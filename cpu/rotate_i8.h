// The rotation of a row before it becomes int8, as rotateI8 in Go defines it: for
// each s = 1, 4, 16 … and each c that is the first of n values s apart,
//
//	x[c+i·s] −= 2/n · Σ_j x[c+j·s]
//
// first with n = 4, then once with n = 3. All tiers add the same numbers in the same
// order.

#ifndef EARSHOT_ROTATE_I8_H
#define EARSHOT_ROTATE_I8_H

#include "vec_i8.h"

#define MOST_ROTATED 8192

// What s = 1 and s = 4 mix, and how many vectors that is.
#define NEAR 16
#define NEAR_VECTORS (NEAR / LANES)

INLINE void mix_four(vf *a, vf *b, vf *c, vf *d)
{
	vf half = MUL(ADD(ADD(*a, *c), ADD(*b, *d)), SPLAT(0.5f));
	*a = SUB(*a, half);
	*b = SUB(*b, half);
	*c = SUB(*c, half);
	*d = SUB(*d, half);
}

INLINE void mix_three(vf *a, vf *b, vf *c)
{
	vf most = MUL(ADD(ADD(*a, *b), *c), SPLAT(2.0f / 3));
	*a = SUB(*a, most);
	*b = SUB(*b, most);
	*c = SUB(*c, most);
}

// s = 1 and s = 4 for 16 values.
INLINE void mix_near(vf *v)
{
#pragma GCC unroll 4
	for (int i = 0; i < NEAR_VECTORS; i++) {
		vf pairs = ADD(v[i], SWAP_PAIRS(v[i]));
		v[i] = SUB(v[i], MUL(ADD(pairs, SWAP_NEXT(pairs)), SPLAT(0.5f)));
	}
#if LANES == 4
	mix_four(v, v + 1, v + 2, v + 3);
#elif LANES == 8
	vf pairs = ADD(v[0], v[1]);
	vf half = MUL(ADD(pairs, _mm256_permute2f128_ps(pairs, pairs, 1)), SPLAT(0.5f));
	v[0] = SUB(v[0], half);
	v[1] = SUB(v[1], half);
#else
	vf pairs = ADD(v[0], _mm512_shuffle_f32x4(v[0], v[0], 0x4e));
	v[0] = SUB(v[0], MUL(ADD(pairs, _mm512_shuffle_f32x4(pairs, pairs, 0xb1)), SPLAT(0.5f)));
#endif
}

// One pass from x into t, which may be x, that mixes what is near or not, then fours of
// s = stride or not, then threes or not: several at once spare loads and stores, which cost
// as much. Returns the largest magnitudes, for the last pass.
INLINE vi mix(const int near, const int fours, const int threes, float *t, const float *x,
              size_t stride, size_t k, int last)
{
	const int n = fours * threes, width = near ? NEAR_VECTORS : 1;
	vi top = SPLAT_INT(0);

	for (size_t run = 0; run < k; run += n * stride)
		for (size_t c = run; c < run + stride; c += width * LANES) {
			vf v[16]; // at i·stride: v[i·width] and those behind it
#pragma GCC unroll 16
			for (int i = 0; i < n * width; i++)
				v[i] = LOAD(x + c + i / width * stride + i % width * LANES);
			if (near)
#pragma GCC unroll 4
				for (int i = 0; i < n; i++)
					mix_near(v + i * width);
			if (fours == 4)
#pragma GCC unroll 4
				for (int i = 0; i < width * threes; i++) {
					vf *a = v + i / width * 4 * width + i % width;
					mix_four(a, a + width, a + 2 * width, a + 3 * width);
				}
			if (threes == 3)
#pragma GCC unroll 4
				for (int i = 0; i < fours; i++)
					mix_three(v + i, v + i + fours, v + i + 2 * fours);
#pragma GCC unroll 16
			for (int i = 0; i < n * width; i++)
				STORE(t + c + i / width * stride + i % width * LANES, v[i]);
			if (last)
#pragma GCC unroll 16
				for (int i = 0; i < n * width; i++)
					top = MAX_INT(top, MAGNITUDE_BITS(v[i]));
		}
	return top;
}

#define ROTATED(k) ((k) > 0 && (k) % NEAR == 0 && (k) <= MOST_ROTATED)

// Rotates x, of ROTATED(k) values, into t and returns the largest magnitudes.
TARGET static vi rotate(float *t, const float *x, size_t k)
{
	size_t s = NEAR, left = k / NEAR; // values s apart are left to be mixed
	vi top;

	if (left % 4 == 0) {
		left /= 4;
		top = mix(1, 4, 1, t, x, s, k, left % 4 && left % 3);
		s *= 4;
	} else {
		top = mix(1, 1, 1, t, x, s, k, left % 3);
	}
	for (; left % 4 == 0; left /= 4, s *= 4) {
		if (left % 16 && left % 3 == 0)
			return mix(0, 4, 3, t, t, s, k, 1);
		top = mix(0, 4, 1, t, t, s, k, left % 16);
	}
	if (left % 3 == 0)
		top = mix(0, 1, 3, t, t, s, k, 1);
	return top;
}

#endif
