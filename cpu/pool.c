//go:build amd64 || arm64

// The caller takes part in its loop, and does not wait for helpers that have not come
// in when the indices run out. A helper without work looks out for SPIN_NS, since the
// loops of a network follow each other within microseconds, then sleeps: a loop on
// two threads that are awake costs 0.5 µs (2026-11-30, Zen 3 in a virtual machine).

#define _GNU_SOURCE

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"

#define LINE 64

// How long a thread looks out before it sleeps: a little longer than what lies
// between two loops of a network or between two tokens. Waking takes 5 to 50 µs.
#define SPIN_NS 60000

#define SHUT (1u << 30)          // no helper may come in
#define CALLER_SLEEPS (1u << 29) // the last helper to leave wakes the caller

struct helper {
	struct pool *pool;
	size_t thread;
	pthread_t id;
};

struct pool {
	// All that changes in a loop lies in one line of the cache, which travels between
	// the cores once or twice a loop. fn, args and n are written while the gate is shut
	// and nobody is inside.
	alignas(LINE) pool_fn *fn;
	const void *args;
	size_t n;
	atomic_size_t next; // the next index
	atomic_uint gate;   // helpers inside, and the two flags
	atomic_uint calls;  // counted up to call the helpers
	atomic_uint sleepers;
	atomic_bool closing;

	size_t helpers;
	struct helper helper[];
};

static void futex_wait(atomic_uint *word, unsigned value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, size_t most)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, (int)most, NULL, NULL, 0);
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("isb"); // `yield` does nothing on cores without threads of their own
#endif
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// Waits while *word is value (or while it is not), at most SPIN_NS; whether that was
// in vain.
static bool spin_while(atomic_uint *word, bool is, unsigned value)
{
	int64_t end = 0;
	for (unsigned turn = 1;; turn++) {
		if ((atomic_load_explicit(word, memory_order_acquire) == value) != is)
			return false;
		pause_briefly();
		if (turn % 32 != 0)
			continue;
		const int64_t now = now_ns();
		if (end == 0)
			end = now + SPIN_NS;
		else if (now >= end)
			return true;
	}
}

static void work(struct pool *p, size_t thread)
{
	const size_t n = p->n;
	for (size_t i; (i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < n;)
		p->fn(p->args, i, thread);
}

// Counts the helper in, unless the gate is shut.
static bool enter(struct pool *p)
{
	unsigned inside = atomic_load(&p->gate);
	while (!(inside & SHUT))
		if (atomic_compare_exchange_weak(&p->gate, &inside, inside + 1))
			return true;
	return false;
}

static void leave(struct pool *p)
{
	if (atomic_fetch_sub(&p->gate, 1) - 1 == (SHUT | CALLER_SLEEPS))
		futex_wake(&p->gate, 1);
}

// Waits for the call after the one numbered last, and returns its number.
static unsigned await_call(struct pool *p, unsigned last)
{
	if (spin_while(&p->calls, true, last)) {
		atomic_fetch_add(&p->sleepers, 1);
		while (atomic_load(&p->calls) == last)
			futex_wait(&p->calls, last);
		atomic_fetch_sub(&p->sleepers, 1);
	}
	return atomic_load(&p->calls);
}

static void call_helpers(struct pool *p, size_t most)
{
	atomic_fetch_add(&p->calls, 1);
	if (atomic_load(&p->sleepers) > 0)
		futex_wake(&p->calls, most);
}

static void *help(void *arg)
{
	const struct helper *h = arg;
	struct pool *p = h->pool;

	for (unsigned last = 0;;) {
		last = await_call(p, last);
		if (atomic_load(&p->closing))
			return NULL;
		if (enter(p)) {
			work(p, h->thread);
			leave(p);
		}
	}
}

// Shuts the gate and waits until nobody is inside.
static void await_helpers(struct pool *p)
{
	if (atomic_fetch_or(&p->gate, SHUT) == 0 || !spin_while(&p->gate, false, SHUT))
		return;
	unsigned gate = atomic_fetch_or(&p->gate, CALLER_SLEEPS) | CALLER_SLEEPS;
	while (gate != (SHUT | CALLER_SLEEPS)) {
		futex_wait(&p->gate, gate);
		gate = atomic_load(&p->gate);
	}
}

void pool_run(struct pool *p, pool_fn *fn, const void *args, size_t n)
{
	if (p->helpers == 0 || n < 2) {
		for (size_t i = 0; i < n; i++)
			fn(args, i, 0);
		return;
	}
	p->fn = fn, p->args = args, p->n = n;
	atomic_store_explicit(&p->next, 0, memory_order_relaxed);
	atomic_store(&p->gate, 0);
	call_helpers(p, n - 1 < p->helpers ? n - 1 : p->helpers);
	work(p, 0);
	await_helpers(p);
}

size_t pool_threads(const struct pool *p) { return p->helpers + 1; }

// Signals that come from outside are for Go's threads. Faults stay visible, and
// profiles see the helpers.
static void block_signals(sigset_t *before)
{
	static const int open[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF};
	sigset_t set;
	sigfillset(&set);
	for (size_t i = 0; i < sizeof open / sizeof *open; i++)
		sigdelset(&set, open[i]);
	pthread_sigmask(SIG_SETMASK, &set, before);
}

// Binds a helper to any of the CPUs; a system that refuses leaves it free.
static void bind(pthread_t id, const int *cpus, size_t count)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (size_t i = 0; i < count; i++)
		if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE)
			CPU_SET(cpus[i], &set);
	if (count > 0)
		pthread_setaffinity_np(id, sizeof set, &set);
}

struct pool *pool_open(size_t threads, const int *cpus, size_t count)
{
	const size_t size = sizeof(struct pool) + (threads - 1) * sizeof(struct helper);
	struct pool *p = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
	if (!p)
		return NULL;
	memset(p, 0, size);
	atomic_store(&p->gate, SHUT);

	sigset_t before;
	block_signals(&before);
	for (size_t i = 0; i < threads - 1; i++) {
		struct helper *h = &p->helper[i];
		*h = (struct helper){.pool = p, .thread = i + 1};
		if (pthread_create(&h->id, NULL, help, h) != 0)
			break;
		pthread_setname_np(h->id, "compute");
		bind(h->id, cpus, count);
		p->helpers++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return p;
}

void pool_close(struct pool *p)
{
	atomic_store(&p->closing, true);
	call_helpers(p, p->helpers);
	for (size_t i = 0; i < p->helpers; i++)
		pthread_join(p->helper[i].id, NULL);
	free(p);
}
