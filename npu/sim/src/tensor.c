// tensor.c: tensors and how their values become float32 and back.
#include "sim.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

bool is_tensor(int32_t type)
{
	switch (type) {
	case NEURON_FLOAT32: case NEURON_INT32: case NEURON_UINT32: case NEURON_BOOL: case NEURON_FLOAT16:
		return false;
	}
	return true;
}

enum type_class class_of(int32_t type)
{
	switch (type) {
	case NEURON_TENSOR_FLOAT16: case NEURON_FLOAT16:
		return FLOAT16;
	case NEURON_TENSOR_FLOAT32: case NEURON_FLOAT32:
		return FLOAT32;
	case NEURON_TENSOR_INT32: case NEURON_INT32: case NEURON_UINT32: case NEURON_EXT_TENSOR_INT32_SYMM_PER_CHANNEL:
		return INT32;
	case NEURON_TENSOR_BOOL8: case NEURON_BOOL:
		return BOOL8;
	case NEURON_TENSOR_QUANT8_ASYMM: case NEURON_TENSOR_QUANT8_SYMM_PER_CHANNEL:
	case NEURON_TENSOR_QUANT8_SYMM: case NEURON_TENSOR_QUANT8_ASYMM_SIGNED:
		return QUANT8;
	case NEURON_TENSOR_QUANT16_SYMM:
		return QUANT16;
	}
	return OTHER_TYPE;
}

size_t elements(const struct tensor *t)
{
	size_t n = 1;
	for (uint32_t i = 0; i < t->rank; i++)
		n *= t->dims[i];
	return n;
}

size_t element_bytes(int32_t type)
{
	switch (class_of(type)) {
	case FLOAT32: case INT32:
		return 4;
	case FLOAT16: case QUANT16:
		return 2;
	case BOOL8: case QUANT8:
		return 1;
	case OTHER_TYPE:
		break;
	}
	return 0;
}

size_t tensor_bytes(const struct tensor *t) { return elements(t) * element_bytes(t->type); }

static void round_to_half(float *v, size_t n)
{
	uint16_t h[CHUNK];
	for (; n > 0;) {
		size_t m = n < CHUNK ? n : CHUNK;
		float_to_half(v, h, m);
		half_to_float(h, v, m);
		v += m;
		n -= m;
	}
}

static int32_t integer_at(const struct tensor *t, size_t i)
{
	switch (t->type) {
	case NEURON_TENSOR_INT32: case NEURON_INT32: case NEURON_UINT32: case NEURON_EXT_TENSOR_INT32_SYMM_PER_CHANNEL:
		return ((const int32_t *)t->data)[i];
	case NEURON_TENSOR_QUANT16_SYMM:
		return ((const int16_t *)t->data)[i];
	case NEURON_TENSOR_QUANT8_ASYMM: case NEURON_TENSOR_BOOL8: case NEURON_BOOL:
		return ((const uint8_t *)t->data)[i];
	}
	return ((const int8_t *)t->data)[i];
}

static float scale_at(const struct tensor *t, size_t i)
{
	if (t->scales == NULL)
		return t->scale == 0 ? 1 : t->scale;
	size_t inner = 1;
	for (uint32_t d = t->channel_dim + 1; d < t->rank; d++)
		inner *= t->dims[d];
	return t->scales[i / inner % t->channels];
}

void load(const struct tensor *t, size_t start, size_t n, float *to)
{
	if (class_of(t->type) == FLOAT16) {
		half_to_float((const uint16_t *)t->data + start, to, n);
	} else if (class_of(t->type) == FLOAT32) {
		memcpy(to, (const float *)t->data + start, n * sizeof *to);
		if (t->relaxed)
			round_to_half(to, n);
	} else {
		for (size_t i = 0; i < n; i++)
			to[i] = (float)(integer_at(t, start + i) - t->zero) * scale_at(t, start + i);
	}
}

// nearest is v in steps of the tensor, within [low, high].
static int32_t nearest(const struct tensor *t, size_t i, float v, double low, double high)
{
	double q = nearbyint((double)v / scale_at(t, i)) + t->zero;
	return (int32_t)(q > high ? high : q > low ? q : low); // NaN: low
}

void store(const struct tensor *t, size_t start, size_t n, const float *from)
{
	switch (t->type) {
	case NEURON_TENSOR_FLOAT16: case NEURON_FLOAT16:
		float_to_half(from, (uint16_t *)t->data + start, n);
		return;
	case NEURON_TENSOR_FLOAT32: case NEURON_FLOAT32:
		memcpy((float *)t->data + start, from, n * sizeof *from);
		if (t->relaxed)
			round_to_half((float *)t->data + start, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = start + i;
		switch (t->type) {
		case NEURON_TENSOR_INT32:
			((int32_t *)t->data)[at] = nearest(t, at, from[i], INT32_MIN, INT32_MAX);
			break;
		case NEURON_TENSOR_QUANT16_SYMM:
			((int16_t *)t->data)[at] = (int16_t)nearest(t, at, from[i], INT16_MIN, INT16_MAX);
			break;
		case NEURON_TENSOR_QUANT8_ASYMM: case NEURON_TENSOR_BOOL8:
			((uint8_t *)t->data)[at] = (uint8_t)nearest(t, at, from[i], 0, UINT8_MAX);
			break;
		default:
			((int8_t *)t->data)[at] = (int8_t)nearest(t, at, from[i], INT8_MIN, INT8_MAX);
		}
	}
}
