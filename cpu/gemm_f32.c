//go:build amd64 || arm64

// dst[i*ldd+j] = Σ_{c<k} a[i*lda+c]·W[j,c] + bias[j]   for i < m, n0 <= j < n
//
// W comes in panels of 16 rows, kcap columns each (PackedF32 in Go); n0 is a
// multiple of 16. bias may be null. Every sum is one chain of fused multiply-adds
// in ascending c that starts at zero, whatever the blocking: where K is cut into
// blocks, dst holds the chain's value in between.
//
// The last panel may be used in part: its columns beyond n are computed in a tile
// on the stack and never stored.
//
// gemm_f16.c compiles the same for a W of float16 values.

#include "kernels.h"
#include "vec_f32.h"

#ifdef EARSHOT_F16
#define GEMM TIER(gemm_f16)
#define LOAD_W(p) LOAD_F16(p)
typedef uint16_t weight;
#else
#define GEMM TIER(gemm_f32)
#define LOAD_W(p) LOAD(p)
typedef float weight;
#endif

#define PANEL 16
#define PV (PANEL / LANES) // vectors across a panel

// A full tile of rows and panels: 6·16 sums fill 12 of AVX2's 16 registers. NEON's
// 32 would hold 6·16 too, but gcc then keeps two of the sums in memory. AVX-512
// takes two panels, which halves the loads of A.
#if LANES == 16
#define ROWS 8
#define PANELS 2
#elif defined(__aarch64__)
#define ROWS 5
#define PANELS 1
#else
#define ROWS 6
#define PANELS 1
#endif

// A block of A, BLOCK_M × BLOCK_K, stays in the second-level cache while all panels
// pass; a panel's BLOCK_K × 16 floats are read from the first-level one by all
// tiles but the first. BLOCK_M is a multiple of ROWS.
#define BLOCK_M 120
#define BLOCK_K 512

// How far ahead weights are fetched, 4 KB: the loads alone do not keep enough lines
// in flight when W comes from memory or the third-level cache.
#define AHEAD (4096 / sizeof(weight))

typedef void tile_fn(float *dst, size_t ldd, const float *a, size_t lda, const weight *w,
                     size_t panel, size_t k, int first, const float *bias);

// One tile of mr rows by np panels that lie `panel` floats apart. mr and np are
// constants where this is inlined, so that the sums live in registers.
INLINE void tile(const int mr, const int np, float *dst, size_t ldd, const float *a, size_t lda,
                 const weight *w, size_t panel, size_t k, int first, const float *bias)
{
	vf sum[ROWS][4 * PV];
#pragma GCC unroll 8
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 16
		for (int j = 0; j < np * PV; j++)
			sum[i][j] = first ? SPLAT(0) : LOAD(dst + i * ldd + j * LANES);

#pragma GCC unroll 8
	for (int i = 0; i < mr; i++)
		__builtin_prefetch(dst + i * ldd, 1);
	for (size_t c = 0; c < k; c++) {
#pragma GCC unroll 4
		for (int p = 0; p < np; p++) {
			__builtin_prefetch(w + p * panel + c * PANEL + AHEAD);
			vf b[PV];
#pragma GCC unroll 4
			for (int j = 0; j < PV; j++)
				b[j] = LOAD_W(w + p * panel + c * PANEL + j * LANES);
#pragma GCC unroll 8
			for (int i = 0; i < mr; i++)
#pragma GCC unroll 4
				for (int j = 0; j < PV; j++)
					sum[i][p * PV + j] = MUL_ADD_X(b[j], a[i * lda + c], sum[i][p * PV + j]);
		}
	}

#pragma GCC unroll 8
	for (int i = 0; i < mr; i++)
#pragma GCC unroll 16
		for (int j = 0; j < np * PV; j++) {
			vf s = sum[i][j];
			STORE(dst + i * ldd + j * LANES, bias ? ADD(s, LOAD(bias + j * LANES)) : s);
		}
}

#define TILE(mr, np)                                                                             \
	TARGET static void tile_##mr##x##np(float *dst, size_t ldd, const float *a, size_t lda,      \
	                                    const weight *w, size_t panel, size_t k, int first,      \
	                                    const float *bias)                                       \
	{                                                                                            \
		tile(mr, np, dst, ldd, a, lda, w, panel, k, first, bias);                                \
	}

// Few rows take several panels at once: the sums of one are too few to hide the
// latency of the multiply-add.
TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1)
TILE(1, 4) TILE(2, 2)
#if ROWS >= 6
TILE(6, 1)
#endif
#if ROWS == 8
TILE(7, 1) TILE(8, 1)
TILE(1, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2) TILE(8, 2)
#endif

// By panels and rows.
static tile_fn *const tiles[5][ROWS + 1] = {
#if ROWS == 8
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1},
	[2] = {0, tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2},
#elif ROWS == 6
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1},
	[2] = {0, 0, tile_2x2},
#else
	[1] = {0, tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1},
	[2] = {0, 0, tile_2x2},
#endif
	[4] = {0, tile_1x4},
};

// A tile whose panel has only cols columns in use.
static void edge_tile(float *dst, size_t ldd, size_t cols, const float *a, size_t lda, size_t rows,
                      const weight *w, size_t k, int first, const float *bias)
{
	float part[ROWS * PANEL] = {0}, part_bias[PANEL] = {0};

	for (size_t i = 0; i < rows && !first; i++)
		memcpy(part + i * PANEL, dst + i * ldd, cols * sizeof *dst);
	if (bias)
		memcpy(part_bias, bias, cols * sizeof *bias);
	tiles[1][rows](part, PANEL, a, lda, w, 0, k, first, bias ? part_bias : NULL);
	for (size_t i = 0; i < rows; i++)
		memcpy(dst + i * ldd, part + i * PANEL, cols * sizeof *dst);
}

// One block of rows and of K by the columns n0 to n.
static void block(float *dst, size_t ldd, const float *a, size_t lda, size_t m, const weight *w,
                  size_t panel, size_t n0, size_t n, size_t k, int first, const float *bias)
{
	const size_t most = m == 1 ? 4 : m == 2 ? 2 : PANELS;

	for (size_t j = n0, np; j < n; j += np * PANEL) {
		const weight *b = w + j / PANEL * panel;
		const float *bj = bias ? bias + j : NULL;
		np = j + most * PANEL <= n ? most : 1;
		for (size_t i = 0, rows; i < m; i += rows) {
			rows = min(ROWS, m - i);
			float *d = dst + i * ldd + j;
			if (j + PANEL > n)
				edge_tile(d, ldd, n - j, a + i * lda, lda, rows, b, k, first, bj);
			else
				tiles[np][rows](d, ldd, a + i * lda, lda, b, panel, k, first, bj);
		}
	}
}

// Up to ROWS rows read W once, front to back, and need no blocks.
void GEMM(float *dst, size_t ldd, const float *a, size_t lda, size_t m, const weight *w,
          size_t kcap, size_t n0, size_t n, size_t k, const float *bias)
{
	const size_t block_k = m > ROWS ? BLOCK_K : k;
	size_t k0 = 0, kn;

	do {
		kn = min(block_k, k - k0);
		const float *last_bias = k0 + kn == k ? bias : NULL;
		for (size_t i = 0; i < m; i += BLOCK_M)
			block(dst + i * ldd, ldd, a + i * lda + k0, lda, min(BLOCK_M, m - i), w + k0 * PANEL,
			      kcap * PANEL, n0, n, kn, k0 == 0, last_bias);
		k0 += kn;
	} while (k0 < k);
}
