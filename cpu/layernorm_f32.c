//go:build amd64 || arm64

// dst[i] = (x[i] − mean)/sqrt(var + eps)·gamma[i] + beta[i], var biased; dst may be x

#include "kernels.h"
#include "vec_f32.h"

#define CHAINS 4 // additions in flight: one is four cycles late

TARGET void TIER(layer_norm_f32)(float *dst, const float *x, const float *gamma, const float *beta,
                                 size_t n, float eps)
{
	const size_t step = CHAINS * LANES, whole = n / step * step;

	vf sums[CHAINS] = {SPLAT(0), SPLAT(0), SPLAT(0), SPLAT(0)};
	for (size_t i = 0; i < whole; i += step)
		for (int c = 0; c < CHAINS; c++)
			sums[c] = ADD(sums[c], LOAD(x + i + c * LANES));
	float sum = sum_lanes(ADD(ADD(sums[0], sums[1]), ADD(sums[2], sums[3])));
	for (size_t i = whole; i < n; i++)
		sum += x[i];
	const float mean = sum / n;

	vf squares[CHAINS] = {SPLAT(0), SPLAT(0), SPLAT(0), SPLAT(0)};
	for (size_t i = 0; i < whole; i += step)
		for (int c = 0; c < CHAINS; c++) {
			vf d = SUB(LOAD(x + i + c * LANES), SPLAT(mean));
			squares[c] = MUL_ADD(d, d, squares[c]);
		}
	float square = sum_lanes(ADD(ADD(squares[0], squares[1]), ADD(squares[2], squares[3])));
	for (size_t i = whole; i < n; i++)
		square += (x[i] - mean) * (x[i] - mean);

	const float scale = 1 / sqrtf(square / n + eps);
	size_t i = 0;
	for (; i + LANES <= n; i += LANES) {
		vf unit = MUL(SUB(LOAD(x + i), SPLAT(mean)), SPLAT(scale));
		STORE(dst + i, MUL_ADD(unit, LOAD(gamma + i), LOAD(beta + i)));
	}
	for (; i < n; i++)
		dst[i] = fmaf((x[i] - mean) * scale, gamma[i], beta[i]);
}
