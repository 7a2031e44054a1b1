//go:build amd64 || arm64

#include "jobs.h"

// What is worth a task of its own, in float32 multiply-adds, of which a core does 1 to
// 50 in a nanosecond.
#define SMALL_TASK (1 << 17)

// The threads end together to within a task.
#define TASKS_PER_THREAD 12

// What an element costs in the kernels of rows, in multiply-adds of a product.
#define ELEMENT_WORK 16

// Rows of A in one task: LEAST_ROWS or more have W read from far seldom enough; of
// MOST_ROWS, BLOCK_M of gemm_f32.c, it keeps a part in the second-level cache while W
// passes. Tasks share rows out before columns, since each of those reads A anew.
#define LEAST_ROWS 48
#define MOST_ROWS 120

// Columns go by four panels, which the kernels for one row take at once.
#define COLUMN_STEP 64

size_t tasks_of(const struct pool *p, size_t work)
{
	const size_t threads = pool_threads(p);
	return threads == 1 ? 1 : max(1, min(work / SMALL_TASK, threads * TASKS_PER_THREAD));
}

struct grid gemm_grid(const struct pool *p, size_t m, size_t n, size_t work, size_t step)
{
	const size_t tasks = tasks_of(p, work), steps = ceil_div(n, COLUMN_STEP);
	const size_t most = min(MOST_ROWS, max(LEAST_ROWS, ceil_div(m, tasks)));
	const size_t rows = ceil_div(ceil_div(m, ceil_div(m, most)), step) * step;
	const size_t down = ceil_div(m, rows);
	const size_t cols = ceil_div(steps, min(steps, ceil_div(tasks, down))) * COLUMN_STEP;
	return (struct grid){rows, cols, ceil_div(n, cols), down * ceil_div(n, cols)};
}

struct gemm_f32 {
	const struct kernels *kernels;
	struct grid grid;
	float *dst;
	size_t ldd;
	const float *a;
	size_t lda, m;
	const float *w;
	size_t kcap, n, k;
	const float *bias;
};

static void gemm_f32_task(const void *args, size_t index, size_t thread)
{
	const struct gemm_f32 *g = args;
	const size_t i = index / g->grid.across * g->grid.rows;
	const size_t j = index % g->grid.across * g->grid.cols;

	(void)thread;
	g->kernels->gemm_f32(g->dst + i * g->ldd, g->ldd, g->a + i * g->lda, g->lda,
	                     min(g->grid.rows, g->m - i), g->w, g->kcap, j,
	                     min(j + g->grid.cols, g->n), g->k, g->bias);
}

// Reading an element of W costs as much as two multiply-adds.
void pool_gemm_f32(struct pool *p, const struct kernels *kernels, float *dst, size_t ldd,
                   const float *a, size_t lda, size_t m, const float *w, size_t kcap, size_t n,
                   size_t k, const float *bias)
{
	const struct grid grid = gemm_grid(p, m, n, (m + 2) * n * k, ROW_STEP_F32);
	const struct gemm_f32 args = {kernels, grid, dst, ldd, a, lda, m, w, kcap, n, k, bias};
	pool_run(p, gemm_f32_task, &args, grid.tasks);
}

struct gemm_i8 {
	const struct kernels *kernels;
	struct grid grid;
	float *dst;
	size_t ldd;
	const float *x;
	size_t ldx, m;
	const int8_t *w;
	const float *wscale;
	size_t n, k, stride;
	const float *bias;
	int8_t *a;      // [m, stride]: x in int8
	float *ascale;  // [m]
	size_t step;    // rows that one task turns into int8
};

static void quantize_i8_task(const void *args, size_t index, size_t thread)
{
	const struct gemm_i8 *g = args;
	const size_t i = index * g->step;

	(void)thread;
	g->kernels->quantize_i8(g->a + i * g->stride, g->stride, g->ascale + i, g->x + i * g->ldx,
	                        g->ldx, min(g->step, g->m - i), g->k);
}

