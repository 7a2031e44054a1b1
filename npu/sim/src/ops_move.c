// ops_move.c: operations that move values and compute none.
#include "sim.h"

#include <string.h>

// A side of a move: where it begins and how far apart its values are in each dimension,
// in elements.
struct side {
	size_t start;
	ptrdiff_t step[MAX_RANK];
};

static struct side whole(const struct tensor *t)
{
	struct side s = {0};
	ptrdiff_t step = 1;
	for (uint32_t d = t->rank; d-- > 0; step *= t->dims[d])
		s.step[d] = step;
	return s;
}

static void move_row(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, size_t n, size_t size)
{
	if (to_step == 1 && from_step == 1) {
		memcpy(to, from, n * size);
		return;
	}
	for (size_t i = 0; i < n; i++, to += to_step * (ptrdiff_t)size, from += from_step * (ptrdiff_t)size)
		memcpy(to, from, size);
}

// move copies a block of dims from one place to another.
static void move(const uint32_t *dims, uint32_t rank, struct tensor *to, struct side t, const struct tensor *from, struct side f)
{
	size_t size = element_bytes(to->type), rows = 1;
	for (uint32_t d = 0; d + 1 < rank; d++)
		rows *= dims[d];
	for (size_t r = 0; r < rows; r++) {
		ptrdiff_t a = (ptrdiff_t)t.start, b = (ptrdiff_t)f.start;
		size_t rest = r;
		for (uint32_t d = rank - 1; d-- > 0; rest /= dims[d]) {
			a += (ptrdiff_t)(rest % dims[d]) * t.step[d];
			b += (ptrdiff_t)(rest % dims[d]) * f.step[d];
		}
		move_row((char *)to->data + a * (ptrdiff_t)size, t.step[rank - 1], (const char *)from->data + b * (ptrdiff_t)size, f.step[rank - 1], dims[rank - 1], size);
	}
}

static const char *check_types(const struct call *c, uint32_t data_inputs)
{
	const struct tensor *out = c->out[0];
	if (element_bytes(out->type) == 0)
		return "its type is not moved";
	for (uint32_t i = 0; i < data_inputs; i++)
		if (c->in[i]->type != out->type || c->in[i]->rank == 0)
			return "its output is of another type";
	return NULL;
}

static const char wrong_shape[] = "its output has not the shape that follows";

// ---- RESHAPE. The shape operand is not looked at: some clients set it wrong, or leave it out.

const char *check_reshape(const struct call *c)
{
	if (c->n_in < 1 || c->n_in > 2 || c->n_out != 1)
		return "it takes one operand and a shape, and gives one";
	if (elements(c->in[0]) != elements(c->out[0]))
		return "its output has not as many elements";
	return check_types(c, 1);
}

bool run_reshape(const struct call *c)
{
	if (c->out[0]->data != c->in[0]->data)
		memmove(c->out[0]->data, c->in[0]->data, tensor_bytes(c->out[0]));
	return true;
}

// ---- TRANSPOSE

const char *check_transpose(const struct call *c)
{
	uint32_t n, seen = 0;
	const int32_t *p = ints(c, 1, &n);
	if (c->n_in != 2 || c->n_out != 1 || p == NULL || n != c->in[0]->rank || c->out[0]->rank != n)
		return "it takes one operand and a permutation, and gives one";
	for (uint32_t i = 0; i < n; i++) {
		if (p[i] < 0 || p[i] >= (int32_t)n || seen >> p[i] & 1)
			return "its permutation is none";
		seen |= 1u << p[i];
		if (c->out[0]->dims[i] != c->in[0]->dims[p[i]])
			return wrong_shape;
	}
	return check_types(c, 1);
}

bool run_transpose(const struct call *c)
{
	uint32_t n;
	const int32_t *p = ints(c, 1, &n);
	struct side from = whole(c->in[0]), turned = {0};
	for (uint32_t i = 0; i < n; i++)
		turned.step[i] = from.step[p[i]];
	move(c->out[0]->dims, n, c->out[0], whole(c->out[0]), c->in[0], turned);
	return true;
}

// ---- SLICE

