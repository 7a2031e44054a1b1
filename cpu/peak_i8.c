//go:build amd64 || arm64

// The fastest that int8 products can be: 12 independent sums, nothing from memory.
// A sum serves as its own activations, so that no product is the one before.

#include "kernels.h"
#include "vec_i8.h"

#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)
#define SUM(i) vi s##i = SPLAT_INT(part[i]);
#define STEP(i) s##i = dot(s##i, w, s##i);
#define TOTAL(i) total = MAX_INT(total, s##i);

// rounds times 12 vectors of products of some value x; returns how many operations
// that was.
TARGET size_t TIER(peak_i8)(float *x, size_t rounds)
{
	int8_t bytes[LANES * GROUP];
	int32_t part[LANES > 12 ? LANES : 12];
	memset(bytes, (int)*x, sizeof bytes);
	for (int i = 0; i < 12; i++)
		part[i] = (int)*x + i;

	const weights w = load_weights(bytes);
	vi total = SPLAT_INT(0);
	EACH(SUM)
	for (size_t r = 0; r < rounds; r++) {
		EACH(STEP)
	}
	EACH(TOTAL)
	STORE_INT(part, total);
	*x = part[0];
	return rounds * 12 * LANES * GROUP * 2;
}
