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

#define PANEL 16

static size_t panels(size_t n) { return ceil_div(n, PANEL); }

// Floats of one head's keys, and of keys and values.
static size_t keys_size(size_t capacity, size_t d) { return capacity * d; }
static size_t head_size(size_t capacity, size_t d) { return capacity * (d + panels(d) * PANEL); }

struct put_kv {
	const struct kv *cache;
	size_t at, n;
	const float *k, *v;
	size_t ldk, ldv;
	size_t step; // positions in one task
	size_t across;
};

// The keys of neighbouring positions of one panel, side by side, column by column.
// Of a whole panel the loop is unrolled.
static void put_keys(float *panel, const float *k, size_t ldk, size_t positions, size_t d)
{
	if (positions == PANEL)
		for (size_t c = 0; c < d; c++)
			for (size_t i = 0; i < PANEL; i++)
				panel[c * PANEL + i] = k[i * ldk + c];
	else
		for (size_t i = 0; i < positions; i++)
			for (size_t c = 0; c < d; c++)
				panel[c * PANEL + i] = k[i * ldk + c];
}

// One position's values, in panels that are `panel` floats apart.
static void put_values(float *values, size_t panel, const float *v, size_t d)
{
	for (; d >= PANEL; d -= PANEL, v += PANEL, values += panel)
		memcpy(values, v, PANEL * sizeof *v);
	if (d > 0)
		memcpy(values, v, d * sizeof *v);
}

static void put_kv_task(const void *args, size_t index, size_t thread)
{
	const struct put_kv *p = args;
	const size_t d = p->cache->d, capacity = p->cache->capacity, head = index / p->across;
	const size_t from = index % p->across * p->step, to = min(from + p->step, p->n);
	float *keys = p->cache->data + head * head_size(capacity, d);
	float *values = keys + keys_size(capacity, d);

	(void)thread;
	for (size_t i = from, n; i < to; i += n) {
		const size_t at = p->at + i;
		n = min(PANEL - at % PANEL, to - i);
		put_keys(keys + at / PANEL * PANEL * d + at % PANEL, p->k + i * p->ldk + head * d, p->ldk, n, d);
	}
	for (size_t i = from; i < to; i++)
		put_values(values + (p->at + i) * PANEL, capacity * PANEL, p->v + i * p->ldv + head * d, d);
}

// A value costs about as much as so many multiply-adds of a product.
#define PUT_WORK 12

void pool_put_kv(struct pool *p, const struct kv *cache, size_t at, size_t n, const float *k,
                 size_t ldk, const float *v, size_t ldv)
{
	struct put_kv args = {cache, at, n, k, v, ldk, ldv, n, 1};
	const size_t tasks = tasks_of(p, n * cache->heads * cache->d * PUT_WORK);

	if (tasks == 1) {
		for (size_t head = 0; head < cache->heads; head++)
			put_kv_task(&args, head, 0);
		return;
	}
	args.step = panels(ceil_div(n, ceil_div(tasks, cache->heads))) * PANEL;
	args.across = ceil_div(n, args.step);
	pool_run(p, put_kv_task, &args, cache->heads * args.across);
}

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

// Rows `from` to `from`+rows-1 of all, which see the first n positions.
static void attend_rows(const struct attend_f32 *a, const struct query *query, size_t head,
                        size_t from, size_t rows, size_t n, float *scores)
{
	const struct kernels *k = a->kernels;
	const size_t d = a->d, lds = panels(n) * PANEL;
	const float *keys = query->data + head * head_size(query->capacity, d);
	const float *values = keys + keys_size(query->capacity, d);
	float *out = a->out + from * a->ldo + head * d;

	k->gemm_f32(scores, lds, a->q + from * a->ldq + head * d, a->ldq, rows, keys, d, 0, n, d, NULL);
	float scale[MOST_ROWS];
	for (size_t r = 0; r < rows; r++) {
		const float sum = k->exp_sum_f32(scores + r * lds, n);
		scale[r] = sum == 0 ? 0 : 1 / sum; // all masked
	}
	k->gemm_f32(out, a->ldo, scores, lds, rows, values, query->capacity, 0, d, n, NULL);
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