const char *check_slice(const struct call *c)
{
	uint32_t n = 0, m = 0;
	const int32_t *begin = ints(c, 1, &n), *size = ints(c, 2, &m);
	const struct tensor *x = c->in[0], *out = c->out[0];
	if (c->n_in != 3 || c->n_out != 1 || begin == NULL || size == NULL || n != x->rank || m != n || out->rank != n)
		return "it takes one operand, begin and size, and gives one";
	for (uint32_t i = 0; i < n; i++) {
		if (begin[i] < 0 || (uint32_t)begin[i] >= x->dims[i])
			return "it begins outside of its operand";
		uint32_t left = x->dims[i] - (uint32_t)begin[i], want = size[i] == -1 ? left : (uint32_t)size[i];
		if (size[i] < -1 || want > left || out->dims[i] != want)
			return wrong_shape;
	}
	return check_types(c, 1);
}

bool run_slice(const struct call *c)
{
	uint32_t n;
	const int32_t *begin = ints(c, 1, &n);
	struct side from = whole(c->in[0]);
	for (uint32_t i = 0; i < n; i++)
		from.start += (size_t)(begin[i] * from.step[i]);
	move(c->out[0]->dims, n, c->out[0], whole(c->out[0]), c->in[0], from);
	return true;
}

// ---- STRIDED_SLICE: x, begin, end, strides, masks of begin, end and of dimensions that go

// strided fills the side of x and the dimensions of the result, with those that go as 1.
static bool strided(const struct call *c, struct side *from, uint32_t *dims, int32_t *shrink)
{
	uint32_t n[3] = {0};
	int32_t begin_mask, end_mask;
	const int32_t *begin = ints(c, 1, &n[0]), *end = ints(c, 2, &n[1]), *by = ints(c, 3, &n[2]);
	const struct tensor *x = c->in[0];
	if (c->n_in != 7 || begin == NULL || end == NULL || by == NULL || n[0] != x->rank || n[1] != x->rank || n[2] != x->rank ||
			!int_parameter(c, 4, &begin_mask) || !int_parameter(c, 5, &end_mask) || !int_parameter(c, 6, shrink))
		return false;
	*from = whole(x);
	for (uint32_t i = 0; i < x->rank; i++) {
		int64_t size = x->dims[i], b = begin[i] < 0 ? begin[i] + size : begin[i], e = end[i] < 0 ? end[i] + size : end[i];
		if (begin_mask >> i & 1)
			b = by[i] < 0 ? size - 1 : 0;
		if (end_mask >> i & 1)
			e = by[i] < 0 ? -1 : size;
		if (*shrink >> i & 1)
			e = b + 1;
		e = e > size ? size : e;
		if (by[i] == 0 || b < 0 || b >= size || e < -1 || (by[i] > 0 ? e <= b : e >= b))
			return false;
		dims[i] = *shrink >> i & 1 ? 1 : (uint32_t)((by[i] > 0 ? e - b + by[i] - 1 : b - e - by[i] - 1) / (by[i] > 0 ? by[i] : -(int64_t)by[i]));
		from->start += (size_t)b * (size_t)from->step[i];
		from->step[i] *= by[i];
	}
	return true;
}

const char *check_strided_slice(const struct call *c)
{
	struct side from;
	uint32_t dims[MAX_RANK], rank = 0;
	int32_t shrink;
	if (c->n_out != 1 || c->in[0]->rank == 0 || !strided(c, &from, dims, &shrink))
		return "it takes one operand, begin, end, strides and three masks that select something, and gives one";
	for (uint32_t i = 0; i < c->in[0]->rank; i++)
		if (!(shrink >> i & 1) && (rank >= c->out[0]->rank || c->out[0]->dims[rank++] != dims[i]))
			return wrong_shape;
	if (rank != c->out[0]->rank && !(rank == 0 && elements(c->out[0]) == 1))
		return wrong_shape;
	return check_types(c, 1);
}

bool run_strided_slice(const struct call *c)
{
	struct side from, to = {0};
	struct tensor out = *c->out[0];
	int32_t shrink;
	strided(c, &from, out.dims, &shrink);
	out.rank = c->in[0]->rank;
	to = whole(&out);
	move(out.dims, out.rank, &out, to, c->in[0], from);
	return true;
}

// ---- CONCATENATION and SPLIT: parts of one tensor along a dimension