static void gemm_i8_task(const void *args, size_t index, size_t thread)
{
	const struct gemm_i8 *g = args;
	const size_t i = index / g->grid.across * g->grid.rows;
	const size_t j = index % g->grid.across * g->grid.cols;

	(void)thread;
	g->kernels->gemm_i8(g->dst + i * g->ldd, g->ldd, g->a + i * g->stride, g->ascale + i,
	                    min(g->grid.rows, g->m - i), g->w, g->wscale, j,
	                    min(j + g->grid.cols, g->n), g->stride, g->bias);
}

// A product of bytes is half the work of one of floats.
void pool_gemm_i8(struct pool *p, const struct kernels *kernels, float *dst, size_t ldd,
                  const float *x, size_t ldx, size_t m, const int8_t *w, const float *wscale,
                  size_t n, size_t k, size_t stride, const float *bias, int8_t *a, float *ascale)
{
	const size_t step = ceil_div(m, tasks_of(p, m * k * ELEMENT_WORK / 4));
	const struct grid grid = gemm_grid(p, m, n, (m + 1) * n * k / 2, ROW_STEP_I8);
	const struct gemm_i8 args = {kernels, grid, dst, ldd, x, ldx, m, w, wscale, n, k, stride, bias,
	                             a, ascale, step};
	pool_run(p, quantize_i8_task, &args, ceil_div(m, step));
	pool_run(p, gemm_i8_task, &args, grid.tasks);
}

struct layer_norm_f32 {
	const struct kernels *kernels;
	float *dst;
	const float *x, *gamma, *beta;
	size_t rows, n;
	float eps;
	size_t step; // rows in one task
};

static void layer_norm_f32_task(const void *args, size_t index, size_t thread)
{
	const struct layer_norm_f32 *l = args;
	const size_t from = index * l->step, to = min(from + l->step, l->rows);

	(void)thread;
	for (size_t at = from * l->n; at < to * l->n; at += l->n)
		l->kernels->layer_norm_f32(l->dst + at, l->x + at, l->gamma, l->beta, l->n, l->eps);
}

void pool_layer_norm_f32(struct pool *p, const struct kernels *kernels, float *dst, const float *x,
                         const float *gamma, const float *beta, size_t rows, size_t n, float eps)
{
	const size_t step = ceil_div(rows, tasks_of(p, rows * n * ELEMENT_WORK));
	const struct layer_norm_f32 args = {kernels, dst, x, gamma, beta, rows, n, eps, step};
	pool_run(p, layer_norm_f32_task, &args, ceil_div(rows, step));
}

struct elements {
	const struct kernels *kernels;
	float *dst;
	const float *x;
	size_t n, step; // step: elements in one task
};

// Tasks are whole lines of the cache, so that threads do not write into one line.
static void run_elements(struct pool *p, pool_fn *fn, struct elements e)
{
	const size_t line = 16;
	e.step = ceil_div(ceil_div(e.n, tasks_of(p, e.n * ELEMENT_WORK)), line) * line;
	pool_run(p, fn, &e, ceil_div(e.n, e.step));
}

static void gelu_f32_task(const void *args, size_t index, size_t thread)
{
	const struct elements *e = args;
	const size_t from = index * e->step;

	(void)thread;
	e->kernels->gelu_f32(e->dst + from, min(e->step, e->n - from));
}

void pool_gelu_f32(struct pool *p, const struct kernels *kernels, float *x, size_t n)
{
	run_elements(p, gelu_f32_task, (struct elements){.kernels = kernels, .dst = x, .n = n});
}

static void add_f32_task(const void *args, size_t index, size_t thread)
{
	const struct elements *e = args;
	const size_t from = index * e->step;

	(void)thread;
	e->kernels->add_f32(e->dst + from, e->x + from, min(e->step, e->n - from));
}

void pool_add_f32(struct pool *p, const struct kernels *kernels, float *dst, const float *x, size_t n)
{
	run_elements(p, add_f32_task, (struct elements){.kernels = kernels, .dst = dst, .x = x, .n = n});
}

struct probe {
	int *hits;
	size_t turns;
};

static void probe_task(const void *args, size_t index, size_t thread)
{
	const struct probe *p = args;

	(void)thread;
	for (volatile size_t i = 0; i < p->turns; i++)
		;
	p->hits[index]++;
}

void pool_probe(struct pool *p, int *hits, size_t n, size_t turns)
{
	const struct probe args = {hits, turns};
	pool_run(p, probe_task, &args, n);
}
