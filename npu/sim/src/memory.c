// memory.c: the memory of the simulated APU. Each allocation is a memfd, so that it takes
// a descriptor of the process as the real driver's buffers do; what is held is counted in
// bytes of whole pages and in allocations, against the budget of the profile.
#define _GNU_SOURCE
#include "sim.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	uint64_t now, mark;
	uint32_t allocations, allocations_mark;
	uint32_t executions, operations;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t pages(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

bool pool_charge(uint64_t bytes, uint32_t allocations)
{
	pthread_mutex_lock(&pool.lock);
	bool fits = bytes <= profile.budget_bytes && pool.now <= profile.budget_bytes - bytes &&
		allocations <= profile.max_allocs && pool.allocations <= profile.max_allocs - allocations;
	if (fits) {
		pool.now += bytes;
		pool.allocations += allocations;
		pool.mark = pool.now > pool.mark ? pool.now : pool.mark;
		pool.allocations_mark = pool.allocations > pool.allocations_mark ? pool.allocations : pool.allocations_mark;
	}
	pthread_mutex_unlock(&pool.lock);
	return fits;
}

void pool_return(uint64_t bytes, uint32_t allocations)
{
	pthread_mutex_lock(&pool.lock);
	pool.now -= bytes;
	pool.allocations -= allocations;
	pthread_mutex_unlock(&pool.lock);
}

void NeuronSim_getMemory(uint64_t *now, uint64_t *mark, uint32_t *allocations_now, uint32_t *allocations_mark)
{
	pthread_mutex_lock(&pool.lock);
	if (now != NULL)
		*now = pool.now;
	if (mark != NULL)
		*mark = pool.mark;
	if (allocations_now != NULL)
		*allocations_now = pool.allocations;
	if (allocations_mark != NULL)
		*allocations_mark = pool.allocations_mark;
	pthread_mutex_unlock(&pool.lock);
}

bool map_new(struct allocation *a, size_t bytes)
{
	*a = (struct allocation){.fd = memfd_create("neuronsim", MFD_CLOEXEC), .bytes = pages(bytes)};
	if (a->fd < 0)
		return false;
	if (ftruncate(a->fd, (off_t)a->bytes) == 0) {
		a->data = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
		if (a->data != MAP_FAILED)
			return true;
	}
	close(a->fd);
	a->data = NULL;
	return false;
}

void unmap(struct allocation *a)
{
	if (a->data == NULL)
		return;
	munmap(a->data, a->bytes);
	close(a->fd);
	a->data = NULL;
}

bool allocate(struct allocation *a, size_t bytes)
{
	a->data = NULL;
	if (!pool_charge(pages(bytes), 1))
		return false;
	if (map_new(a, bytes))
		return true;
	pool_return(pages(bytes), 1);
	return false;
}

void free_allocation(struct allocation *a)
{
	if (a->data == NULL)
		return;
	unmap(a);
	pool_return(a->bytes, 1);
}

// The line of MediaTek's library, letter by letter: mem(size/align/type/flags), where 5 is
// cacheable memory at high addresses. Any reason gives this one.
void refuse_allocation(size_t bytes)
{
	fprintf(stderr, "memAlloc: alloc mem(%zu/0/0/0x5) fail(Cannot allocate memory)\n", bytes);
}

// ---- memory of the client

// bytes_behind is the size of what a descriptor stands for; a dma-buf answers this too.
static off_t bytes_behind(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR), end = lseek(fd, 0, SEEK_END);
	if (at >= 0)
		lseek(fd, at, SEEK_SET);
	return end;
}

int NeuronMemory_createFromFd(size_t size, int protect, int fd, size_t offset, NeuronMemory **out)
{
	int code = board();
	if (code != NEURON_NO_ERROR)
		return code;
	if (out == NULL)
		return NEURON_UNEXPECTED_NULL;
	*out = NULL;
	off_t end = bytes_behind(fd);
	if (size == 0 || offset % PAGE != 0 || end < 0 || offset > (size_t)end || size > (size_t)end - offset) {
		say("NeuronMemory_createFromFd: %zu bytes from %zu on are not in descriptor %d, or do not begin at a page", size, offset, fd);
		return NEURON_BAD_DATA;
	}
	NeuronMemory *m = calloc(1, sizeof *m);
	if (m == NULL)
		return NEURON_OUT_OF_MEMORY;
	m->users = 1;
	m->size = size;
	m->import = (struct allocation){.fd = -1, .bytes = pages(size)};
	if (pool_charge(m->import.bytes, 1)) {
		m->import.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		m->import.data = m->import.fd < 0 ? MAP_FAILED : mmap(NULL, m->import.bytes, protect, MAP_SHARED, m->import.fd, (off_t)offset);
		if (m->import.data != MAP_FAILED) {
			*out = m;
			return NEURON_NO_ERROR;
		}
		if (m->import.fd >= 0)
			close(m->import.fd);
		pool_return(m->import.bytes, 1);
	}
	fprintf(stderr, "memImport: import mem(0x0/%zu) handle(%d) fail\n", size, fd);
	free(m);
	return NEURON_BAD_DATA;
}

int NeuronMemory_createFromAHardwareBuffer(const AHardwareBuffer *buffer, NeuronMemory **out)
{
	if (buffer == NULL || out == NULL)
		return NEURON_UNEXPECTED_NULL;
	return NEURON_BAD_DATA; // there are none outside Android
}

void release_memory(NeuronMemory *m)
{
	if (m != NULL && --m->users == 0)
		free(m);
}

void NeuronMemory_free(NeuronMemory *m)
{
	if (m == NULL || m->freed)
		return;
	m->freed = true;
	free_allocation(&m->import);
	release_memory(m);
}

// ---- report

void count_operations(uint32_t n)
{
	pthread_mutex_lock(&pool.lock);
	pool.operations = n > pool.operations ? n : pool.operations;
	pthread_mutex_unlock(&pool.lock);
}

uint32_t count_execution(void)
{
	pthread_mutex_lock(&pool.lock);
	uint32_t n = ++pool.executions;
	pthread_mutex_unlock(&pool.lock);
	return n;
}

// report appends a line to the file that NEURONSIM_REPORT names; the last line of a
// process holds its largest figures.
void report(void)
{
	const char *path = getenv("NEURONSIM_REPORT");
	if (path == NULL || *path == 0)
		return;
	char line[256];
	pthread_mutex_lock(&pool.lock);
	int n = snprintf(line, sizeof line,
		"{\"pid\":%d,\"mark\":%llu,\"allocations\":%u,\"operations\":%u,\"executions\":%u,\"held\":%llu,\"held_allocations\":%u}\n",
		(int)getpid(), (unsigned long long)pool.mark, pool.allocations_mark, pool.operations, pool.executions,
		(unsigned long long)pool.now, pool.allocations);
	pthread_mutex_unlock(&pool.lock);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		say("the report can't be written to %s", path);
	if (fd >= 0)
		close(fd);
}

__attribute__((destructor)) static void report_at_end(void)
{
	if (profile.name[0] != 0)
		report();
}
