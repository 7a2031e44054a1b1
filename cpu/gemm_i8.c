//go:build amd64 || arm64

// dst[i*ldd+j] = float(Σ_c a[i*stride+c]·q[j,c]) · (ascale[i]·wscale[j]) + bias[j]
//
// for i < m, n0 <= j < n. W's bytes q come in panels of 16 rows by groups of 4
// columns (PackedI8 in Go); n0 is a multiple of 16, stride (the columns) of 8. bias
// may be null. Sums are exact; a value is rounded where an operation above says so
// and nowhere else.
//
// The last panel may be used in part: its columns beyond n are computed in a tile
// on the stack and never stored.

#include "kernels.h"
#include "vec_i8.h"

#define PANEL 16
#define PV (PANEL / LANES) // vectors across a panel

// Rows of a full tile: 4·16 sums, the weights twice and what dot needs fill AVX2's
// 16 registers.
#define ROWS 4

// A block of A, BLOCK_M rows, stays in the second-level cache while all panels
// pass; a panel is read from the first-level one by all tiles but the first.
#define BLOCK_M 128

typedef void tile_fn(float *dst, size_t ldd, const int8_t *a, const float *ascale, const int8_t *w,
                     const float *wscale, size_t stride, const float *bias);

// One tile of mr rows by np neighbouring panels. mr and np are constants where this
// is inlined, so that the sums live in registers.
INLINE void tile(const int mr, const int np, float *dst, size_t ldd, const int8_t *a,
                 const float *ascale, const int8_t *w, const float *wscale, size_t stride,
                 const float *bias)
{
	vi sum[ROWS][4 * PV];
#pragma GCC unroll 16
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 16
		for (int j = 0; j < np * PV; j++)
			sum[i][j] = SPLAT_INT(0);

	for (size_t c = 0; c < stride; c += GROUP) {
#pragma GCC unroll 4
		for (int p = 0; p < np; p++) {
			weights b[PV];
#pragma GCC unroll 4
			for (int j = 0; j < PV; j++)
				b[j] = load_weights(w + (p * stride + c) * PANEL + j * LANES * GROUP);
#pragma GCC unroll 16
			for (int i = 0; i < mr; i++) {
				vi x = splat_group(a + i * stride + c);
#pragma GCC unroll 4
				for (int j = 0; j < PV; j++)
					sum[i][p * PV + j] = dot(sum[i][p * PV + j], b[j], x);
			}
		}
	}

#pragma GCC unroll 16
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 16
		for (int j = 0; j < np * PV; j++) {
			vf scale = MUL(SPLAT(ascale[i]), LOAD(wscale + j * LANES));
			vf s = MUL(TO_FLOAT(sum[i][j]), scale);
			STORE(dst + i * ldd + j * LANES, bias ? ADD(s, LOAD(bias + j * LANES)) : s);
		}
}

#define TILE(mr, np)                                                                             \
	TARGET static void tile_##mr##x##np(float *dst, size_t ldd, const int8_t *a,                 \
	                                    const float *ascale, const int8_t *w,                    \
	                                    const float *wscale, size_t stride, const float *bias)   \
	{                                                                                            \
		tile(mr, np, dst, ldd, a, ascale, w, wscale, stride, bias);                              \
	}

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1)
TILE(1, 4) TILE(2, 2)
static tile_fn *const one_panel[] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1};

// Few rows take several panels at once, for more streams of weights and sums.
#define WIDE_ROWS 2
static tile_fn *const wide[WIDE_ROWS + 1] = {0, tile_1x4, tile_2x2};
static const size_t wide_panels[WIDE_ROWS + 1] = {0, 4, 2};

// A tile whose panel has only cols columns in use.
static void edge_tile(float *dst, size_t ldd, size_t cols, const int8_t *a, const float *ascale,
                      size_t rows, const int8_t *w, const float *wscale, size_t stride,
                      const float *bias)
{
	float part[ROWS * PANEL], part_bias[PANEL] = {0};

	if (bias)
		memcpy(part_bias, bias, cols * sizeof *bias);
	one_panel[rows](part, PANEL, a, ascale, w, wscale, stride, bias ? part_bias : NULL);
	for (size_t i = 0; i < rows; i++)
		memcpy(dst + i * ldd, part + i * PANEL, cols * sizeof *dst);
}

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

// One block of rows by the columns n0 to n.
static void block(float *dst, size_t ldd, const int8_t *a, const float *ascale, size_t m,
                  const int8_t *w, const float *wscale, size_t n0, size_t n, size_t stride,
                  const float *bias)
{
	const size_t few = m <= WIDE_ROWS ? wide_panels[m] : 1;

	for (size_t j = n0, cols; j < n; j += cols) {
		const int8_t *b = w + j * stride;
		const float *bj = bias ? bias + j : NULL;
		cols = j + few * PANEL <= n ? few * PANEL : min(PANEL, n - j);
		for (size_t i = 0, rows; i < m; i += rows) {
			rows = min(ROWS, m - i);
			float *d = dst + i * ldd + j;
			const int8_t *ai = a + i * stride;
			if (cols < PANEL)
				edge_tile(d, ldd, cols, ai, ascale + i, rows, b, wscale + j, stride, bj);
			else if (cols > PANEL)
				wide[rows](d, ldd, ai, ascale + i, b, wscale + j, stride, bj);
			else
				one_panel[rows](d, ldd, ai, ascale + i, b, wscale + j, stride, bj);
		}
	}
}

void TIER(gemm_i8)(float *dst, size_t ldd, const int8_t *a, const float *ascale, size_t m,
                   const int8_t *w, const float *wscale, size_t n0, size_t n, size_t stride,
                   const float *bias)
{
	for (size_t i = 0; i < m; i += BLOCK_M)
		block(dst + i * ldd, ldd, a + i * stride, ascale + i, min(BLOCK_M, m - i), w, wscale, n0, n,
		      stride, bias);
}
