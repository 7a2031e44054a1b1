// ops_reduce.c: operations over whole rows or dimensions.
#include "sim.h"

#include <math.h>

static uint32_t last(const struct tensor *t) { return t->dims[t->rank - 1]; }

// ---- SOFTMAX, over the last dimension

const char *check_softmax(const struct call *c)
{
	float beta;
	int32_t axis = -1;
	if (c->n_in < 2 || c->n_in > 3 || c->n_out != 1 || !float_parameter(c, 1, &beta) || (c->n_in == 3 && !int_parameter(c, 2, &axis)))
		return "it takes one operand, a float beta and perhaps an axis, and gives one";
	if (c->in[0]->rank < 1 || !same_dims(c->in[0], c->out[0]))
		return "its output has not the shape of its operand";
	if (axis != -1 && axis != (int32_t)c->in[0]->rank - 1)
		return "only the last dimension is taken";
	return NULL;
}

enum { LANES = 8 }; // sums and maxima in parts, which the compiler makes vectors of

static float largest_of(const float *v, size_t n)
{
	float part[LANES], largest = -INFINITY;
	for (size_t l = 0; l < LANES; l++)
		part[l] = -INFINITY;
	for (size_t i = 0; i < n / LANES * LANES; i += LANES)
		for (size_t l = 0; l < LANES; l++)
			part[l] = v[i + l] > part[l] ? v[i + l] : part[l];
	for (size_t i = n / LANES * LANES; i < n; i++)
		largest = v[i] > largest ? v[i] : largest;
	for (size_t l = 0; l < LANES; l++)
		largest = part[l] > largest ? part[l] : largest;
	return largest;
}

static float sum_of(const float *v, size_t n)
{
	float part[LANES] = {0}, sum = 0;
	for (size_t i = 0; i < n / LANES * LANES; i += LANES)
		for (size_t l = 0; l < LANES; l++)
			part[l] += v[i + l];
	for (size_t i = n / LANES * LANES; i < n; i++)
		sum += v[i];
	for (size_t l = 0; l < LANES; l++)
		sum += part[l];
	return sum;
}

// exponentials replaces v by e^((v - from) · beta) as 2^n · 2^f with |f| ≤ 1/2, where 2^f is
// its Taylor series to the sixth power: within 4e-6 of the value for exponents down to -80,
// where half of a float16's last place is 5e-4. The compiler makes vectors of it.
static void exponentials(float *v, size_t n, float from, float beta)
{
	const float round = 0x1.8p23f; // adding it leaves the nearest integer in the low bits
	for (size_t i = 0; i < n; i++) {
		float t = (v[i] - from) * beta * 1.44269504f;
		t = t < -126 ? -126 : t > 127 ? 127 : t; // NaN stays
		union { float f; uint32_t u; } power = {t + round};
		float f = (t - (power.f - round)) * 0.693147181f;
		power.u = (power.u + 127) << 23;
		v[i] = power.f * (1 + f * (1 + f * (1 / 2.f + f * (1 / 6.f + f * (1 / 24.f + f * (1 / 120.f + f / 720))))));
	}
}

bool run_softmax(const struct call *c)
{
	float beta = 1;
	float_parameter(c, 1, &beta);
	size_t width = last(c->in[0]), rows = elements(c->in[0]) / width;
	float *v = scratch_take(c->scratch, width * sizeof *v);
	if (v == NULL)
		return false;
	for (size_t r = 0; r < rows; r++) {
		load(c->in[0], r * width, width, v);
		exponentials(v, width, largest_of(v, width), beta);
		float scale = 1 / sum_of(v, width);
		for (size_t i = 0; i < width; i++)
			v[i] *= scale;
		store(c->out[0], r * width, width, v);
	}
	return true;
}

// ---- MEAN, REDUCE_SUM, REDUCE_MAX

// read_axes sets a bit for each dimension that goes.
static bool read_axes(const struct call *c, uint32_t *axes)
{
	uint32_t n;
	const int32_t *v = ints(c, 1, &n);
	*axes = 0;
	for (uint32_t i = 0; v != NULL && i < n; i++) {
		int32_t axis = v[i] < 0 ? v[i] + (int32_t)c->in[0]->rank : v[i];
		if (axis < 0 || axis >= (int32_t)c->in[0]->rank)
			return false;
		*axes |= 1u << axis;
	}
	return v != NULL;
}