static bool read_axis(const struct call *c, uint32_t i, const struct tensor *t, uint32_t *axis)
{
	int32_t v;
	if (!int_parameter(c, i, &v) || v < -(int32_t)t->rank || v >= (int32_t)t->rank)
		return false;
	*axis = (uint32_t)(v < 0 ? v + (int32_t)t->rank : v);
	return true;
}

static bool parts_make(const struct tensor *together, struct tensor *const *parts, uint32_t n, uint32_t axis)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct tensor part = *parts[i];
		if (part.rank != together->rank || part.type != together->type)
			return false;
		sum += part.dims[axis];
		part.dims[axis] = together->dims[axis];
		if (!same_dims(&part, together))
			return false;
	}
	return sum == together->dims[axis];
}

const char *check_concatenation(const struct call *c)
{
	uint32_t axis;
	if (c->n_in < 2 || c->n_out != 1 || !read_axis(c, c->n_in - 1, c->out[0], &axis))
		return "it takes operands and an axis, and gives one";
	if (!parts_make(c->out[0], c->in, c->n_in - 1, axis))
		return wrong_shape;
	return check_types(c, c->n_in - 1);
}

bool run_concatenation(const struct call *c)
{
	uint32_t axis = 0;
	read_axis(c, c->n_in - 1, c->out[0], &axis);
	struct side to = whole(c->out[0]);
	for (uint32_t i = 0; i + 1 < c->n_in; i++) {
		move(c->in[i]->dims, c->in[i]->rank, c->out[0], to, c->in[i], whole(c->in[i]));
		to.start += c->in[i]->dims[axis] * (size_t)to.step[axis];
	}
	return true;
}

const char *check_split(const struct call *c)
{
	uint32_t axis;
	int32_t n;
	if (c->n_in != 3 || !read_axis(c, 1, c->in[0], &axis) || !int_parameter(c, 2, &n) || n != (int32_t)c->n_out)
		return "it takes one operand, an axis and how many to give";
	if (!parts_make(c->in[0], c->out, c->n_out, axis))
		return wrong_shape;
	return check_types(c, 1);
}

bool run_split(const struct call *c)
{
	uint32_t axis = 0;
	read_axis(c, 1, c->in[0], &axis);
	struct side from = whole(c->in[0]);
	for (uint32_t i = 0; i < c->n_out; i++) {
		move(c->out[i]->dims, c->out[i]->rank, c->out[i], whole(c->out[i]), c->in[0], from);
		from.start += c->out[i]->dims[axis] * (size_t)from.step[axis];
	}
	return true;
}

// ---- PAD, PAD_V2

const char *check_pad(const struct call *c)
{
	uint32_t n;
	float value;
	const int32_t *p = ints(c, 1, &n);
	const struct tensor *x = c->in[0], *out = c->out[0];
	if (c->n_in != (c->kind->variant == NEURON_PAD ? 2 : 3) || c->n_out != 1 || p == NULL || n != 2 * x->rank || out->rank != x->rank)
		return "it takes one operand and paddings [rank, 2], PAD_V2 a value too, and gives one";
	if (c->n_in == 3 && !float_parameter(c, 2, &value))
		return "its value is no float";
	for (uint32_t i = 0; i < x->rank; i++)
		if (p[2 * i] < 0 || p[2 * i + 1] < 0 || out->dims[i] != (uint64_t)x->dims[i] + (uint32_t)p[2 * i] + (uint32_t)p[2 * i + 1])
			return wrong_shape;
	return check_types(c, 1);
}

bool run_pad(const struct call *c)
{
	uint32_t n;
	float value = 0, fill[256];
	const int32_t *p = ints(c, 1, &n);
	float_parameter(c, 2, &value);
	for (size_t i = 0; i < 256; i++)
		fill[i] = value;
	for (size_t at = 0, m, all = elements(c->out[0]); at < all; at += m) {
		m = all - at < 256 ? all - at : 256;
		store(c->out[0], at, m, fill);
	}
	struct side to = whole(c->out[0]);
	for (uint32_t i = 0; i < c->in[0]->rank; i++)
		to.start += (size_t)(p[2 * i] * to.step[i]);
	move(c->in[0]->dims, c->in[0]->rank, c->out[0], to, c->in[0], whole(c->in[0]));
	return true;
}
