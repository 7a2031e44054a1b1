// kinds.c: the operations that this library computes, and what they share.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static const struct kind kinds[] = {
	{NEURON_ADD, "ADD", check_binary, run_binary, NEURON_ADD},
	{NEURON_SUB, "SUB", check_binary, run_binary, NEURON_SUB},
	{NEURON_MUL, "MUL", check_binary, run_binary, NEURON_MUL},
	{NEURON_DIV, "DIV", check_binary, run_binary, NEURON_DIV},
	{NEURON_MAXIMUM, "MAXIMUM", check_binary, run_binary, NEURON_MAXIMUM},
	{NEURON_MINIMUM, "MINIMUM", check_binary, run_binary, NEURON_MINIMUM},
	{EXTENSION, "MTKEXT_SQUARED_DIFFERENCE", check_binary, run_binary, EXTENSION},
	{NEURON_SQRT, "SQRT", check_unary, run_unary, NEURON_SQRT},
	{NEURON_RSQRT, "RSQRT", check_unary, run_unary, NEURON_RSQRT},
	{EXTENSION, "MTKEXT_RSQRT", check_unary, run_unary, NEURON_RSQRT},
	{NEURON_TANH, "TANH", check_unary, run_unary, NEURON_TANH},
	{NEURON_LOGISTIC, "LOGISTIC", check_unary, run_unary, NEURON_LOGISTIC},
	{NEURON_RELU, "RELU", check_unary, run_unary, NEURON_RELU},
	{NEURON_ABS, "ABS", check_unary, run_unary, NEURON_ABS},
	{NEURON_HARD_SWISH, "HARD_SWISH", check_unary, run_unary, NEURON_HARD_SWISH},
	{NEURON_GELU, "GELU", check_gelu, run_gelu, 0},
	{NEURON_CAST, "CAST", check_convert, run_unary, NEURON_CAST},
	{NEURON_QUANTIZE, "QUANTIZE", check_convert, run_unary, NEURON_CAST},
	{NEURON_DEQUANTIZE, "DEQUANTIZE", check_convert, run_unary, NEURON_CAST},
	{NEURON_FULLY_CONNECTED, "FULLY_CONNECTED", check_fully_connected, run_fully_connected, 0},
	{NEURON_CONV_2D, "CONV_2D", check_conv_2d, run_conv_2d, 0},
	{NEURON_BATCH_MATMUL, "BATCH_MATMUL", check_batch_matmul, run_batch_matmul, 0},
	{NEURON_SOFTMAX, "SOFTMAX", check_softmax, run_softmax, 0},
	{NEURON_MEAN, "MEAN", check_reduce, run_reduce, NEURON_MEAN},
	{NEURON_REDUCE_SUM, "REDUCE_SUM", check_reduce, run_reduce, NEURON_REDUCE_SUM},
	{NEURON_REDUCE_MAX, "REDUCE_MAX", check_reduce, run_reduce, NEURON_REDUCE_MAX},
	{EXTENSION, "MTKEXT_LAYER_NORMALIZATION", check_layer_normalization, run_layer_normalization, 0},
	{NEURON_RESHAPE, "RESHAPE", check_reshape, run_reshape, 0},
	{NEURON_TRANSPOSE, "TRANSPOSE", check_transpose, run_transpose, 0},
	{NEURON_SLICE, "SLICE", check_slice, run_slice, 0},
	{NEURON_STRIDED_SLICE, "STRIDED_SLICE", check_strided_slice, run_strided_slice, 0},
	{NEURON_CONCATENATION, "CONCATENATION", check_concatenation, run_concatenation, 0},
	{NEURON_SPLIT, "SPLIT", check_split, run_split, 0},
	{NEURON_PAD, "PAD", check_pad, run_pad, NEURON_PAD},
	{NEURON_PAD_V2, "PAD_V2", check_pad, run_pad, NEURON_PAD_V2},
};

enum { NAME_HEADER = 11, NAME_BYTES = 22 }; // of the packed string, and beside its text

// extension_name returns the name that travels as the last operand: the byte 6, the word
// "string", a u32 length, the text, zeros. NULL: it is none.
static const char *extension_name(const NeuronModel *m, const struct operation *o, uint32_t *length)
{
	const struct operand *name = &m->operands[o->in[o->n_in - 1]];
	if (name->t.type != EXTENSION_NAME || name->size < NAME_BYTES || name->size > COPIED || memcmp(name->value, "\6string", 7) != 0)
		return NULL;
	memcpy(length, name->value + 7, sizeof *length);
	return *length == name->size - NAME_BYTES ? (const char *)name->value + NAME_HEADER : NULL;
}

const struct kind *kind_of(const NeuronModel *m, const struct operation *o)
{
	uint32_t length = 0;
	const char *name = o->code == EXTENSION ? extension_name(m, o, &length) : NULL;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i].code != o->code)
			continue;
		if (o->code != EXTENSION || (name != NULL && strlen(kinds[i].name) == length && memcmp(kinds[i].name, name, length) == 0))
			return &kinds[i];
	}
	return NULL;
}

struct call make_call(const struct operation *o, struct tensor *tensors, size_t stride, struct tensor **in, struct tensor **out)
{
	for (uint32_t i = 0; i < o->n_in; i++)
		in[i] = (struct tensor *)((char *)tensors + o->in[i] * stride);
	for (uint32_t i = 0; i < o->n_out; i++)
		out[i] = (struct tensor *)((char *)tensors + o->out[i] * stride);
	return (struct call){.kind = o->kind, .n_in = o->n_in, .n_out = o->n_out, .in = in, .out = out};
}

bool int_parameter(const struct call *c, uint32_t i, int32_t *v)
{
	if (i >= c->n_in || c->in[i]->data == NULL || elements(c->in[i]) != 1)
		return false;
	switch (class_of(c->in[i]->type)) {
	case INT32:
		memcpy(v, c->in[i]->data, sizeof *v);
		return true;
	case BOOL8:
		*v = *(const uint8_t *)c->in[i]->data != 0;
		return true;
	default:
		return false;
	}
}

bool float_parameter(const struct call *c, uint32_t i, float *v)
{
	if (i >= c->n_in || c->in[i]->data == NULL || elements(c->in[i]) != 1 || class_of(c->in[i]->type) > FLOAT32)
		return false;
	load(c->in[i], 0, 1, v);
	return true;
}

const int32_t *ints(const struct call *c, uint32_t i, uint32_t *n)
{
	if (i >= c->n_in || c->in[i]->data == NULL || class_of(c->in[i]->type) != INT32)
		return NULL;
	*n = (uint32_t)elements(c->in[i]);
	return c->in[i]->data;
}

bool same_dims(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

void activate(int32_t activation, float *v, size_t n)
{
	static const float low[] = {0, 0, -1, 0}, high[] = {0, __builtin_inff(), 1, 6};
	if (activation < 1 || activation > 3)
		return;
	for (size_t i = 0; i < n; i++)
		v[i] = v[i] < low[activation] ? low[activation] : v[i] > high[activation] ? high[activation] : v[i];
}

void *scratch_take(struct scratch *s, size_t bytes)
{
	if (bytes <= s->bytes)
		return s->data;
	free(s->data);
	s->bytes = 0;
	s->data = NULL;
	if (posix_memalign(&s->data, 64, bytes) != 0)
		s->data = NULL;
	else
		s->bytes = bytes;
	return s->data;
}
