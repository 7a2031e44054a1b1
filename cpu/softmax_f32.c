//go:build amd64 || arm64

// x[i] = exp(x[i]-max), in place, returning Σ exp(x[j]-max); and softmax, which is
// their quotient

#include "exp_f32.h"
#include "kernels.h"

// Element i is summed in lane i mod LANES, the tail too: masked entries behind a
// row add zeros and change nothing. The sum is 0 where all are masked.
TARGET float TIER(exp_sum_f32)(float *x, size_t n)
{
	const size_t whole = n / LANES * LANES, rest = n - whole;

	vf top = SPLAT(-INFINITY);
	for (size_t i = 0; i < whole; i += LANES)
		top = MAX_NUM(LOAD(x + i), top);
	if (rest)
		top = MAX_NUM(load_tail(x + whole, rest, -INFINITY), top);
	const float max = max_lanes(top);
	const vf shift = SPLAT(max == -INFINITY ? 0 : max);

	vf sums = SPLAT(0);
	for (size_t i = 0; i < whole; i += LANES) {
		vf e = exp_nonpositive(SUB(LOAD(x + i), shift));
		STORE(x + i, e);
		sums = ADD(sums, e);
	}
	if (rest) {
		vf e = exp_nonpositive(SUB(load_tail(x + whole, rest, -INFINITY), shift));
		store_tail(x + whole, rest, e);
		sums = ADD(sums, e);
	}
	return sum_lanes(sums);
}

void TIER(softmax_f32)(float *x, size_t n)
{
	const float sum = TIER(exp_sum_f32)(x, n);
	if (sum != 0)
		TIER(scale_f32)(x, n, 1 / sum);
}
