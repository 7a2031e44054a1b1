// ops_product.c: the operations that are matrix products.
#include "sim.h"

#include <stdlib.h>

// A product is what the functions of one gemm know.
struct product {
	const struct tensor *x, *w;
	struct tensor *out;
	size_t x_at, w_at, out_at;       // where this matrix begins in each
	size_t x_row, x_step, w_row;     // distances: of rows of x, of values in such a row, of rows of w
	size_t k, n;
	const float *bias;
	int32_t activation;
	struct { // CONV_2D
		uint32_t width, stride_h, stride_w, dilation_h, dilation_w, top, left; // width of the output, zeros before x
	} conv;
};

static void row_of_x(const void *of, size_t i, float *to)
{
	const struct product *p = of;
	if (p->x_step == 1) {
		load(p->x, p->x_at + i * p->x_row, p->k, to);
		return;
	}
	for (size_t l = 0; l < p->k; l++)
		load(p->x, p->x_at + i * p->x_row + l * p->x_step, 1, to + l);
}

static void column_of_w(const void *of, size_t j, float *to)
{
	const struct product *p = of;
	load(p->w, p->w_at + j * p->w_row, p->k, to);
}

static void line_of_w(const void *of, size_t l, float *to)
{
	const struct product *p = of;
	load(p->w, p->w_at + l * p->w_row, p->n, to);
}

static void put_row(const void *of, size_t i, float *row)
{
	const struct product *p = of;
	for (size_t j = 0; p->bias != NULL && j < p->n; j++)
		row[j] += p->bias[j];
	activate(p->activation, row, p->n);
	store(p->out, p->out_at + i * p->n, p->n, row);
}

// load_bias returns n values to free. A bias of int32 beside quantised weights that has
// no scale is in units of the products.
static float *load_bias(const struct call *c, size_t n)
{
	const struct tensor *x = c->in[0], *w = c->in[1], *b = c->in[2];
	float *v = malloc(n * sizeof *v);
	if (v == NULL)
		return NULL;
	load(b, 0, n, v);
	if (class_of(b->type) == INT32 && b->scale == 0 && b->scales == NULL && class_of(w->type) == QUANT8)
		for (size_t j = 0; j < n; j++)
			v[j] *= (x->scale == 0 ? 1 : x->scale) * (w->scales != NULL ? w->scales[j] : w->scale);
	return v;
}

static const char *check_bias(const struct call *c, uint32_t n)
{
	const struct tensor *x = c->in[0], *w = c->in[1], *b = c->in[2];
	if (b->rank != 1 || b->dims[0] != n)
		return "its bias has not one value for each output";
	if (class_of(b->type) != class_of(x->type) && class_of(b->type) != INT32)
		return "its bias is neither of its operand's type nor of int32";
	if (class_of(w->type) > FLOAT32 && class_of(w->type) != QUANT8)
		return "its weights are neither float nor quant8";
	if (w->scales != NULL && (w->channel_dim != 0 || w->channels != n))
		return "its weights are quantised along another dimension than their first";
	if ((class_of(w->type) == FLOAT16) != (class_of(x->type) == FLOAT16) && class_of(w->type) != QUANT8)
		return "its weights are not of its operand's type";
	return NULL;
}

const char *check_fully_connected(const struct call *c)
{
	int32_t activation;
	if (c->n_in != 4 || c->n_out != 1 || !int_parameter(c, 3, &activation) || activation < 0 || activation > 3)
		return "it takes an operand, weights, bias and activation, and gives one";
	const struct tensor *x = c->in[0], *w = c->in[1], *out = c->out[0];
	if (w->rank != 2 || x->rank < 1 || elements(x) % w->dims[1] != 0)
		return "its weights do not fit its operand";
	if (out->rank < 1 || out->dims[out->rank - 1] != w->dims[0] || elements(out) != elements(x) / w->dims[1] * w->dims[0])
		return "its output has not [rows, weights] elements";
	return check_bias(c, w->dims[0]);
}

