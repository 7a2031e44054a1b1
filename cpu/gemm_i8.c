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

#define PV (PANEL / LANES) // vectors across a panel

// A full tile, and how many sums of rows and vectors are held at once. AVX2: 8 sums,
// the weights twice, a group of activations, ones and two products fill 16 registers.
// AVX-512: 16 sums hide the latency, and two panels halve the loads of activations.
// Of arm64's 32 registers, sums take 24; with NEON alone 12 (a sum is two), half a
// panel at a time, since products and two splats for each row need the others.
#if LANES == 16
#define ROWS 8
#define PANELS 2
#define MOST_SUMS 16
#elif defined(__x86_64__)
#define ROWS 4
#define PANELS 1
#define MOST_SUMS 8
#elif defined(EARSHOT_DOTPROD) || defined(EARSHOT_I8MM)
#define ROWS 6
#define PANELS 1
#define MOST_SUMS 24
#else
#define ROWS 3
#define PANELS 1
#define MOST_SUMS 8
#endif

// A block of A, BLOCK_M rows, stays in the second-level cache while all panels
// pass; a panel is read from the first-level one by all tiles but the first. BLOCK_M
// is a multiple of ROWS.
#define BLOCK_M 120

// How far ahead weights are fetched, in bytes: the loads alone do not keep enough
// lines in flight when W comes from memory.
#define AHEAD 4096

// What comes AHEAD of a step through a panel.
INLINE void fetch_ahead(const int8_t *w)
{
	for (int line = 0; line < DEPTH * PANEL; line += 64)
		__builtin_prefetch(w + AHEAD + line);
}

// Operands from the first row and column of a block or a tile on.
struct part {
	float *dst;
	size_t ldd;
	const int8_t *a;
	size_t stride;
	const float *ascale;
	const int32_t *start; // of a row's sums: what makes up for the bias of the weights
	const int8_t *w;
	const float *wscale, *bias;
};

// Rows mr by vectors nv, from vector v of neighbouring panels on. mr and nv are
// constants where this is inlined, so that the sums live in registers.
INLINE void strip(const int mr, const int nv, const int v, const struct part t)
{
	sums sum[ROWS][4 * PV];
#pragma GCC unroll 16
	for (int i = 0; i < mr; i += TOGETHER)
#pragma GCC unroll 16
		for (int j = 0; j < nv; j++)
			sum[i][j] = START(t.start[i]);

#pragma GCC unroll 8
	for (int i = 0; i < mr; i++)
		__builtin_prefetch(t.dst + i * t.ldd, 1);
	for (size_t c = 0; c < t.stride; c += DEPTH) {
#pragma GCC unroll 16
		for (int j = 0; j < nv; j++) {
			const int8_t *w = t.w + ((v + j) / PV * t.stride + c) * PANEL;
			if (j % PV == 0)
				fetch_ahead(w);
			weights b = load_weights(w + (v + j) % PV * LANES * GROUP);
#pragma GCC unroll 16
			for (int i = 0; i < mr; i += TOGETHER) {
				const int8_t *a = t.a + i * t.stride + c;
				sum[i][j] = dot(sum[i][j], b, load_activations(a, i + 1 < mr ? t.stride : 0));
			}
		}
	}

#pragma GCC unroll 16
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 16
		for (int j = 0; j < nv; j++) {
			const int at = (v + j) * LANES;
			vf scale = MUL(SPLAT(t.ascale[i]), LOAD(t.wscale + at));
			vf s = MUL(TO_FLOAT(sums_of_row(sum[i / TOGETHER * TOGETHER][j], i % TOGETHER)), scale);
			STORE(t.dst + i * t.ldd + at, t.bias ? ADD(s, LOAD(t.bias + at)) : s);
		}
}

// One tile of mr rows by np neighbouring panels, in strips whose sums fit.
INLINE void tile(const int mr, const int np, const struct part t)
{
	const int nv = mr * np * PV <= MOST_SUMS ? np * PV : np * PV / 2;

#pragma GCC unroll 16
	for (int v = 0; v < np * PV; v += nv)
		strip(mr, nv, v, t);
}

