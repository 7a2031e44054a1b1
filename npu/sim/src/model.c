// model.c: building a model. What a board can't do is accepted here and refused when it
// is compiled; a client that asks before finds out without losing the graph.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t h = 0x9e3779b97f4a7c15u ^ n, v;
	for (; n >= sizeof v; n -= sizeof v, p += sizeof v) {
		memcpy(&v, p, sizeof v);
		h = (h ^ v) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	v = 0;
	memcpy(&v, p, n);
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ h >> 29;
}

// grown returns room for one more element, doubling at powers of two; NULL: no memory.
static void *grown(void *old, uint32_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return old;
	return realloc(old, (n == 0 ? 1 : 2 * (size_t)n) * size);
}

static uint32_t *copy_indices(const uint32_t *from, uint32_t n)
{
	uint32_t *to = malloc((n == 0 ? 1 : n) * sizeof *to);
	if (to != NULL && n > 0)
		memcpy(to, from, n * sizeof *to);
	return to;
}

int NeuronModel_create(NeuronModel **out)
{
	int code = board();
	if (code != NEURON_NO_ERROR)
		return code;
	if (out == NULL)
		return NEURON_UNEXPECTED_NULL;
	*out = NULL;
	if (profile.n_devices == 0) {
		say("%s has no device", profile.name);
		return NEURON_UNAVAILABLE_DEVICE;
	}
	if (faults.create) {
		say("fault create: no model");
		return NEURON_OUT_OF_MEMORY;
	}
	NeuronModel *m = calloc(1, sizeof *m);
	if (m == NULL)
		return NEURON_OUT_OF_MEMORY;
	m->users = 1;
	*out = m;
	return NEURON_NO_ERROR;
}

void release_model(NeuronModel *m)
{
	if (m == NULL || --m->users > 0)
		return;
	for (uint32_t i = 0; i < m->n_operands; i++)
		free(m->operands[i].t.scales);
	for (uint32_t i = 0; i < m->n_operations; i++) {
		free(m->operations[i].in);
		free(m->operations[i].out);
	}
	free(m->operands);
	free(m->operations);
	free(m->inputs);
	free(m->outputs);
	free(m);
}

void NeuronModel_free(NeuronModel *m) { release_model(m); }

int NeuronModel_setName(NeuronModel *m, const char *name)
{
	if (m == NULL || name == NULL)
		return NEURON_UNEXPECTED_NULL;
	strncpy(m->name, name, sizeof m->name - 1);
	return NEURON_NO_ERROR;
}

static bool known_type(int32_t type)
{
	return (type >= NEURON_FLOAT32 && type <= NEURON_TENSOR_QUANT8_ASYMM_SIGNED) ||
		(type >= NEURON_EXT_FIRST && type <= NEURON_EXT_LAST) || type == EXTENSION_NAME;
}

bool set_type(struct tensor *t, const NeuronOperandType *type)
{
	uint64_t n = 1;
	if (!known_type(type->type) || type->dimensionCount > MAX_RANK || is_tensor(type->type) == (type->dimensionCount == 0))
		return false;
	*t = (struct tensor){.type = type->type, .rank = type->dimensionCount, .scale = type->scale, .zero = type->zeroPoint};
	for (uint32_t i = 0; i < t->rank; i++) {
		t->dims[i] = type->dimensions[i];
		n *= t->dims[i];
		if (n > (uint64_t)1 << 40)
			return false;
	}
	return true;
}

int NeuronModel_addOperand(NeuronModel *m, const NeuronOperandType *type)
{
	if (m == NULL || type == NULL || (type->dimensionCount > 0 && type->dimensions == NULL))
		return NEURON_UNEXPECTED_NULL;
	if (m->finished)
		return NEURON_BAD_STATE;
	struct operand o = {0};
	if (!set_type(&o.t, type)) {
		say("operand %u: type %d with %u dimensions is none", m->n_operands, type->type, type->dimensionCount);
		return NEURON_BAD_DATA;
	}
	struct operand *all = grown(m->operands, m->n_operands, sizeof *all);
	if (all == NULL)
		return NEURON_OUT_OF_MEMORY;
	m->operands = all;
	m->operands[m->n_operands++] = o;
	return NEURON_NO_ERROR;
}

