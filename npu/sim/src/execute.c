// execute.c: executions. All memory is taken when one is created; that is where a board
// with too little of it fails.
#define _GNU_SOURCE
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { INFO_BYTES = 160 }; // of the allocation that failed on a board

// An argument is where an input comes from, or an output goes to: memory of the client,
// or a buffer, which costs an allocation of its own.
struct argument {
	void *buffer;
	struct allocation copy;
	NeuronMemory *memory;
	size_t offset;
};

struct NeuronExecution {
	NeuronCompilation *compilation;
	struct plan plan;
	struct allocation info, *slots; // [plan.n_slots]
	struct argument *inputs, *outputs;
	struct tensor *tensors;
	struct tensor **bound; // room for the operands of one operation
	struct scratch scratch;
};

// ---- create, free

static bool make_arrays(NeuronExecution *e)
{
	const NeuronModel *m = e->compilation->model;
	uint32_t most = 0;
	for (uint32_t i = 0; i < m->n_operations; i++) {
		uint32_t n = m->operations[i].n_in + m->operations[i].n_out;
		most = n > most ? n : most;
	}
	e->slots = calloc(e->plan.n_slots + 1, sizeof *e->slots);
	e->inputs = calloc(m->n_inputs, sizeof *e->inputs);
	e->outputs = calloc(m->n_outputs, sizeof *e->outputs);
	e->tensors = calloc(m->n_operands, sizeof *e->tensors);
	e->bound = calloc(most, sizeof *e->bound);
	return e->slots != NULL && e->inputs != NULL && e->outputs != NULL && e->tensors != NULL && e->bound != NULL;
}

static uint64_t planned_bytes(const NeuronExecution *e) { return pages(INFO_BYTES) + e->plan.peak_bytes; }

static void unmap_all(NeuronExecution *e)
{
	for (uint32_t i = 0; i < e->plan.n_slots; i++)
		unmap(&e->slots[i]);
	unmap(&e->info);
}

// take_memory maps the slots and the information of an execution. The slots together can
// be larger than the peak, as tensors of several sizes lie in one; what counts is the peak.
static bool take_memory(NeuronExecution *e)
{
	if (!pool_charge(planned_bytes(e), 1 + e->plan.peak_allocations))
		return false;
	bool good = true;
	for (uint32_t i = 0; good && i < e->plan.n_slots; i++)
		good = map_new(&e->slots[i], e->plan.slot_bytes[i]);
	if (good && map_new(&e->info, INFO_BYTES))
		return true;
	unmap_all(e);
	pool_return(planned_bytes(e), 1 + e->plan.peak_allocations);
	return false;
}

static void free_execution(NeuronExecution *e)
{
	free_plan(&e->plan);
	free(e->slots);
	free(e->inputs);
	free(e->outputs);
	free(e->tensors);
	free(e->bound);
	free(e->scratch.data);
	release_compilation(e->compilation);
	free(e);
}

int NeuronExecution_create(NeuronCompilation *c, NeuronExecution **out)
{
	if (c == NULL || out == NULL)
		return NEURON_UNEXPECTED_NULL;
	*out = NULL;
	if (!c->finished)
		return NEURON_BAD_STATE;
	NeuronExecution *e = calloc(1, sizeof *e);
	if (e == NULL)
		return NEURON_OUT_OF_MEMORY;
	e->compilation = c;
	c->users++;
	if (!make_plan(&e->plan, c->model) || !make_arrays(e)) {
		free_execution(e);
		return NEURON_OUT_OF_MEMORY;
	}
	if (!take_memory(e)) {
		refuse_allocation(INFO_BYTES);
		fputs("alloc execInfo fail\n", stderr);
		free_execution(e);
		return NEURON_BAD_STATE;
	}
	*out = e;
	return NEURON_NO_ERROR;
}

static void forget(struct argument *a)
{
	free_allocation(&a->copy);
	release_memory(a->memory);
	*a = (struct argument){0};
}

void NeuronExecution_free(NeuronExecution *e)
{
	if (e == NULL)
		return;
	const NeuronModel *m = e->compilation->model;
	for (uint32_t i = 0; i < m->n_inputs; i++)
		forget(&e->inputs[i]);
	for (uint32_t i = 0; i < m->n_outputs; i++)
		forget(&e->outputs[i]);
	unmap_all(e);
	pool_return(planned_bytes(e), 1 + e->plan.peak_allocations);
	free_execution(e);
	report();
}

// ---- arguments

// find returns the argument for an index, whose tensor has that size and type.
static int find(NeuronExecution *e, bool output, uint64_t index, const NeuronOperandType *type, size_t length, struct argument **a)
{
	const NeuronModel *m = e->compilation->model;
	struct tensor given;
	if (index >= (output ? m->n_outputs : m->n_inputs))
		return NEURON_BAD_DATA;
	const struct tensor *t = &m->operands[(output ? m->outputs : m->inputs)[index]].t;
	if (length < tensor_bytes(t)) {
		say("%s %u has %zu bytes, not %zu", output ? "output" : "input", (unsigned)index, tensor_bytes(t), length);
		return NEURON_BAD_DATA;
	}
	if (type != NULL && (!set_type(&given, type) || given.type != t->type || !same_dims(&given, t)))
		return NEURON_BAD_DATA;
	*a = &(output ? e->outputs : e->inputs)[index];
	return NEURON_NO_ERROR;
}

