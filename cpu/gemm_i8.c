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

// A full tile, and how many sums of rows and vectors are held at once. AVX2: 12 sums, a
// group of activations twice, ones and a product fill 16 registers.
// AVX-512: 16 sums hide the latency, and two panels halve the loads of activations.
// Of arm64's 32 registers, sums take 24; with NEON alone 12 (a sum is two), half a
// panel at a time, since products and two splats for each row need the others.
#if LANES == 16
#define ROWS 8
#define PANELS 2
#define MOST_SUMS 16
#elif defined(__x86_64__)
#define ROWS 3
#define PANELS 2
#define MOST_SUMS 12
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

// How far ahead in a panel weights are fetched, in bytes: the loads alone do not keep
// enough lines in flight when W comes from memory.
#define AHEAD 4096

// Operands from the first row and column of a block or a tile on.
struct part {
	float *dst;
	size_t ldd;
	const int8_t *a;
	size_t stride;
	const float *ascale;
	const int32_t *start; // of a row's sums
	const int8_t *w;
	const float *wscale, *bias;
};

// Where vector j of neighbouring panels is in W.
INLINE const int8_t *vector(const struct part *t, int j)
{
	return t->w + j / PV * t->stride * PANEL + j % PV * LANES * GROUP;
}

// Fetches what comes AHEAD of a step, at column c, through the panels of vectors nv
// from v on: behind their end, those that follow them.
INLINE void fetch_ahead(const int nv, const int v, const struct part *t, size_t c)
{
	const size_t panel = t->stride * PANEL;
	const size_t others = nv > PV ? (nv / PV - 1) * panel : 0;
	const size_t ahead = AHEAD + (others & -(size_t)(c * PANEL + AHEAD >= panel)); // no branch

#pragma GCC unroll 16
	for (int j = v; j < v + nv; j++)
		if (j % PV == 0)
			for (int line = 0; line < DEPTH * PANEL; line += 64)
				__builtin_prefetch(vector(t, j) + ahead + line);
}

// Rows mr by vectors nv, from vector v of neighbouring panels on. mr and nv are
// constants where this is inlined, so that the sums live in registers.
INLINE void strip(const int mr, const int nv, const int v, struct part t)
{
	sums sum[ROWS][4 * PV];
#pragma GCC unroll 16
	for (int i = 0; i < mr; i += TOGETHER)
#pragma GCC unroll 16
		for (int j = 0; j < nv; j++)
			sum[i][j] = START(t.start[i]);

#pragma GCC unroll 8
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 4
		for (int j = 0; j < nv; j += PV)
			__builtin_prefetch(t.dst + i * t.ldd + (v + j) * LANES, 1);
	for (size_t c = 0; c < t.stride; c += DEPTH, t.w += DEPTH * PANEL) {
		fetch_ahead(nv, v, &t, c);
#if PREPARED == 2
		// Weights are operands in memory: sums and activations need the registers. But
		// the compiler must not see that all rows read the same ones.
#pragma GCC unroll 16
		for (int i = 0; i < mr; i++) {
			const activations a = load_activations(t.a + (i * t.stride + c) * PREPARED, 0);
			__asm__("" : "+r"(t.w));
#pragma GCC unroll 16
			for (int j = 0; j < nv; j++)
				sum[i][j] = dot(sum[i][j], load_weights(vector(&t, v + j)), a);
		}
#else
#pragma GCC unroll 16
		for (int j = 0; j < nv; j++) {
			const weights b = load_weights(vector(&t, v + j));
#pragma GCC unroll 16
			for (int i = 0; i < mr; i += TOGETHER) {
				const int8_t *a = t.a + i * t.stride + c;
				sum[i][j] = dot(sum[i][j], b, load_activations(a, i + 1 < mr ? t.stride : 0));
			}
		}
#endif
	}

#pragma GCC unroll 16
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 16
		for (int j = 0; j < nv; j++) {
			const int n = (v + j) * LANES;
			vf scale = MUL(SPLAT(t.ascale[i]), LOAD(t.wscale + n));
			vf s = MUL(TO_FLOAT(sums_of_row(sum[i / TOGETHER * TOGETHER][j], i % TOGETHER)), scale);
			STORE(t.dst + i * t.ldd + n, t.bias ? ADD(s, LOAD(t.bias + n)) : s);
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
#if PANELS == 2
TILE(1, 2) TILE(3, 2)
#endif
#if ROWS >= 6
TILE(4, 1) TILE(5, 1) TILE(6, 1)
#endif
#if ROWS == 8
TILE(7, 1) TILE(8, 1)
TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2) TILE(8, 2)
#endif

// By panels and rows.
static void (*const tiles[5][ROWS + 1])(const struct part *t) = {
#if ROWS == 8
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1},
	[2] = {0, tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2},
#elif ROWS == 6
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1},
	[2] = {0, 0, tile_2x2},
#elif PANELS == 2
	[1] = {0, tile_1x1, tile_2x1, tile_3x1},
	[2] = {0, tile_1x2, tile_2x2, tile_3x2},
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

// One block of m rows by n columns.
static void block(size_t m, size_t n, const struct part b)
{
	const size_t most = m == 1 ? 4 : m == 2 ? 2 : PANELS;

	for (size_t j = 0, np; j < n; j += np * PANEL) {
		np = j + most * PANEL <= n ? most : 1;
		for (size_t i = 0, rows; i < m; i += rows) {
			rows = min(ROWS, m - i);
			const struct part t = {
				b.dst + i * b.ldd + j, b.ldd, b.a + i * b.stride * PREPARED, b.stride,
				b.ascale + i, b.start + i, b.w + j * b.stride,
				b.wscale + j, b.bias ? b.bias + j : NULL,
			};
			if (j + PANEL > n)
				edge_tile(rows, n - j, t);
			else
				tiles[np][rows](&t);
		}
	}
}

// How many rows there are in a block: prepared, they lie on the stack.
static size_t block_rows(size_t stride)
{
	const size_t room = PREPARED == 1 || stride == 0 ? BLOCK_M : MAX_COLUMNS_I8 / stride;
	return room < ROWS ? 1 : min(BLOCK_M, room / ROWS * ROWS);
}

TARGET static void prepare_rows(int8_t *dst, int32_t *start, const int8_t *a, size_t rows, size_t stride)
{
	for (size_t r = 0; r < rows; r++)
		start[r] = prepare(PREPARED == 1 ? NULL : dst + r * stride * PREPARED, a + r * stride, stride);
}

void TIER(gemm_i8)(float *dst, size_t ldd, const int8_t *a, const float *ascale, size_t m,
                   const int8_t *w, const float *wscale, size_t n0, size_t n, size_t stride,
                   const float *bias)
{
	int8_t prepared[PREPARED == 1 ? 1 : PREPARED * MAX_COLUMNS_I8 + PREPARED_SLACK];
	int32_t start[BLOCK_M];

#if TOGETHER > 1
	// One row would waste half of every instruction.
	if (m == 1) {
		gemm_i8_dotprod(dst, ldd, a, ascale, m, w, wscale, n0, n, stride, bias);
		return;
	}
#endif
	for (size_t i = 0, rows; i < m; i += rows) {
		const int8_t *from = a + i * stride;
		rows = min(block_rows(stride), m - i);
		prepare_rows(prepared, start, from, rows, stride);
		block(rows, n - n0, (struct part){
			dst + i * ldd + n0, ldd, PREPARED == 1 ? from : prepared, stride, ascale + i, start,
			w + n0 * stride, wscale + n0, bias ? bias + n0 : NULL,
		});
	}
}