// changeable returns an operand that may still be given values, or NULL and the code.
static struct operand *changeable(NeuronModel *m, int32_t index, int *code)
{
	*code = m->finished ? NEURON_BAD_STATE : index < 0 || (uint32_t)index >= m->n_operands ? NEURON_BAD_DATA : NEURON_NO_ERROR;
	return *code == NEURON_NO_ERROR ? &m->operands[index] : NULL;
}

int NeuronModel_setOperandValue(NeuronModel *m, int32_t index, const void *value, size_t size)
{
	int code;
	if (m == NULL || (value == NULL && size > 0))
		return NEURON_UNEXPECTED_NULL;
	struct operand *o = changeable(m, index, &code);
	if (o == NULL)
		return code;
	if (value == NULL) {
		o->omitted = true;
		return NEURON_NO_ERROR;
	}
	size_t want = tensor_bytes(&o->t); // 0: a type whose elements are not known here
	if (size != want && (want != 0 || size == 0)) {
		say("operand %d takes %zu bytes, not %zu", index, want, size);
		return NEURON_BAD_DATA;
	}
	o->t.constant = true;
	o->omitted = false;
	o->size = size;
	o->borrowed = size > COPIED ? value : NULL;
	if (size > COPIED)
		o->hash = hash_bytes(value, size);
	else
		memcpy(o->value, value, size);
	return NEURON_NO_ERROR;
}

static int set_channels(NeuronModel *m, int32_t index, uint32_t dim, uint32_t n, const float *scales)
{
	int code;
	struct operand *o = changeable(m, index, &code);
	if (o == NULL)
		return code;
	if (dim >= o->t.rank || n != o->t.dims[dim] || n == 0)
		return NEURON_BAD_DATA;
	float *copy = malloc(n * sizeof *copy);
	if (copy == NULL)
		return NEURON_OUT_OF_MEMORY;
	memcpy(copy, scales, n * sizeof *copy);
	free(o->t.scales);
	o->t.scales = copy;
	o->t.channel_dim = dim;
	o->t.channels = n;
	return NEURON_NO_ERROR;
}

int NeuronModel_setOperandSymmPerChannelQuantParams(NeuronModel *m, int32_t index, const NeuronSymmPerChannelQuantParams *q)
{
	if (m == NULL || q == NULL || q->scales == NULL)
		return NEURON_UNEXPECTED_NULL;
	return set_channels(m, index, q->channelDim, q->scaleCount, q->scales);
}

// The zero points are not kept: no operation here takes such a tensor.
int NeuronModel_setOperandPerChannelQuantParams(NeuronModel *m, int32_t index, const NeuronPerChannelQuantParams *q)
{
	if (m == NULL || q == NULL || q->scales == NULL)
		return NEURON_UNEXPECTED_NULL;
	return set_channels(m, index, q->channelDim, q->scaleCount, q->scales);
}

static bool valid_indices(const NeuronModel *m, const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] >= m->n_operands)
			return false;
	return true;
}