static int set_buffer(NeuronExecution *e, bool output, int32_t index, const NeuronOperandType *type, void *buffer, size_t length)
{
	struct argument *a;
	if (e == NULL || buffer == NULL || (type != NULL && type->dimensionCount > 0 && type->dimensions == NULL))
		return NEURON_UNEXPECTED_NULL;
	int code = index < 0 ? NEURON_BAD_DATA : find(e, output, (uint64_t)index, type, length, &a);
	if (code != NEURON_NO_ERROR)
		return code;
	if (a->copy.data == NULL) {
		forget(a);
		const NeuronModel *m = e->compilation->model;
		size_t bytes = tensor_bytes(&m->operands[(output ? m->outputs : m->inputs)[index]].t);
		if (!allocate(&a->copy, bytes)) {
			refuse_allocation(bytes);
			return NEURON_OUT_OF_MEMORY;
		}
	}
	a->buffer = buffer;
	return NEURON_NO_ERROR;
}

int NeuronExecution_setInput(NeuronExecution *e, int32_t index, const NeuronOperandType *type, const void *buffer, size_t length)
{
	return set_buffer(e, false, index, type, (void *)buffer, length); // only read
}

int NeuronExecution_setOutput(NeuronExecution *e, int32_t index, const NeuronOperandType *type, void *buffer, size_t length)
{
	return set_buffer(e, true, index, type, buffer, length);
}

static int set_memory(NeuronExecution *e, bool output, uint32_t index, const NeuronOperandType *type, const NeuronMemory *memory, size_t offset, size_t length)
{
	struct argument *a;
	if (e == NULL || memory == NULL || (type != NULL && type->dimensionCount > 0 && type->dimensions == NULL))
		return NEURON_UNEXPECTED_NULL;
	int code = find(e, output, index, type, length, &a);
	if (code != NEURON_NO_ERROR)
		return code;
	if (offset % ALIGNMENT != 0 || offset > memory->size || length > memory->size - offset) {
		say("%zu bytes at %zu are not in a memory of %zu, or not at a multiple of %d", length, offset, memory->size, ALIGNMENT);
		return NEURON_BAD_DATA;
	}
	NeuronMemory *kept = (NeuronMemory *)memory;
	kept->users++;
	forget(a);
	a->memory = kept;
	a->offset = offset;
	return NEURON_NO_ERROR;
}

int NeuronExecution_setInputFromMemory(NeuronExecution *e, uint32_t index, const NeuronOperandType *type, const NeuronMemory *memory, size_t offset, size_t length)
{
	return set_memory(e, false, index, type, memory, offset, length);
}

int NeuronExecution_setOutputFromMemory(NeuronExecution *e, uint32_t index, const NeuronOperandType *type, const NeuronMemory *memory, size_t offset, size_t length)
{
	return set_memory(e, true, index, type, memory, offset, length);
}

// ---- settings and questions

int NeuronExecution_setBoostHint(NeuronExecution *e, uint8_t boost)
{
	return e == NULL ? NEURON_UNEXPECTED_NULL : boost <= 100 ? NEURON_NO_ERROR : NEURON_BAD_DATA;
}

int NeuronExecution_setLoopTimeout(NeuronExecution *e, uint64_t ns) { return e == NULL ? NEURON_UNEXPECTED_NULL : NEURON_NO_ERROR; }

int NeuronExecution_setCacheFlushHint(NeuronExecution *e, uint8_t hint)
{
	return e == NULL ? NEURON_UNEXPECTED_NULL : hint <= 3 ? NEURON_NO_ERROR : NEURON_BAD_DATA;
}

static int output_tensor(const NeuronExecution *e, int32_t index, const struct tensor **t)
{
	if (e == NULL)
		return NEURON_UNEXPECTED_NULL;
	const NeuronModel *m = e->compilation->model;
	if (index < 0 || (uint32_t)index >= m->n_outputs)
		return NEURON_BAD_DATA;
	*t = &m->operands[m->outputs[index]].t;
	return NEURON_NO_ERROR;
}

int NeuronExecution_getOutputOperandRank(NeuronExecution *e, int32_t index, uint32_t *rank)
{
	const struct tensor *t;
	int code = rank == NULL ? NEURON_UNEXPECTED_NULL : output_tensor(e, index, &t);
	if (code == NEURON_NO_ERROR)
		*rank = t->rank;
	return code;
}

