//go:build amd64 || arm64

// Attention over a cache of keys and values. What is held of the n × n scores is a
// few rows per thread. The sum that softmax divides by is applied to the result,
// which is shorter than the scores.
//
// A row's result has the same bits in any company: the matrix products see to it,
// and the rest goes row by row. Causal rows go one at a time, so that none meets a
// value that it must not see, not even multiplied by zero.

#include <string.h>

#include "jobs.h"

struct attend_f32 {
	const struct kernels *kernels;
	float *out;
	size_t ldo;
	const float *q;
	size_t ldq;
	const struct query *queries;
	size_t count, heads, d;
	float *weights;
	size_t ldw;
	float *scratch;
	size_t room;
	size_t units, step; // step: units in one task
};

#define MOST_ROWS (48 / ROW_STEP_F32 * ROW_STEP_F32)

// Rows whose scores are held at once: as many as there is room for, whole tiles.
static size_t block_rows(const struct attend_f32 *a, const struct query *query)
{
	const size_t most = min(MOST_ROWS, a->room / (panels(query->n) * PANEL));
	if (query->causal)
		return 1;
	return most < ROW_STEP_F32 ? most : most / ROW_STEP_F32 * ROW_STEP_F32;
}

// A unit is one head and one block of a query's rows.
static size_t units_of(const struct attend_f32 *a, const struct query *query)
{
	return a->heads * ceil_div(query->rows, block_rows(a, query));
}

// gemm_f32 of kernels.h with a W that lies in a cache from element `at` on.
static void product(const struct kernels *k, float *dst, size_t ldd, const float *x, size_t ldx,
                    size_t m, const struct kv *w, size_t at, size_t kcap, size_t n, size_t depth)
{
	if (w->f16)
		k->gemm_f16(dst, ldd, x, ldx, m, w->f16 + at, kcap, 0, n, depth, NULL);
	else
		k->gemm_f32(dst, ldd, x, ldx, m, w->f32 + at, kcap, 0, n, depth, NULL);
}

// Rows `from` to `from`+rows-1 of all, which see the first n positions.
static void attend_rows(const struct attend_f32 *a, const struct query *query, size_t head,
                        size_t from, size_t rows, size_t n, float *scores)
{
	const struct kernels *k = a->kernels;
	const struct kv *cache = &query->cache;
	const size_t d = cache->d, capacity = cache->capacity, lds = panels(n) * PANEL;
	const size_t keys = head * head_size(capacity, d), values = keys + keys_size(capacity, d);
	float *out = a->out + from * a->ldo + head * d;

	product(k, scores, lds, a->q + from * a->ldq + head * d, a->ldq, rows, cache, keys, d, n, d);
	float scale[MOST_ROWS];
	for (size_t r = 0; r < rows; r++) {
		const float sum = k->exp_sum_f32(scores + r * lds, n);
		scale[r] = sum == 0 ? 0 : 1 / sum; // all masked
	}
	product(k, out, a->ldo, scores, lds, rows, cache, values, capacity, d, n);
	for (size_t r = 0; r < rows; r++) {
		k->scale_f32(out + r * a->ldo, d, scale[r]);
		if (!a->weights)
			continue;
		float *w = a->weights + ((from + r) * a->heads + head) * a->ldw;
		memcpy(w, scores + r * lds, n * sizeof *w);
		k->scale_f32(w, n, scale[r]);
	}
}

static void attend_f32_task(const void *args, size_t index, size_t thread)
{
	const struct attend_f32 *a = args;
	const struct query *query = a->queries;
	size_t unit = index * a->step, left = min(a->step, a->units - unit), row = 0;

	for (; unit >= units_of(a, query); query++) {
		unit -= units_of(a, query);
		row += query->rows;
	}
	for (; left > 0; left--, unit++) {
		if (unit == units_of(a, query)) {
			row += query->rows;
			query++;
			unit = 0;
		}
		// Blocks of one head follow each other: its keys and values stay near.
		const size_t step = block_rows(a, query), across = ceil_div(query->rows, step);
		const size_t from = unit % across * step, rows = min(step, query->rows - from);
		const size_t n = query->n + (query->causal ? from : 0);
		attend_rows(a, query, unit / across, row + from, rows, n, a->scratch + thread * a->room);
	}
}

// What a position costs beside its 2·d multiply-adds: reading it, and exp.
#define POSITION_WORK 32

void pool_attend_f32(struct pool *p, const struct kernels *kernels, float *out, size_t ldo,
                     const float *q, size_t ldq, const struct query *queries, size_t count,
                     size_t heads, size_t d, float *weights, size_t ldw, float *scratch, size_t room)
{
	struct attend_f32 a = {kernels, out,     ldo, q,       ldq,  queries, count, heads,
	                       d,       weights, ldw, scratch, room, 0,       0};
	size_t work = 0;
	for (size_t i = 0; i < count; i++) {
		a.units += units_of(&a, &queries[i]);
		work += (2 * queries[i].rows + 4) * queries[i].n * d + queries[i].rows * queries[i].n * POSITION_WORK;
	}
	a.step = ceil_div(a.units, tasks_of(p, work * heads));
	pool_run(p, attend_f32_task, &a, ceil_div(a.units, a.step));
}
