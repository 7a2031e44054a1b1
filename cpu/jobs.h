// The loops that Go hands to a pool, one call each. Lengths and bounds have been
// checked, and nothing is empty. k is the tier whose kernels run.

#ifndef EARSHOT_JOBS_H
#define EARSHOT_JOBS_H

#include <stddef.h>

#include "kernels.h"
#include "kv.h"
#include "pool.h"

// A number of rows that is whole tiles of a matrix product in any tier: they have 3,
// 6 or 8 rows on amd64; on arm64 5 in float32, and 3 or 6 in int8.
#if defined(__aarch64__)
#define ROW_STEP_F32 5
#define ROW_STEP_I8 6
#else
#define ROW_STEP_F32 24
#define ROW_STEP_I8 24
#endif

// A loop over an m × n result in blocks of rows × cols, row blocks outermost.
struct grid {
	size_t rows, cols;
	size_t across; // blocks side by side
	size_t tasks;
};

// Cuts an m × n result of a matrix product for the pool's threads, by a multiple of
// `step` rows. work is what it costs in float32 multiply-adds.
struct grid gemm_grid(const struct pool *, size_t m, size_t n, size_t work, size_t step);

// How many tasks so much work, in the same unit, is worth.
size_t tasks_of(const struct pool *, size_t work);

static inline size_t max(size_t a, size_t b) { return a > b ? a : b; }
static inline size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// gemm_f32 of kernels.h for all columns
void pool_gemm_f32(struct pool *, const struct kernels *k, float *dst, size_t ldd, const float *a,
                   size_t lda, size_t m, const float *w, size_t kcap, size_t n, size_t depth,
                   const float *bias);

// quantize_i8 of x, [m, k] with ldx values from row to row, into a, [m, stride], and
// ascale, [m]; then gemm_i8 of kernels.h for all columns
void pool_gemm_i8(struct pool *, const struct kernels *k, float *dst, size_t ldd, const float *x,
                  size_t ldx, size_t m, const int8_t *w, const float *wscale, size_t n, size_t depth,
                  size_t stride, const float *bias, int8_t *a, float *ascale);

// [n, k] in two planes of nibbles, with a stride of k rounded up to 8.
struct split_i8 {
	const uint8_t *high, *low;
	const float *scales;
	size_t n, k, stride;
};

// x·Wᵀ as Pool.LargestI8 in Go defines it. a is [m, stride], ascale [m], and tops and
// exact have m times as many elements as w has pairs of panels.
void pool_largest_i8(struct pool *, const struct kernels *k, float *dst, size_t ldd, const float *x,
                     size_t ldx, size_t m, struct split_i8 w, float margin, int8_t *a, float *ascale,
                     float *tops, uint32_t *exact);

// dst[r] = layer_norm(x[r]) for rows of n values that follow each other
void pool_layer_norm_f32(struct pool *, const struct kernels *k, float *dst, const float *x,
                         const float *gamma, const float *beta, size_t rows, size_t n, float eps);

void pool_gelu_f32(struct pool *, const struct kernels *k, float *x, size_t n);

void pool_add_f32(struct pool *, const struct kernels *k, float *dst, const float *x, size_t n);

// Overwrites positions at to at+n-1 with rows of k and v, [n, heads·d] each.
void pool_put_kv(struct pool *, const struct kernels *kernels, const struct kv *, size_t at, size_t n,
                 const float *k, size_t ldk, const float *v, size_t ldv);

// Neighbouring rows that attend over the first n positions of one cache; where they
// are causal, each row after the first over one more.
struct query {
	struct kv cache;
	size_t n, rows;
	int causal;
};

// out[r, h·d…] = softmax(q[r, h·d…]·Kᵀ)·V for all heads h and all rows r of the
// queries, which follow each other. weights, unless null, are the softmax's: row r,
// head h at (r·heads + h)·ldw. scratch has `room` floats for each thread, at least n
// of any query rounded up to 16.
void pool_attend_f32(struct pool *, const struct kernels *k, float *out, size_t ldo, const float *q,
                     size_t ldq, const struct query *queries, size_t count, size_t heads, size_t d,
                     float *weights, size_t ldw, float *scratch, size_t room);

// For tests and for measuring a loop that does nothing: adds 1 to hits[i] for each i
// below n, after `turns` turns of an empty loop.
void pool_probe(struct pool *, int *hits, size_t n, size_t turns);

#endif
