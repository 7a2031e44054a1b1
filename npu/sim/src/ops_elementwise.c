// ops_elementwise.c: operations that go element by element.
#include "sim.h"

#include <math.h>

enum { CHUNK = 1024 };

// ---- of two operands, whose shapes broadcast from the right as in NumPy

static uint32_t dim_from_right(const struct tensor *t, uint32_t i) { return i < t->rank ? t->dims[t->rank - 1 - i] : 1; }

const char *check_binary(const struct call *c)
{
	int32_t activation;
	bool fused = c->kind->code == NEURON_ADD || c->kind->code == NEURON_SUB || c->kind->code == NEURON_MUL || c->kind->code == NEURON_DIV;
	if (c->n_in != 3 - (c->kind->code == NEURON_MAXIMUM || c->kind->code == NEURON_MINIMUM) || c->n_out != 1)
		return "it takes two operands and an activation or a name, and gives one";
	if (fused && (!int_parameter(c, 2, &activation) || activation < 0 || activation > 3))
		return "its activation is not 0, 1, 2 or 3";
	const struct tensor *a = c->in[0], *b = c->in[1], *out = c->out[0];
	if (class_of(a->type) != class_of(b->type) || class_of(a->type) != class_of(out->type))
		return "its operands are of different types";
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	if (out->rank != rank)
		return "its output has not the shape of its operands";
	for (uint32_t i = 0; i < rank; i++) {
		uint32_t p = dim_from_right(a, i), q = dim_from_right(b, i);
		if (p != q && p != 1 && q != 1)
			return "its operands do not broadcast";
		if (dim_from_right(out, i) != (p == 1 ? q : p))
			return "its output has not the shape of its operands";
	}
	return NULL;
}

static void combine(uint32_t variant, const float *a, size_t step_a, const float *b, size_t step_b, float *to, size_t n)
{
#define EACH(expression) \
	for (size_t i = 0; i < n; i++) { \
		float p = a[i * step_a], q = b[i * step_b]; \
		to[i] = expression; \
	} \
	return
	switch (variant) {
	case NEURON_ADD: EACH(p + q);
	case NEURON_SUB: EACH(p - q);
	case NEURON_MUL: EACH(p * q);
	case NEURON_DIV: EACH(p / q);
	case NEURON_MAXIMUM: EACH(p > q ? p : q);
	case NEURON_MINIMUM: EACH(p < q ? p : q);
	default: EACH((p - q) * (p - q));
	}
#undef EACH
}

// span computes n elements of the output from at on, with operands that go on in step 1,
// or stay where they are in step 0.
static void span(const struct call *c, int32_t activation, size_t at, size_t n, size_t at_a, size_t step_a, size_t at_b, size_t step_b)
{
	float a[CHUNK], b[CHUNK], out[CHUNK];
	for (size_t done = 0, m; done < n; done += m) {
		m = n - done < CHUNK ? n - done : CHUNK;
		load(c->in[0], at_a + done * step_a, step_a ? m : 1, a);
		load(c->in[1], at_b + done * step_b, step_b ? m : 1, b);
		combine(c->kind->variant, a, step_a, b, step_b, out, m);
		activate(activation, out, m);
		store(c->out[0], at + done, m, out);
	}
}

// broadcast_offset is where a row of the output finds its operand.
static size_t broadcast_offset(const struct tensor *t, const struct tensor *out, size_t row)
{
	size_t offset = 0, stride = dim_from_right(t, 0);
	for (uint32_t i = 1; i < out->rank; i++) {
		size_t index = row % dim_from_right(out, i);
		row /= dim_from_right(out, i);
		if (dim_from_right(t, i) > 1)
			offset += index * stride;
		stride *= dim_from_right(t, i);
	}
	return offset;
}

bool run_binary(const struct call *c)
{
	int32_t activation = 0;
	const struct tensor *a = c->in[0], *b = c->in[1], *out = c->out[0];
	size_t n = elements(out), na = elements(a), nb = elements(b), width = dim_from_right(out, 0);
	int_parameter(c, 2, &activation);
	if ((na == n || na == 1) && (nb == n || nb == 1)) {
		span(c, activation, 0, n, 0, na == n, 0, nb == n);
		return true;
	}
	for (size_t row = 0; row < n / width; row++)
		span(c, activation, row * width, width, broadcast_offset(a, out, row), dim_from_right(a, 0) == width,
			broadcast_offset(b, out, row), dim_from_right(b, 0) == width);
	return true;
}

// ---- of one operand

const char *check_unary(const struct call *c)
{
	if (c->n_in != (c->kind->code == EXTENSION ? 2 : 1) || c->n_out != 1)
		return "it takes one operand and gives one";
	if (!same_dims(c->in[0], c->out[0]) || class_of(c->in[0]->type) != class_of(c->out[0]->type))
		return "its output is not like its operand";
	return NULL;
}

const char *check_convert(const struct call *c)
{
	if (c->n_in != 1 || c->n_out != 1)
		return "it takes one operand and gives one";
	return same_dims(c->in[0], c->out[0]) ? NULL : "its output has not the shape of its operand";
}

static void apply(uint32_t variant, float *v, size_t n)
{
#define EACH(expression) \
	for (size_t i = 0; i < n; i++) { \
		float x = v[i]; \
		v[i] = expression; \
	} \
	return
	switch (variant) {
	case NEURON_SQRT: EACH(sqrtf(x));
	case NEURON_RSQRT: EACH(1 / sqrtf(x));
	case NEURON_TANH: EACH(tanhf(x));
	case NEURON_LOGISTIC: EACH(1 / (1 + expf(-x)));
	case NEURON_RELU: EACH(x > 0 ? x : 0);
	case NEURON_ABS: EACH(fabsf(x));
	case NEURON_HARD_SWISH: EACH(x * (x < -3 ? 0 : x > 3 ? 1 : (x + 3) / 6));
	}
}

static void each_chunk(const struct call *c, void (*f)(uint32_t variant, float *v, size_t n), uint32_t variant)
{
	float v[CHUNK];
	size_t n = elements(c->out[0]);
	for (size_t at = 0, m; at < n; at += m) {
		m = n - at < CHUNK ? n - at : CHUNK;
		load(c->in[0], at, m, v);
		f(variant, v, m);
		store(c->out[0], at, m, v);
	}
}

bool run_unary(const struct call *c)
{
	each_chunk(c, apply, c->kind->variant);
	return true;
}

const char *check_gelu(const struct call *c)
{
	int32_t approximate;
	if (c->n_in != 2 || c->n_out != 1 || c->in[1]->type != NEURON_UINT32 || !int_parameter(c, 1, &approximate))
		return "it takes one operand and a UINT32, and gives one";
	return same_dims(c->in[0], c->out[0]) ? NULL : "its output has not the shape of its operand";
}

static void gelu(uint32_t approximate, float *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float x = v[i];
		v[i] = approximate ? 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x))) : 0.5f * x * (1 + erff(x * 0.70710678f));
	}
}

bool run_gelu(const struct call *c)
{
	int32_t approximate = 0;
	int_parameter(c, 1, &approximate);
	each_chunk(c, gelu, (uint32_t)approximate);
	return true;
}