bool run_fully_connected(const struct call *c)
{
	const struct tensor *w = c->in[1];
	struct product p = {.x = c->in[0], .w = w, .out = c->out[0], .k = w->dims[1], .n = w->dims[0], .x_row = w->dims[1], .x_step = 1, .w_row = w->dims[1]};
	float *bias = load_bias(c, p.n);
	int_parameter(c, 3, &p.activation);
	p.bias = bias;
	bool done = bias != NULL && gemm(&(struct gemm){elements(p.x) / p.k, p.n, p.k, row_of_x, column_of_w, NULL, put_row, &p}, c->scratch);
	free(bias);
	return done;
}

// ---- CONV_2D: x [N, H, W, I], filter [O, FH, FW, I]; row i is the patch under one output

static void patch_of_x(const void *of, size_t i, float *to)
{
	const struct product *p = of;
	const struct tensor *x = p->x, *w = p->w;
	size_t height = p->out->dims[1], in = x->dims[3];
	size_t column = i % p->conv.width, line = i / p->conv.width % height, image = i / p->conv.width / height;
	for (uint32_t fh = 0; fh < w->dims[1]; fh++)
		for (uint32_t fw = 0; fw < w->dims[2]; fw++, to += in) {
			int64_t h = (int64_t)line * p->conv.stride_h + (int64_t)fh * p->conv.dilation_h - p->conv.top;
			int64_t v = (int64_t)column * p->conv.stride_w + (int64_t)fw * p->conv.dilation_w - p->conv.left;
			if (h >= 0 && h < x->dims[1] && v >= 0 && v < x->dims[2]) {
				load(x, ((image * x->dims[1] + (size_t)h) * x->dims[2] + (size_t)v) * in, in, to);
				continue;
			}
			for (size_t l = 0; l < in; l++)
				to[l] = 0;
		}
}

struct conv_parameters {
	int32_t padding, stride_w, stride_h, activation, nchw, dilation_w, dilation_h;
};

static bool read_conv(const struct call *c, struct conv_parameters *p)
{
	*p = (struct conv_parameters){.dilation_w = 1, .dilation_h = 1};
	return (c->n_in == 7 || c->n_in == 8 || c->n_in == 10) && int_parameter(c, 3, &p->padding) && int_parameter(c, 4, &p->stride_w) &&
		int_parameter(c, 5, &p->stride_h) && int_parameter(c, 6, &p->activation) && (c->n_in < 8 || int_parameter(c, 7, &p->nchw)) &&
		(c->n_in < 10 || (int_parameter(c, 8, &p->dilation_w) && int_parameter(c, 9, &p->dilation_h)));
}

// outputs is how many places a filter of a size has; *before are the zeros in front.
static uint32_t outputs(uint32_t in, uint32_t filter, int32_t stride, int32_t dilation, bool same, uint32_t *before)
{
	uint32_t reach = (filter - 1) * (uint32_t)dilation + 1, s = (uint32_t)stride;
	*before = 0;
	if (!same)
		return in < reach ? 0 : (in - reach) / s + 1;
	uint32_t n = (in + s - 1) / s, need = (n - 1) * s + reach;
	*before = need > in ? (need - in) / 2 : 0;
	return n;
}

const char *check_conv_2d(const struct call *c)
{
	struct conv_parameters p;
	uint32_t before;
	if (c->n_out != 1 || !read_conv(c, &p))
		return "it takes an operand, filter, bias, padding, strides, activation and so on, in the form with implicit padding";
	if ((p.padding != 1 && p.padding != 2) || p.stride_w < 1 || p.stride_h < 1 || p.dilation_w < 1 || p.dilation_h < 1 || p.activation < 0 || p.activation > 3)
		return "its padding, strides, dilations or activation make no sense";
	if (p.nchw != 0)
		return "only NHWC is taken";
	const struct tensor *x = c->in[0], *w = c->in[1], *out = c->out[0];
	if (x->rank != 4 || w->rank != 4 || out->rank != 4 || x->dims[3] != w->dims[3])
		return "its filter does not fit its operand";
	if (out->dims[0] != x->dims[0] || out->dims[3] != w->dims[0] || w->dims[1] > 1 << 16 || w->dims[2] > 1 << 16 ||
			out->dims[1] != outputs(x->dims[1], w->dims[1], p.stride_h, p.dilation_h, p.padding == 1, &before) ||
			out->dims[2] != outputs(x->dims[2], w->dims[2], p.stride_w, p.dilation_w, p.padding == 1, &before))
		return "its output has not the shape that follows";
	return check_bias(c, w->dims[0]);
}

