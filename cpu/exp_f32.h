// exp of a vector, as the kernels that need it share it.

#ifndef EARSHOT_EXP_F32_H
#define EARSHOT_EXP_F32_H

#include "vec_f32.h"

#define EXP_FLOOR -87.33f // ln of the smallest normal float is −87.336

// exp(x) for x <= 0: 0 below EXP_FLOOR (−Inf too), NaN for NaN.
//
// With n = round(x/ln 2) and r = x − n·ln 2, |r| <= ln(2)/2, it is 2^n·e^r. ln 2 is
// in two parts, of which the first ends in nine zero bits: x − n·ln2_hi is exact.
// e^r = 1 + r + r²·q(r), where q is the polynomial of degree 4 that minimises the
// largest relative error of e^r on that interval (Remez exchange in 50 digits:
// 3.1e-9, a fortieth of a rounding).
INLINE vf exp_nonpositive(vf x)
{
	const float log2e = 0x1.715476p0f, ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;

	vf bounded = AT_LEAST(x, SPLAT(EXP_FLOOR));
	vf n = ROUND(MUL(bounded, SPLAT(log2e)));
	vf r = SUB_MUL(SUB_MUL(bounded, n, SPLAT(ln2_hi)), n, SPLAT(ln2_lo));
	vf q = SPLAT(0.00138145989f);
	q = MUL_ADD(q, r, SPLAT(0.00836871689f));
	q = MUL_ADD(q, r, SPLAT(0.0416683880f));
	q = MUL_ADD(q, r, SPLAT(0.166665206f));
	q = MUL_ADD(q, r, SPLAT(0.499999934f));
	vf e = ADD(MUL_ADD(MUL(r, r), q, r), SPLAT(1));
	return ZERO_WHERE_LESS(MUL(e, POW2(n)), x, SPLAT(EXP_FLOOR));
}

#endif
