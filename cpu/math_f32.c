//go:build amd64 || arm64

// Functions of every value of a row, in place.

#include "exp_f32.h"
#include "kernels.h"

typedef int vi __attribute__((vector_size(LANES * sizeof(int))));

// a where mask is all ones, b where it is zero.
INLINE vf choose(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }

// log10(x) of normal, positive x.
//
// x = 2^n·(1+t) with √½ <= 1+t < √2, and ln(1+t) = t − t²/2 + t³·q(t), where q is the
// polynomial of degree 6 with the least relative error of the logarithm there (Remez
// exchange in 60 digits: 3.2e-8). The logarithm of 2 is in two parts, of which the
// first ends in zero bits: n times it is exact.
INLINE vf log10_normal(vf x)
{
	const float log10_2_hi = 0x1.34p-2f, log10_2_lo = 0x1.04d428p-12f, log10_e = 0x1.bcb7b2p-2f;
	const vi root_half = (vi)SPLAT(0x1.6a09e6p-1f);
	const vi shifted = (vi)x - root_half; // its exponent bits are n
	const vf m = (vf)((shifted & 0x7fffff) + root_half);
	const vf n = __builtin_convertvector(shifted >> 23, vf);
	const vf t = SUB(m, SPLAT(1));
	vf q = SPLAT(0.08700438f);
	q = MUL_ADD(q, t, SPLAT(-0.142674869f));
	q = MUL_ADD(q, t, SPLAT(0.149147672f));
	q = MUL_ADD(q, t, SPLAT(-0.165775847f));
	q = MUL_ADD(q, t, SPLAT(0.199630639f));
	q = MUL_ADD(q, t, SPLAT(-0.25001337f));
	q = MUL_ADD(q, t, SPLAT(0.333339107f));
	vf ln = MUL_ADD(MUL(t, t), MUL_ADD(t, q, SPLAT(-0.5f)), t);
	return MUL_ADD(n, SPLAT(log10_2_hi), MUL_ADD(ln, SPLAT(log10_e), MUL(n, SPLAT(log10_2_lo))));
}

INLINE vf log10_above(vf x, float floor, float log10_floor)
{
	return choose((x > SPLAT(floor)) & (x < SPLAT(INFINITY)), log10_normal(x), SPLAT(log10_floor));
}

// x = log10(x) where floor < x < ∞, else log10_floor; floor is normal and positive.
TARGET void TIER(log10_f32)(float *x, size_t n, float floor, float log10_floor)
{
	const size_t whole = n / LANES * LANES, rest = n - whole;

	for (size_t i = 0; i < whole; i += LANES)
		STORE(x + i, log10_above(LOAD(x + i), floor, log10_floor));
	if (rest)
		store_tail(x + whole, rest, log10_above(load_tail(x + whole, rest, 1), floor, log10_floor));
}

// With e = exp(−|x|), which cannot overflow, 1/(1+e) or what it lacks to 1.
INLINE vf sigmoid(vf x)
{
	const vi sign = (vi)SPLAT(-0.0f);
	vf e = exp_nonpositive((vf)((vi)x | sign));
	vf numerator = choose((vi)x < 0, e, SPLAT(1));
	return DIV(numerator, ADD(SPLAT(1), e));
}

// x = 1/(1 + exp(−x))
TARGET void TIER(sigmoid_f32)(float *x, size_t n)
{
	const size_t whole = n / LANES * LANES, rest = n - whole;

	for (size_t i = 0; i < whole; i += LANES)
		STORE(x + i, sigmoid(LOAD(x + i)));
	if (rest)
		store_tail(x + whole, rest, sigmoid(load_tail(x + whole, rest, 0)));
}

// x = max(x, 0), NaN where x is NaN
TARGET void TIER(relu_f32)(float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] < 0 ? 0 : x[i];
}