bool run_conv_2d(const struct call *c)
{
	struct conv_parameters a;
	const struct tensor *x = c->in[0], *w = c->in[1];
	read_conv(c, &a);
	struct product p = {.x = x, .w = w, .out = c->out[0], .k = (size_t)w->dims[1] * w->dims[2] * w->dims[3], .n = w->dims[0], .activation = a.activation};
	p.w_row = p.k;
	p.conv.stride_h = (uint32_t)a.stride_h;
	p.conv.stride_w = (uint32_t)a.stride_w;
	p.conv.dilation_h = (uint32_t)a.dilation_h;
	p.conv.dilation_w = (uint32_t)a.dilation_w;
	p.conv.width = p.out->dims[2];
	outputs(x->dims[1], w->dims[1], a.stride_h, a.dilation_h, a.padding == 1, &p.conv.top);
	outputs(x->dims[2], w->dims[2], a.stride_w, a.dilation_w, a.padding == 1, &p.conv.left);
	float *bias = load_bias(c, p.n);
	p.bias = bias;
	bool done = bias != NULL && gemm(&(struct gemm){elements(p.out) / p.n, p.n, p.k, patch_of_x, column_of_w, NULL, put_row, &p}, c->scratch);
	free(bias);
	return done;
}

// ---- BATCH_MATMUL

const char *check_batch_matmul(const struct call *c)
{
	int32_t adj_x, adj_y;
	if (c->n_in != 4 || c->n_out != 1 || !int_parameter(c, 2, &adj_x) || !int_parameter(c, 3, &adj_y))
		return "it takes two operands and two BOOL, and gives one";
	const struct tensor *x = c->in[0], *y = c->in[1], *out = c->out[0];
	uint32_t r = x->rank;
	if (r < 2 || y->rank != r || out->rank != r || class_of(x->type) != class_of(y->type))
		return "its operands are not of one rank and type";
	for (uint32_t i = 0; i + 2 < r; i++)
		if (x->dims[i] != y->dims[i] || x->dims[i] != out->dims[i])
			return "its operands are not of one batch";
	if (x->dims[r - 1 - !!adj_x] != y->dims[r - 2 + !!adj_y] || out->dims[r - 2] != x->dims[r - 2 + !!adj_x] || out->dims[r - 1] != y->dims[r - 1 - !!adj_y])
		return "its shapes do not fit";
	return NULL;
}

bool run_batch_matmul(const struct call *c)
{
	int32_t adj_x = 0, adj_y = 0;
	int_parameter(c, 2, &adj_x);
	int_parameter(c, 3, &adj_y);
	const struct tensor *x = c->in[0], *y = c->in[1], *out = c->out[0];
	uint32_t r = x->rank;
	size_t m = out->dims[r - 2], n = out->dims[r - 1], k = x->dims[r - 1 - !!adj_x];
	struct product p = {.x = x, .w = y, .out = c->out[0], .k = k, .n = n, .x_row = adj_x ? 1 : k, .x_step = adj_x ? m : 1, .w_row = adj_y ? k : n};
	if (faults.wrong && class_of(x->type) == FLOAT16)
		p.k = (k + 1) / 2; // the rest of each sum is lost, and nobody is told
	for (size_t batch = 0; batch < elements(out) / (m * n); batch++) {
		p.x_at = batch * m * k;
		p.w_at = batch * n * k;
		p.out_at = batch * m * n;
		struct gemm g = {m, n, p.k, row_of_x, adj_y ? column_of_w : NULL, adj_y ? NULL : line_of_w, put_row, &p};
		if (!gemm(&g, c->scratch))
			return false;
	}
	return true;
}
