// compile.c: from a finished model to what executions run. Only here are long values
// read; afterwards the client may do with them what it likes.
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES = 256 };

static int create(NeuronModel *m, NeuronCompilation **out)
{
	if (m == NULL || out == NULL)
		return NEURON_UNEXPECTED_NULL;
	*out = NULL;
	if (!m->finished)
		return NEURON_BAD_STATE;
	NeuronCompilation *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NEURON_OUT_OF_MEMORY;
	c->users = 1;
	c->model = m;
	m->users++;
	*out = c;
	return NEURON_NO_ERROR;
}

int NeuronCompilation_create(NeuronModel *m, NeuronCompilation **out) { return create(m, out); }

int NeuronCompilation_createWithOptions(NeuronModel *m, NeuronCompilation **out, const char *options)
{
	return options == NULL ? NEURON_UNEXPECTED_NULL : create(m, out);
}

int NeuronCompilation_createForDevices(NeuronModel *m, const NeuronDevice *const *devices, uint32_t n, NeuronCompilation **out)
{
	if (devices == NULL)
		return NEURON_UNEXPECTED_NULL;
	return n == 0 ? NEURON_BAD_DATA : create(m, out);
}

void release_compilation(NeuronCompilation *c)
{
	if (c == NULL || --c->users > 0)
		return;
	free_allocation(&c->constants);
	free_allocation(&c->commands);
	free(c->offset);
	release_model(c->model);
	free(c);
}

void NeuronCompilation_free(NeuronCompilation *c)
{
	if (c != NULL && c->users > 1)
		say("a compilation is freed before its executions");
	release_compilation(c);
}

// ---- settings, which change nothing here

static int set(const NeuronCompilation *c, bool valid)
{
	if (c == NULL)
		return NEURON_UNEXPECTED_NULL;
	return c->finished ? NEURON_BAD_STATE : valid ? NEURON_NO_ERROR : NEURON_BAD_DATA;
}

int NeuronCompilation_setPreference(NeuronCompilation *c, int32_t v) { return set(c, v >= 0 && v <= 3); }
int NeuronCompilation_setPriority(NeuronCompilation *c, int32_t v) { return set(c, v == 90 || v == 100 || v == 110); }
int NeuronCompilation_setOptimizationHint(NeuronCompilation *c, uint32_t v) { return set(c, v <= 7); }
int NeuronCompilation_setL1MemorySizeKb(NeuronCompilation *c, uint32_t kb) { return set(c, true); }

int NeuronCompilation_setOptimizationString(NeuronCompilation *c, const char *s)
{
	return s == NULL ? NEURON_UNEXPECTED_NULL : set(c, true);
}

int NeuronCompilation_setCaching(NeuronCompilation *c, const char *dir, const uint8_t *token)
{
	return dir == NULL || token == NULL ? NEURON_UNEXPECTED_NULL : set(c, true);
}

// ---- what is supported

static int supported(NeuronModel *m, uint32_t n, bool *v)
{
	int code;
	if (n != m->n_operations)
		return NEURON_BAD_DATA;
	for (uint32_t i = 0; i < n; i++)
		v[i] = refusal(m, i, &code) == NULL;
	return NEURON_NO_ERROR;
}

int NeuronCompilation_getSupportedOperations(NeuronCompilation *c, uint32_t n, bool *v)
{
	if (c == NULL || v == NULL)
		return NEURON_UNEXPECTED_NULL;
	return c->finished ? NEURON_BAD_STATE : supported(c->model, n, v);
}

int NeuronModel_getSupportedOperations(NeuronModel *m, bool *v, uint32_t n)
{
	if (m == NULL || v == NULL)
		return NEURON_UNEXPECTED_NULL;
	return m->finished ? supported(m, n, v) : NEURON_BAD_STATE;
}