const char *check_reduce(const struct call *c)
{
	int32_t keep;
	uint32_t axes, rank = 0;
	if (c->n_in != 3 || c->n_out != 1 || !read_axes(c, &axes) || !int_parameter(c, 2, &keep))
		return "it takes one operand, axes within it and whether to keep them, and gives one";
	if ((c->kind->code == NEURON_MEAN) != (c->in[2]->type == NEURON_INT32))
		return "whether to keep its axes is INT32 for MEAN, else BOOL";
	const struct tensor *x = c->in[0], *out = c->out[0];
	for (uint32_t i = 0; i < x->rank; i++) {
		bool gone = axes >> i & 1;
		if (gone && keep == 0)
			continue;
		if (rank >= out->rank || out->dims[rank++] != (gone ? 1 : x->dims[i]))
			return "its output has not the shape that follows";
	}
	// All dimensions gone: [1], since a tensor has one at least.
	return rank == out->rank || (rank == 0 && elements(out) == 1) ? NULL : "its output has not the shape that follows";
}

bool run_reduce(const struct call *c)
{
	uint32_t axes;
	read_axes(c, &axes);
	const struct tensor *x = c->in[0];
	size_t width = last(x), rows = elements(x) / width, n = elements(c->out[0]);
	bool within = axes >> (x->rank - 1) & 1, max = c->kind->variant == NEURON_REDUCE_MAX;
	float *sums = scratch_take(c->scratch, (n + width) * sizeof *sums), *row = sums + n;
	if (sums == NULL)
		return false;
	for (size_t i = 0; i < n; i++)
		sums[i] = max ? -INFINITY : 0;
	for (size_t r = 0; r < rows; r++) {
		size_t at = 0, stride = within ? 1 : width, rest = r;
		for (uint32_t d = x->rank - 1; d-- > 0; rest /= x->dims[d])
			if (!(axes >> d & 1)) {
				at += rest % x->dims[d] * stride;
				stride *= x->dims[d];
			}
		load(x, r * width, width, row);
		for (size_t i = 0; i < width; i++) {
			float *to = &sums[at + (within ? 0 : i)];
			*to = !max ? *to + row[i] : row[i] > *to ? row[i] : *to;
		}
	}
	for (size_t i = 0; c->kind->variant == NEURON_MEAN && i < n; i++)
		sums[i] /= (float)(elements(x) / n);
	store(c->out[0], 0, n, sums);
	return true;
}

// ---- MTKEXT_LAYER_NORMALIZATION: (x - mean) / sqrt(variance + epsilon) · gamma + beta

const char *check_layer_normalization(const struct call *c)
{
	float epsilon;
	uint32_t n;
	const int32_t *axis = ints(c, 1, &n);
	if (c->n_in != 6 || c->n_out != 1 || axis == NULL || n != 1 || !float_parameter(c, 4, &epsilon))
		return "it takes an operand, axis [1], gamma, beta, a float epsilon and its name, and gives one";
	const struct tensor *x = c->in[0];
	if (x->rank < 1 || (*axis != -1 && *axis != (int32_t)x->rank - 1))
		return "only the last dimension is taken";
	if (!same_dims(x, c->out[0]))
		return "its output has not the shape of its operand";
	if (elements(c->in[2]) != last(x) || elements(c->in[3]) != last(x) || class_of(c->in[2]->type) > FLOAT32 || class_of(c->in[3]->type) > FLOAT32)
		return "gamma and beta have not one float for each channel";
	return NULL;
}

bool run_layer_normalization(const struct call *c)
{
	float epsilon = 0;
	float_parameter(c, 4, &epsilon);
	size_t width = last(c->in[0]), rows = elements(c->in[0]) / width;
	float *gamma = scratch_take(c->scratch, 3 * width * sizeof *gamma), *beta = gamma + width, *v = beta + width;
	if (gamma == NULL)
		return false;
	load(c->in[2], 0, width, gamma);
	load(c->in[3], 0, width, beta);
	for (size_t r = 0; r < rows; r++) {
		float mean = 0, variance = 0;
		load(c->in[0], r * width, width, v);
		for (size_t i = 0; i < width; i++)
			mean += v[i];
		mean /= (float)width;
		for (size_t i = 0; i < width; i++)
			variance += (v[i] - mean) * (v[i] - mean);
		float scale = 1 / sqrtf(variance / (float)width + epsilon);
		for (size_t i = 0; i < width; i++)
			v[i] = (v[i] - mean) * scale * gamma[i] + beta[i];
		store(c->out[0], r * width, width, v);
	}
	return true;
}