int NeuronExecution_getOutputOperandDimensions(NeuronExecution *e, int32_t index, uint32_t *dims)
{
	const struct tensor *t;
	int code = dims == NULL ? NEURON_UNEXPECTED_NULL : output_tensor(e, index, &t);
	if (code == NEURON_NO_ERROR)
		memcpy(dims, t->dims, t->rank * sizeof *dims);
	return code;
}

// ---- compute

// argument_data is where the values of an argument are; NULL: it was not set, or its
// memory is gone.
static void *argument_data(const struct argument *a)
{
	if (a->buffer != NULL)
		return a->copy.data;
	return a->memory != NULL && !a->memory->freed ? (char *)a->memory->import.data + a->offset : NULL;
}

static int bind_arguments(NeuronExecution *e, const uint32_t *operands, const struct argument *a, uint32_t n, const char *what)
{
	for (uint32_t i = 0; i < n; i++) {
		e->tensors[operands[i]].data = argument_data(&a[i]);
		if (e->tensors[operands[i]].data != NULL)
			continue;
		say("%s %u is not set%s", what, i, a[i].memory != NULL ? " any more: its memory was freed" : "");
		return NEURON_BAD_DATA;
	}
	return NEURON_NO_ERROR;
}

// bind gives every tensor its memory.
static int bind(NeuronExecution *e)
{
	const NeuronModel *m = e->compilation->model;
	for (uint32_t i = 0; i < m->n_operands; i++) {
		e->tensors[i] = m->operands[i].t;
		e->tensors[i].relaxed = m->relaxed;
		if (m->operands[i].t.constant)
			e->tensors[i].data = (void *)value_of(e->compilation, i);
	}
	int code = bind_arguments(e, m->inputs, e->inputs, m->n_inputs, "input");
	if (code == NEURON_NO_ERROR)
		code = bind_arguments(e, m->outputs, e->outputs, m->n_outputs, "output");
	for (uint32_t i = 0; code == NEURON_NO_ERROR && i < m->n_operands; i++) {
		uint32_t root = e->plan.root[i];
		int32_t slot = e->plan.slot[root];
		if (m->operands[i].role == TEMPORARY && !m->operands[i].t.constant)
			e->tensors[i].data = slot == NO_SLOT ? e->tensors[root].data : e->slots[slot].data;
	}
	return code;
}

static bool run_operations(NeuronExecution *e)
{
	const NeuronModel *m = e->compilation->model;
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct operation *o = &m->operations[i];
		struct call c = make_call(o, e->tensors, sizeof *e->tensors, e->bound, e->bound + o->n_in);
		c.scratch = &e->scratch;
		if (!o->kind->run(&c))
			return false;
	}
	return true;
}

static void crash(void)
{
	volatile char *p = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*p = 1;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// delay makes what took a time take ten times as long, and a tenth of a second at least.
static void delay(double seconds)
{
	double rest = 9 * seconds > 0.1 ? 9 * seconds : 0.1;
	struct timespec t = {(time_t)rest, (long)((rest - (double)(time_t)rest) * 1e9)};
	while (nanosleep(&t, &t) != 0)
		continue;
}

// put_nan spoils one value in the middle of each output.
static void put_nan(NeuronExecution *e)
{
	const NeuronModel *m = e->compilation->model;
	const float nan = __builtin_nanf("");
	for (uint32_t i = 0; i < m->n_outputs; i++) {
		struct tensor *t = &e->tensors[m->outputs[i]];
		if (class_of(t->type) <= FLOAT32)
			store(t, elements(t) / 2, 1, &nan);
	}
}

static void copy_inputs(NeuronExecution *e)
{
	const NeuronModel *m = e->compilation->model;
	for (uint32_t i = 0; i < m->n_inputs; i++)
		if (e->inputs[i].buffer != NULL)
			memcpy(e->inputs[i].copy.data, e->inputs[i].buffer, tensor_bytes(&m->operands[m->inputs[i]].t));
}

static void copy_outputs(NeuronExecution *e)
{
	const NeuronModel *m = e->compilation->model;
	for (uint32_t i = 0; i < m->n_outputs; i++)
		if (e->outputs[i].buffer != NULL)
			memcpy(e->outputs[i].buffer, e->outputs[i].copy.data, tensor_bytes(&m->operands[m->outputs[i]].t));
}

int NeuronExecution_compute(NeuronExecution *e)
{
	if (e == NULL)
		return NEURON_UNEXPECTED_NULL;
	int code = bind(e);
	if (code != NEURON_NO_ERROR)
		return code;
	uint32_t n = count_execution();
	double start = now();
	if (is_due(&faults.crash, n))
		crash();
	while (is_due(&faults.hang, n))
		pause();
	if (is_due(&faults.execute, n)) {
		say("fault execute:%u", n);
		return NEURON_OP_FAILED;
	}
	copy_inputs(e);
	if (!run_operations(e))
		return NEURON_OUT_OF_MEMORY;
	if (faults.slow)
		delay(now() - start);
	if (is_due(&faults.nan, n))
		put_nan(e);
	copy_outputs(e);
	return NEURON_NO_ERROR;
}
