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

static void rough_task(const void *args, size_t index, size_t thread)
{
	const struct largest_i8 *l = args;
	const size_t stride = l->w.stride;
	int32_t sums[PAIR];

	(void)thread;
	for (size_t pair = index * l->step; pair < min(l->pairs, (index + 1) * l->step); pair++)
		for (size_t i = 0; i < l->m; i++) {
			const int8_t *a = l->a + i * stride;
			const size_t from = pair * PAIR, n = min(PAIR, l->w.n - from);
			const int32_t offset = 241 * sum_of(a, stride);
			const float scale = 0.5f * l->ascale[i];
			float *dst = l->dst + i * l->ldd + from, top = -INFINITY;

			l->kernels->nibble_sums(sums, a, l->w.high + from / 2 * stride, stride);
			for (size_t j = 0; j < n; j++) {
				dst[j] = (float)(32 * sums[j] - offset) * (scale * l->w.scales[from + j]);
				top = dst[j] > top ? dst[j] : top;
			}
			l->tops[i * l->pairs + pair] = top;
		}
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
