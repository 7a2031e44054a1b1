//go:build amd64 || arm64

// The largest values of a product with a matrix in two planes of nibbles, in two passes
// (Pool.LargestI8 in Go).

#include <math.h>

#include "jobs.h"

#define PAIR 32 // rows of W whose nibbles lie together

struct largest_i8 {
	const struct kernels *kernels;
	float *dst;
	size_t ldd;
	const int8_t *a;
	const float *ascale;
	size_t m;
	struct split_i8 w;
	size_t pairs, step; // step: pairs in one task of the first pass
	float *tops;        // [m, pairs]
	uint32_t *exact;    // row·pairs + pair: what the second pass computes
};

static int32_t sum_of(const int8_t *a, size_t n)
{
	int32_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += a[i];
	return sum;
}

// Rows that pass over a pair of panels while it is in the first-level cache.
#define MOST_ROWS 32

// The first pass for rows i to i+m-1 over pairs from..to-1.
static void rough(const struct largest_i8 *l, size_t i, size_t m, size_t from, size_t to)
{
	const size_t stride = l->w.stride;
	int32_t offsets[MOST_ROWS], sums[PAIR];

	for (size_t r = 0; r < m; r++)
		offsets[r] = 241 * sum_of(l->a + (i + r) * stride, stride);
	for (size_t pair = from; pair < to; pair++)
		for (size_t r = 0; r < m; r++) {
			const size_t j0 = pair * PAIR, n = min(PAIR, l->w.n - j0);
			const float scale = 0.5f * l->ascale[i + r];
			float *dst = l->dst + (i + r) * l->ldd + j0, top = -INFINITY;

			l->kernels->nibble_sums(sums, l->a + (i + r) * stride, l->w.high + j0 / 2 * stride, stride);
			for (size_t j = 0; j < n; j++) {
				dst[j] = (float)(32 * sums[j] - offsets[r]) * (scale * l->w.scales[j0 + j]);
				top = dst[j] > top ? dst[j] : top;
			}
			l->tops[(i + r) * l->pairs + pair] = top;
		}
}

static void rough_task(const void *args, size_t index, size_t thread)
{
	const struct largest_i8 *l = args;
	const size_t from = index * l->step, to = min(l->pairs, from + l->step);

	(void)thread;
	for (size_t i = 0; i < l->m; i += MOST_ROWS)
		rough(l, i, min(MOST_ROWS, l->m - i), from, to);
}

static void exact_task(const void *args, size_t index, size_t thread)
{
	const struct largest_i8 *l = args;
	const size_t stride = l->w.stride, i = l->exact[index] / l->pairs;
	const size_t from = l->exact[index] % l->pairs * PAIR, n = min(PAIR, l->w.n - from);
	const int8_t *a = l->a + i * stride;
	const int32_t offset = 128 * sum_of(a, stride);
	int32_t high[PAIR], low[PAIR];

	(void)thread;
	l->kernels->nibble_sums(high, a, l->w.high + from / 2 * stride, stride);
	l->kernels->nibble_sums(low, a, l->w.low + from / 2 * stride, stride);
	for (size_t j = 0; j < n; j++)
		l->dst[i * l->ldd + from + j] =
			(float)(16 * high[j] + low[j] - offset) * (l->ascale[i] * l->w.scales[from + j]);
}

// Lists what is within margin of its row's largest value.
static size_t list_exact(const struct largest_i8 *l, float margin)
{
	size_t count = 0;

	for (size_t i = 0; i < l->m; i++) {
		const float *tops = l->tops + i * l->pairs;
		float top = -INFINITY;
		for (size_t pair = 0; pair < l->pairs; pair++)
			top = tops[pair] > top ? tops[pair] : top;
		for (size_t pair = 0; pair < l->pairs; pair++)
			if (tops[pair] >= top - margin)
				l->exact[count++] = (uint32_t)(i * l->pairs + pair);
	}
	return count;
}

void pool_largest_i8(struct pool *p, const struct kernels *kernels, float *dst, size_t ldd,
                     const float *x, size_t ldx, size_t m, struct split_i8 w, float margin, int8_t *a,
                     float *ascale, float *tops, uint32_t *exact)
{
	struct largest_i8 l = {kernels, dst, ldd, a, ascale, m, w, ceil_div(w.n, PAIR), 0, tops, exact};

	kernels->quantize_i8(a, w.stride, ascale, x, ldx, m, w.k);
	l.step = ceil_div(l.pairs, tasks_of(p, (m + 1) * w.n * w.k / 4));
	pool_run(p, rough_task, &l, ceil_div(l.pairs, l.step));
	pool_run(p, exact_task, &l, list_exact(&l, margin));
}
