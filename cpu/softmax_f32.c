//go:build amd64 || arm64

// x[i] = exp(x[i]-max), in place, returning Σ exp(x[j]-max); softmax, which is their
// quotient; and log Σ exp(x[j])

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

#define CHAINS 4 // additions in flight

TARGET float TIER(log_sum_exp_f32)(const float *x, size_t n)
{
	const size_t step = CHAINS * LANES, whole = n / step * step;

	vf tops[CHAINS], sums[CHAINS];
	for (int c = 0; c < CHAINS; c++) {
		tops[c] = SPLAT(-INFINITY);
		sums[c] = SPLAT(0);
	}
	for (size_t i = 0; i < whole; i += step)
		for (int c = 0; c < CHAINS; c++)
			tops[c] = MAX_NUM(LOAD(x + i + c * LANES), tops[c]);
	float max = -INFINITY;
	for (int c = 0; c < CHAINS; c++)
		max = fmaxf(max, max_lanes(tops[c]));
	for (size_t i = whole; i < n; i++)
		max = fmaxf(max, x[i]);
	if (max == -INFINITY) // all masked, or no number among them
		max = 0;

	for (size_t i = 0; i < whole; i += step)
		for (int c = 0; c < CHAINS; c++)
			sums[c] = ADD(sums[c], exp_nonpositive(SUB(LOAD(x + i + c * LANES), SPLAT(max))));
	for (size_t i = whole; i < n; i += LANES) {
		vf rest = i + LANES <= n ? LOAD(x + i) : load_tail(x + i, n - i, -INFINITY);
		sums[0] = ADD(sums[0], exp_nonpositive(SUB(rest, SPLAT(max))));
	}
	return max + logf(sum_lanes(ADD(ADD(sums[0], sums[1]), ADD(sums[2], sums[3]))));
}
