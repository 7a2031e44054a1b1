// gemm.c: the one matrix product behind FULLY_CONNECTED, CONV_2D and BATCH_MATMUL. Its
// operands are fetched row by row as float32 into panels: B as a whole in panels of
// COLUMNS columns, A in blocks of BLOCK rows, in groups of ROWS.
#include "sim.h"

#include <string.h>

enum { ROWS = 6, COLUMNS = 16, BLOCK = 16 * ROWS, GROUP = 4 }; // GROUP rows are fetched before they are spread

typedef float vector4 __attribute__((vector_size(16), may_alias));
typedef float vector8 __attribute__((vector_size(32), may_alias));

// A tile is ROWS × COLUMNS values of C over all of k; a is [k, ROWS], b [k, COLUMNS]. The
// sums fill the vector registers of AVX2, or of NEON.
#define TILE(name, vector) \
	static void name(const float *a, const float *b, size_t k, float *c, size_t stride) \
	{ \
		enum { LANES = sizeof(vector) / sizeof(float), VECTORS = COLUMNS / LANES }; \
		vector sum[ROWS][VECTORS] = {0}; \
		for (size_t l = 0; l < k; l++, a += ROWS, b += COLUMNS) \
			_Pragma("GCC unroll 6") for (int i = 0; i < ROWS; i++) \
				_Pragma("GCC unroll 4") for (int j = 0; j < VECTORS; j++) \
					sum[i][j] += a[i] * *(const vector *)(b + j * LANES); \
		_Pragma("GCC unroll 6") for (int i = 0; i < ROWS; i++) \
			_Pragma("GCC unroll 4") for (int j = 0; j < VECTORS; j++) \
				memcpy(c + i * stride + j * LANES, &sum[i][j], sizeof(vector)); \
	}

typedef void tile_function(const float *a, const float *b, size_t k, float *c, size_t stride);

TILE(tile_any, vector4)

#if defined __x86_64__
__attribute__((target("avx2,fma"))) TILE(tile_avx2, vector8)

static tile_function *best_tile(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? tile_avx2 : tile_any;
}
#else
static tile_function *best_tile(void) { return tile_any; }
#endif

static size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// spread puts up to GROUP rows of k values into column i of a panel [k, width].
static void spread(const float *rows, size_t n, size_t k, float *panel, size_t width)
{
	for (size_t l = 0; l < k; l++)
		for (size_t i = 0; i < n; i++)
			panel[l * width + i] = rows[i * k + l];
}

// pack_rows fills panels of width from rows first … first+n of fetch, zeros behind.
static void pack_rows(void (*fetch)(const void *, size_t, float *), const void *of, size_t first, size_t n, size_t k, size_t width, float *to, float *rows)
{
	for (size_t at = 0; at < n; at += width) {
		float *panel = to + at * k;
		size_t m = n - at < width ? n - at : width;
		if (m < width)
			memset(panel, 0, k * width * sizeof *panel);
		for (size_t i = 0; i < m; i += GROUP) {
			size_t g = m - i < GROUP ? m - i : GROUP;
			for (size_t j = 0; j < g; j++)
				fetch(of, first + at + i + j, rows + j * k);
			spread(rows, g, k, panel + i, width);
		}
	}
}

static void pack_lines(const struct gemm *g, float *to, float *line)
{
	for (size_t l = 0; l < g->k; l++) {
		g->line(g->of, l, line);
		memset(line + g->n, 0, (up(g->n, COLUMNS) - g->n) * sizeof *line);
		for (size_t j = 0; j < g->n; j += COLUMNS)
			memcpy(to + j * g->k + l * COLUMNS, line + j, COLUMNS * sizeof *line);
	}
}

bool gemm(const struct gemm *g, struct scratch *s)
{
	size_t columns = up(g->n, COLUMNS), block = up(g->m < BLOCK ? g->m : BLOCK, ROWS), k = up(g->k, 8);
	size_t rows = up(columns > GROUP * k ? columns : GROUP * k, COLUMNS);
	float *b = scratch_take(s, (columns * k + block * k + block * columns + rows) * sizeof *b);
	if (b == NULL)
		return false;
	float *a = b + columns * k, *c = a + block * k, *fetched = c + block * columns;
	tile_function *product = best_tile();
	if (g->line != NULL)
		pack_lines(g, b, fetched);
	else
		pack_rows(g->column, g->of, 0, g->n, g->k, COLUMNS, b, fetched);
	for (size_t first = 0; first < g->m; first += block) {
		size_t m = g->m - first < block ? g->m - first : block;
		pack_rows(g->row, g->of, first, m, g->k, ROWS, a, fetched);
		for (size_t j = 0; j < columns; j += COLUMNS)
			for (size_t i = 0; i < m; i += ROWS)
				product(a + i * g->k, b + j * g->k, g->k, c + i * columns + j, columns);
		for (size_t i = 0; i < m; i++)
			g->put(g->of, first + i, c + i * columns);
	}
	return true;
}