int NeuronModel_addOperation(NeuronModel *m, int32_t code, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out)
{
	if (m == NULL || in == NULL || out == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (m->finished)
		return NEURON_BAD_STATE;
	if (code < 0 || n_in == 0 || n_out == 0 || !valid_indices(m, in, n_in) || !valid_indices(m, out, n_out)) {
		say("operation %u of type %d: an operand of it does not exist", m->n_operations, code);
		return NEURON_BAD_DATA;
	}
	struct operation *all = grown(m->operations, m->n_operations, sizeof *all);
	if (all == NULL)
		return NEURON_OUT_OF_MEMORY;
	m->operations = all;
	struct operation o = {.code = code, .n_in = n_in, .n_out = n_out, .in = copy_indices(in, n_in), .out = copy_indices(out, n_out)};
	if (o.in == NULL || o.out == NULL) {
		free(o.in);
		free(o.out);
		return NEURON_OUT_OF_MEMORY;
	}
	m->operations[m->n_operations++] = o;
	return NEURON_NO_ERROR;
}

// set_roles is false where an operand has a role already.
static bool set_roles(NeuronModel *m, const uint32_t *v, uint32_t n, int role)
{
	for (uint32_t i = 0; i < n; i++) {
		if (m->operands[v[i]].role != TEMPORARY)
			return false;
		m->operands[v[i]].role = role;
	}
	return true;
}

int NeuronModel_identifyInputsAndOutputs(NeuronModel *m, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out)
{
	if (m == NULL || in == NULL || out == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (m->finished)
		return NEURON_BAD_STATE;
	if (m->identified || n_in == 0 || n_out == 0 || !valid_indices(m, in, n_in) || !valid_indices(m, out, n_out))
		return NEURON_BAD_DATA;
	m->inputs = copy_indices(in, n_in);
	m->outputs = copy_indices(out, n_out);
	if (m->inputs == NULL || m->outputs == NULL)
		return NEURON_OUT_OF_MEMORY;
	m->n_inputs = n_in;
	m->n_outputs = n_out;
	m->identified = true;
	return set_roles(m, in, n_in, INPUT) && set_roles(m, out, n_out, OUTPUT) ? NEURON_NO_ERROR : NEURON_BAD_DATA;
}

// Allowed after finish as well: LiteRT does it there.
int NeuronModel_relaxComputationFloat32toFloat16(NeuronModel *m, bool allow)
{
	if (m == NULL)
		return NEURON_UNEXPECTED_NULL;
	m->relaxed = allow;
	return NEURON_NO_ERROR;
}

// written_in_order says whether each operand is written once, and before it is read.
static bool written_in_order(const NeuronModel *m)
{
	bool *ready = calloc(m->n_operands, sizeof *ready), good = ready != NULL;
	for (uint32_t i = 0; good && i < m->n_operands; i++)
		ready[i] = m->operands[i].role == INPUT || m->operands[i].t.constant || m->operands[i].omitted;
	for (uint32_t i = 0; good && i < m->n_operations; i++) {
		const struct operation *o = &m->operations[i];
		for (uint32_t k = 0; good && k < o->n_in; k++)
			if (!(good = ready[o->in[k]]))
				say("operation %u reads operand %u, which has no value yet", i, o->in[k]);
		for (uint32_t k = 0; good && k < o->n_out; k++) {
			if (!(good = !ready[o->out[k]]))
				say("operation %u writes operand %u, which has a value already", i, o->out[k]);
			ready[o->out[k]] = true;
		}
	}
	for (uint32_t i = 0; good && i < m->n_outputs; i++)
		if (!(good = ready[m->outputs[i]] && m->operands[m->outputs[i]].role == OUTPUT && !m->operands[m->outputs[i]].t.constant))
			say("output %u, operand %u, is computed by no operation", i, m->outputs[i]);
	free(ready);
	return good;
}

int NeuronModel_finish(NeuronModel *m)
{
	if (m == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (m->finished)
		return NEURON_BAD_STATE;
	if (!m->identified || m->n_operations == 0) {
		say("a model needs operations, inputs and outputs");
		return NEURON_BAD_DATA;
	}
	if (!written_in_order(m))
		return NEURON_BAD_DATA;
	for (uint32_t i = 0; i < m->n_operands; i++) // they move no more
		m->operands[i].t.data = m->operands[i].t.constant && m->operands[i].size <= COPIED ? m->operands[i].value : NULL;
	for (uint32_t i = 0; i < m->n_operations; i++)
		m->operations[i].kind = kind_of(m, &m->operations[i]);
	count_operations(m->n_operations);
	m->finished = true;
	return NEURON_NO_ERROR;
}

static const char general_operation[] = "com.mediatek.general_operation";

static int extension_type(NeuronModel *m, const char *extension, bool known, int32_t value, int32_t *type)
{
	if (m == NULL || extension == NULL || type == NULL)
		return NEURON_UNEXPECTED_NULL;
	if (strcmp(extension, general_operation) != 0 || !known)
		return NEURON_BAD_DATA;
	*type = value;
	return NEURON_NO_ERROR;
}

int NeuronModel_getExtensionOperandType(NeuronModel *m, const char *extension, uint16_t code, int32_t *type)
{
	return extension_type(m, extension, code == 0x0100, EXTENSION_NAME, type);
}

int NeuronModel_getExtensionOperationType(NeuronModel *m, const char *extension, uint16_t code, int32_t *type)
{
	return extension_type(m, extension, code == 0x0000, EXTENSION, type);
}
