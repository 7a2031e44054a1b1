//go:build amd64 || arm64

// Putting keys and values into a cache.

#include <string.h>

#include "jobs.h"

struct put_kv {
	const struct kernels *kernels;
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

// Columns of a panel that are rounded at a time.
#define ROUND_COLUMNS 64

// The same in float16. Where not all of a panel is put, columns go one by one: beside
// them lie other positions.
static void put_keys_f16(const struct kernels *kernels, uint16_t *panel, const float *k, size_t ldk,
                         size_t positions, size_t d)
{
	float part[ROUND_COLUMNS * PANEL];

	for (size_t n; d > 0; d -= n, k += n, panel += n * PANEL) {
		n = min(d, ROUND_COLUMNS);
		put_keys(part, k, ldk, positions, n);
		if (positions == PANEL)
			kernels->round_f16(panel, part, n * PANEL);
		else
			for (size_t c = 0; c < n; c++)
				kernels->round_f16(panel + c * PANEL, part + c * PANEL, positions);
	}
}

// One position's values, in panels that are `panel` elements apart.
static void put_values(float *values, size_t panel, const float *v, size_t d)
{
	for (; d >= PANEL; d -= PANEL, v += PANEL, values += panel)
		memcpy(values, v, PANEL * sizeof *v);
	if (d > 0)
		memcpy(values, v, d * sizeof *v);
}

static void put_values_f16(const struct kernels *kernels, uint16_t *values, size_t panel, const float *v,
                           size_t d)
{
	for (size_t n; d > 0; d -= n, v += n, values += panel) {
		n = min(d, PANEL);
		kernels->round_f16(values, v, n);
	}
}

static void put_kv_task(const void *args, size_t index, size_t thread)
{
	const struct put_kv *p = args;
	const struct kv *cache = p->cache;
	const size_t d = cache->d, capacity = cache->capacity, head = index / p->across;
	const size_t from = index % p->across * p->step, to = min(from + p->step, p->n);
	const size_t keys = head * head_size(capacity, d), values = keys + keys_size(capacity, d);

	(void)thread;
	for (size_t i = from, n; i < to; i += n) {
		const size_t at = p->at + i, panel = keys + at / PANEL * PANEL * d + at % PANEL;
		const float *k = p->k + i * p->ldk + head * d;
		n = min(PANEL - at % PANEL, to - i);
		if (cache->f16)
			put_keys_f16(p->kernels, cache->f16 + panel, k, p->ldk, n, d);
		else
			put_keys(cache->f32 + panel, k, p->ldk, n, d);
	}
	for (size_t i = from; i < to; i++) {
		const size_t at = values + (p->at + i) * PANEL;
		const float *v = p->v + i * p->ldv + head * d;
		if (cache->f16)
			put_values_f16(p->kernels, cache->f16 + at, capacity * PANEL, v, d);
		else
			put_values(cache->f32 + at, capacity * PANEL, v, d);
	}
}

// A value costs about as much as so many multiply-adds of a product.
#define PUT_WORK 12

void pool_put_kv(struct pool *p, const struct kernels *kernels, const struct kv *cache, size_t at,
                 size_t n, const float *k, size_t ldk, const float *v, size_t ldv)
{
	struct put_kv args = {kernels, cache, at, n, k, v, ldk, ldv, n, 1};
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
