// Threads that share loops, and the loops (jobs) that Go calls: one call from Go
// each, fanned out here, so that the Go scheduler has no part in it.

#ifndef EARSHOT_POOL_H
#define EARSHOT_POOL_H

#include <stddef.h>

struct pool;

// fn(args, index, thread) runs one index of a loop on thread 0 (the caller) to
// threads-1. It must not call pool_run.
typedef void pool_fn(const void *args, size_t index, size_t thread);

// Starts threads-1 helpers and returns them, or as many as the system grants; null
// if there is no memory. The helpers are bound to the count CPUs listed, unless
// count is 0.
struct pool *pool_open(size_t threads, const int *cpus, size_t count);

// The threads there are, the caller included.
size_t pool_threads(const struct pool *);

// Calls fn for each index below n, once, in any order, and returns when all have
// returned. One caller at a time.
void pool_run(struct pool *, pool_fn *fn, const void *args, size_t n);

// Ends and joins the helpers.
void pool_close(struct pool *);

#endif