#define TILE(mr, np) \
	TARGET static void tile_##mr##x##np(const struct part *t) { tile(mr, np, *t); }

// One row takes four panels at once and two take two, for more streams of weights.
TILE(1, 1) TILE(2, 1) TILE(3, 1)
TILE(1, 4) TILE(2, 2)
#if ROWS >= 4
TILE(4, 1)
#endif
#if ROWS >= 6
TILE(5, 1) TILE(6, 1)
#endif
#if ROWS == 8
TILE(7, 1) TILE(8, 1)
TILE(1, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2) TILE(8, 2)
#endif

// By panels and rows.
static void (*const tiles[5][ROWS + 1])(const struct part *t) = {
#if ROWS == 8
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1},
	[2] = {0, tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2},
#elif ROWS == 6
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1},
	[2] = {0, 0, tile_2x2},
#elif ROWS == 4
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1},
	[2] = {0, 0, tile_2x2},
#else
	[1] = {0, tile_1x1, tile_2x1, tile_3x1},
	[2] = {0, 0, tile_2x2},
#endif
	[4] = {0, tile_1x4},
};

// A tile whose panel has only cols columns in use.
static void edge_tile(size_t rows, size_t cols, struct part t)
{
	float part[ROWS * PANEL], part_bias[PANEL] = {0};
	float *dst = t.dst;
	const size_t ldd = t.ldd;

	t.dst = part;
	t.ldd = PANEL;
	if (t.bias)
		t.bias = memcpy(part_bias, t.bias, cols * sizeof *t.bias);
	tiles[1][rows](&t);
	for (size_t i = 0; i < rows; i++)
		memcpy(dst + i * ldd, part + i * PANEL, cols * sizeof *dst);
}

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

// One block of m rows by n columns.
static void block(size_t m, size_t n, const struct part b)
{
	const size_t most = m == 1 ? 4 : m == 2 ? 2 : PANELS;

	for (size_t j = 0, np; j < n; j += np * PANEL) {
		np = j + most * PANEL <= n ? most : 1;
		for (size_t i = 0, rows; i < m; i += rows) {
			rows = min(ROWS, m - i);
			const struct part t = {
				b.dst + i * b.ldd + j, b.ldd, b.a + i * b.stride, b.stride, b.ascale + i, b.start + i,
				b.w + j * b.stride, b.wscale + j, b.bias ? b.bias + j : NULL,
			};
			if (j + PANEL > n)
				edge_tile(rows, n - j, t);
			else
				tiles[np][rows](&t);
		}
	}
}

// What the sum of a row of activations starts at when a WEIGHT_BIAS is added to
// every weight.
TARGET static int32_t start_of(const int8_t *a, size_t stride)
{
	int32_t sum = 0;
	for (size_t c = 0; c < stride; c++)
		sum += a[c];
	return -WEIGHT_BIAS * sum;
}

void TIER(gemm_i8)(float *dst, size_t ldd, const int8_t *a, const float *ascale, size_t m,
                   const int8_t *w, const float *wscale, size_t n0, size_t n, size_t stride,
                   const float *bias)
{
	int32_t start[BLOCK_M];

#if TOGETHER > 1
	// One row would waste half of every instruction.
	if (m == 1) {
		gemm_i8_dotprod(dst, ldd, a, ascale, m, w, wscale, n0, n, stride, bias);
		return;
	}
#endif
	for (size_t i = 0; i < m; i += BLOCK_M) {
		const size_t rows = min(BLOCK_M, m - i);
		const struct part b = {
			dst + i * ldd + n0, ldd, a + i * stride, stride, ascale + i, start,
			w + n0 * stride, wscale + n0, bias ? bias + n0 : NULL,
		};
		for (size_t r = 0; r < rows; r++)
			start[r] = start_of(b.a + r * stride, stride);
		block(rows, n - n0, b);
	}
}
