//go:build amd64 || arm64

// gemm_f32.c for a W of float16 values (IEEE binary16): the same sums in float32, of
// half the bytes. And
//
//	dst[i] = x[i] rounded to float16   for i < n
//
// to the nearest, of two to the even one; beyond the range to infinity. NaN stays NaN.

#define EARSHOT_F16
#include "gemm_f32.c"

TARGET void TIER(round_f16)(uint16_t *dst, const float *x, size_t n)
{
	for (; n >= LANES; n -= LANES, x += LANES, dst += LANES)
		STORE_F16(dst, LOAD(x));
	if (n > 0) {
		uint16_t part[LANES];
		STORE_F16(part, load_tail(x, n, 0));
		memcpy(dst, part, n * sizeof *dst);
	}
}