int NeuronModel_getSupportedOperationsForDevices(const NeuronModel *m, const NeuronDevice *const *devices, uint32_t n, bool *v)
{
	if (m == NULL || devices == NULL || v == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (!m->finished)
		return NEURON_BAD_STATE;
	return n == 0 ? NEURON_BAD_DATA : supported((NeuronModel *)m, m->n_operations, v);
}

// ---- finish

// Short integers are parameters of operations and travel among the commands.
static bool is_parameter(const struct operand *o)
{
	return o->size <= COPIED && (!is_tensor(o->t.type) || class_of(o->t.type) == INT32 || class_of(o->t.type) == OTHER_TYPE);
}

const void *value_of(const NeuronCompilation *c, uint32_t operand)
{
	return c->offset[operand] == NOT_THERE ? (const void *)c->model->operands[operand].value : (const char *)c->constants.data + c->offset[operand];
}

// read_value copies a value into the constants. The kernel does the reading, so that
// memory which is gone is an error and not a crash.
static bool read_value(const NeuronCompilation *c, uint32_t i)
{
	const struct operand *o = &c->model->operands[i];
	const char *from = o->borrowed != NULL ? o->borrowed : (const void *)o->value;
	for (size_t done = 0; done < o->size;) {
		ssize_t n = pwrite(c->constants.fd, from + done, o->size - done, (off_t)(c->offset[i] + done));
		if (n <= 0) {
			say("the value of operand %u (%zu bytes) is no longer in memory", i, o->size);
			return false;
		}
		done += (size_t)n;
	}
	if (o->borrowed != NULL && hash_bytes((char *)c->constants.data + c->offset[i], o->size) != o->hash) {
		say("the value of operand %u (%zu bytes) is not what it was when it was set", i, o->size);
		return false;
	}
	return true;
}

// load_constants makes both allocations of a compilation.
static int load_constants(NeuronCompilation *c)
{
	NeuronModel *m = c->model;
	size_t bytes = 0;
	c->offset = malloc(m->n_operands * sizeof *c->offset);
	if (c->offset == NULL)
		return NEURON_OUT_OF_MEMORY;
	for (uint32_t i = 0; i < m->n_operands; i++) {
		c->offset[i] = NOT_THERE;
		if (!m->operands[i].t.constant || is_parameter(&m->operands[i]))
			continue;
		c->offset[i] = bytes;
		bytes += (m->operands[i].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	if (bytes > 0 && !allocate(&c->constants, bytes)) {
		refuse_allocation(bytes);
		return NEURON_OUT_OF_MEMORY;
	}
	if (!allocate(&c->commands, (size_t)m->n_operations * COMMAND_BYTES)) {
		refuse_allocation((size_t)m->n_operations * COMMAND_BYTES);
		return NEURON_OUT_OF_MEMORY;
	}
	for (uint32_t i = 0; i < m->n_operands; i++)
		if (c->offset[i] != NOT_THERE && !read_value(c, i))
			return NEURON_BAD_DATA;
	return NEURON_NO_ERROR;
}

static int compile(NeuronCompilation *c)
{
	NeuronModel *m = c->model;
	int code;
	if (faults.compile) {
		say("fault compile: no compilation");
		return NEURON_OP_FAILED;
	}
	if (m->n_operations > profile.max_ops) {
		say("%u operations are more than the %u of %s", m->n_operations, profile.max_ops, profile.name);
		return NEURON_UNMAPPABLE;
	}
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const char *why = refusal(m, i, &code);
		if (why == NULL)
			continue;
		const struct kind *kind = m->operations[i].kind;
		say("%s, operation %u, %s (%d): %s", profile.name, i, kind == NULL ? "unknown" : kind->name, m->operations[i].code, why);
		return code;
	}
	return load_constants(c);
}

int NeuronCompilation_finish(NeuronCompilation *c)
{
	if (c == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (c->finished)
		return NEURON_BAD_STATE;
	int code = compile(c);
	c->finished = code == NEURON_NO_ERROR;
	if (!c->finished) {
		free_allocation(&c->constants);
		free_allocation(&c->commands);
		free(c->offset);
		c->offset = NULL;
	}
	return code;
}

// ---- padding: inputs and outputs are as the client gave them

static int padded(const NeuronCompilation *c, int32_t index, bool output, const struct tensor **t)
{
	if (c == NULL || t == NULL)
		return NEURON_UNEXPECTED_NULL;
	const NeuronModel *m = c->model;
	if (!c->finished)
		return NEURON_BAD_STATE;
	if (index < 0 || (uint32_t)index >= (output ? m->n_outputs : m->n_inputs))
		return NEURON_BAD_DATA;
	*t = &m->operands[(output ? m->outputs : m->inputs)[index]].t;
	return NEURON_NO_ERROR;
}

static int padded_size(const NeuronCompilation *c, int32_t index, bool output, size_t *size)
{
	const struct tensor *t;
	int code = size == NULL ? NEURON_UNEXPECTED_NULL : padded(c, index, output, &t);
	if (code == NEURON_NO_ERROR)
		*size = tensor_bytes(t);
	return code;
}

static int padded_dimensions(const NeuronCompilation *c, int32_t index, bool output, uint32_t *dims)
{
	const struct tensor *t;
	int code = dims == NULL ? NEURON_UNEXPECTED_NULL : padded(c, index, output, &t);
	if (code == NEURON_NO_ERROR)
		memcpy(dims, t->dims, t->rank * sizeof *dims);
	return code;
}

int NeuronCompilation_getInputPaddedSize(NeuronCompilation *c, int32_t i, size_t *n) { return padded_size(c, i, false, n); }
int NeuronCompilation_getOutputPaddedSize(NeuronCompilation *c, int32_t i, size_t *n) { return padded_size(c, i, true, n); }
int NeuronCompilation_getInputPaddedDimensions(NeuronCompilation *c, int32_t i, uint32_t *d) { return padded_dimensions(c, i, false, d); }
int NeuronCompilation_getOutputPaddedDimensions(NeuronCompilation *c, int32_t i, uint32_t *d) { return padded_dimensions(c, i, true, d); }
