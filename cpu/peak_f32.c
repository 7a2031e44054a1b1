//go:build amd64 || arm64

// The fastest that multiply-adds can be: 12 independent sums, nothing from memory.

#include "kernels.h"
#include "vec_f32.h"

#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)
#define SUM(i) vf s##i = SPLAT(*x + i);
#define STEP(i) s##i = MUL_ADD(a, b, s##i);
#define TOTAL(i) total = ADD(total, s##i);

// rounds times 12 vectors of multiply-adds on some value x; returns how many
// operations that was.
TARGET size_t TIER(peak_f32)(float *x, size_t rounds)
{
	const vf a = SPLAT(*x), b = SPLAT(*x / 2);
	vf total = SPLAT(0);
	EACH(SUM)
	for (size_t r = 0; r < rounds; r++) {
		EACH(STEP)
	}
	EACH(TOTAL)
	*x = sum_lanes(total);
	return rounds * 12 * LANES * 2;
}
