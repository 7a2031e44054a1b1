// operations.c: each operation against values computed here.
#include "client.h"

static double apply_binary(int code, double a, double b)
{
	return code == ADD ? a + b : code == SUB ? a - b : code == MUL ? a * b : a / b;
}

void case_binary(void)
{
	enum { B = 3, C = 5 };
	static const int codes[] = {ADD, SUB, MUL, DIV};
	struct { uint32_t rank, dims[3]; size_t step_row, step; } right[] = {{2, {B, C}, C, 1}, {1, {C}, 0, 1}, {2, {B, 1}, 1, 0}, {1, {1}, 0, 0}};
	for (size_t k = 0; k < 4; k++)
		for (size_t s = 0; s < 4; s++)
			for (int32_t activation = 0; activation < 2; activation++) {
				struct net n = new_net();
				half *a = halves(B * C), *b = halves(B * C), got[B * C];
				double want[B * C];
				uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, B, C)), y = tensor(&n, T_FLOAT16, right[s].rank, right[s].dims), z = tensor(&n, T_FLOAT16, DIMS(1, B, C));
				size_t count = right[s].dims[0] * (right[s].rank > 1 ? right[s].dims[1] : 1);
				operation(&n, codes[k], LIST(x, y, i32(&n, activation)), LIST(z));
				identify(&n, LIST(x, y), LIST(z));
				ready(&n);
				CODE(OK, NeuronExecution_setInput(n.e, 1, NULL, b, count * 2));
				run_1(&n, a, B * C, got, B * C);
				for (size_t i = 0; i < B * C; i++) {
					double v = apply_binary(codes[k], (double)a[i], (double)b[i / C * right[s].step_row + i % C * right[s].step]);
					want[i] = activation == 1 && v < 0 ? 0 : v;
				}
				near(__LINE__, got, want, B * C, HALF_STEP);
				free(a);
				free(b);
				free_net(&n);
			}
}

static void check_unary(int code, double (*f)(double), double low)
{
	enum { N = 37 };
	struct net n = new_net();
	half *in = halves(N), out[N];
	double want[N];
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(N)), y = tensor(&n, T_FLOAT16, DIMS(N));
	if (code == GELU)
		operation(&n, code, LIST(x, u32(&n, 0)), LIST(y));
	else
		operation(&n, code, LIST(x), LIST(y));
	identify(&n, LIST(x), LIST(y));
	ready(&n);
	for (int i = 0; i < N; i++) {
		in[i] = (half)(low + 4 * (1 + (float)in[i]));
		want[i] = f((double)in[i]);
	}
	run_1(&n, in, N, out, N);
	near(__LINE__, out, want, N, HALF_STEP);
	free(in);
	free_net(&n);
}

static double logistic(double x) { return 1 / (1 + exp(-x)); }
static double gelu(double x) { return 0.5 * x * (1 + erf(x / sqrt(2))); }

void case_unary(void)
{
	check_unary(SQRT, sqrt, 0);
	check_unary(TANH, tanh, -4);
	check_unary(LOGISTIC, logistic, -4);
	check_unary(GELU, gelu, -4);
}

void case_gelu_tanh(void)
{
	half in[] = {-3, -2, -1, 0, 1, 2, 3, 4}, out[8];
	double want[8];
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(8)), y = tensor(&n, T_FLOAT16, DIMS(8));
	operation(&n, GELU, LIST(x, u32(&n, 1)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	ready(&n);
	run_1(&n, in, 8, out, 8);
	for (int i = 0; i < 8; i++) {
		double v = (double)in[i];
		want[i] = 0.5 * v * (1 + tanh(sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
	}
	near(__LINE__, out, want, 8, HALF_STEP);
	free_net(&n);
}

// check_product compares x [m, k] · w [n, k]ᵀ + bias [n].
static void check_product(uint32_t m, uint32_t columns, uint32_t k)
{
	struct net n = new_net();
	half *in = halves(m * k), *weights = halves(columns * k), *bias = halves(columns), *out = halves(m * columns);
	double *want = malloc(m * columns * sizeof *want);
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(m, k)), w = value(&n, tensor(&n, T_FLOAT16, DIMS(columns, k)), weights, columns * k * 2);
	uint32_t b = value(&n, tensor(&n, T_FLOAT16, DIMS(columns)), bias, columns * 2), y = tensor(&n, T_FLOAT16, DIMS(m, columns));
	operation(&n, FULLY_CONNECTED, LIST(x, w, b, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	ready(&n);
	run_1(&n, in, m * k, out, m * columns);
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t j = 0; j < columns; j++) {
			double sum = (double)bias[j];
			for (uint32_t l = 0; l < k; l++)
				sum += (double)in[i * k + l] * (double)weights[j * k + l];
			want[i * columns + j] = sum;
		}
	near(__LINE__, out, want, m * columns, HALF_STEP);
	free(in);
	free(weights);
	free(bias);
	free(out);
	free(want);
	free_net(&n);
}

void case_fully_connected(void)
{
	static const uint32_t sizes[] = {1, 2, 5, 6, 7, 15, 16, 17, 33, 100};
	for (size_t i = 0; i < 10; i++)
		for (size_t j = 0; j < 10; j++)
			check_product(sizes[i], sizes[j], sizes[(i + 3 * j) % 10]);
	check_product(97, 50, 9);
}

// check_conv compares a convolution over [1, h, w, in], with weights that are computed
// or constant.
static void check_conv(uint32_t h, uint32_t w, uint32_t in, uint32_t out, uint32_t fh, uint32_t fw, int stride, int padding, bool computed)
{
	struct net n = new_net();
	uint32_t oh = padding == SAME ? (h + stride - 1) / stride : (h - fh) / stride + 1, ow = padding == SAME ? (w + stride - 1) / stride : (w - fw) / stride + 1;
	int need_h = (int)((oh - 1) * stride + fh) - (int)h, need_w = (int)((ow - 1) * stride + fw) - (int)w;
	int top = padding == SAME && need_h > 0 ? need_h / 2 : 0, left = padding == SAME && need_w > 0 ? need_w / 2 : 0;
	size_t n_in = h * w * in, n_filter = out * fh * fw * in, n_out = oh * ow * out;
	half *x = halves(n_in), *filter = halves(n_filter), *bias = halves(out), *got = halves(n_out);
	double *want = calloc(n_out, sizeof *want);
	uint32_t a = tensor(&n, T_FLOAT16, DIMS(1, h, w, in)), f = tensor(&n, T_FLOAT16, DIMS(out, fh, fw, in));
	uint32_t b = value(&n, tensor(&n, T_FLOAT16, DIMS(out)), bias, out * 2), y = tensor(&n, T_FLOAT16, DIMS(1, oh, ow, out));
	if (!computed)
		value(&n, f, filter, n_filter * 2);
	operation(&n, CONV_2D, LIST(a, f, b, i32(&n, padding), i32(&n, stride), i32(&n, stride), i32(&n, 0), boolean(&n, false), i32(&n, 1), i32(&n, 1)), LIST(y));
	identify(&n, computed ? 2 : 1, (uint32_t[]){a, f}, LIST(y));
	ready(&n);
	if (computed)
		CODE(OK, NeuronExecution_setInput(n.e, 1, NULL, filter, n_filter * 2));
	run_1(&n, x, n_in, got, n_out);
	for (uint32_t i = 0; i < oh; i++)
		for (uint32_t j = 0; j < ow; j++)
			for (uint32_t o = 0; o < out; o++) {
				double sum = (double)bias[o];
				for (uint32_t p = 0; p < fh; p++)
					for (uint32_t q = 0; q < fw; q++)
						for (uint32_t l = 0; l < in; l++) {
							int r = (int)(i * stride + p) - top, s = (int)(j * stride + q) - left;
							if (r >= 0 && r < (int)h && s >= 0 && s < (int)w)
								sum += (double)x[((uint32_t)r * w + (uint32_t)s) * in + l] * (double)filter[((o * fh + p) * fw + q) * in + l];
						}
				want[(i * ow + j) * out + o] = sum;
			}
	near(__LINE__, got, want, n_out, HALF_STEP);
	free(x);
	free(filter);
	free(bias);
	free(got);
	free(want);
	free_net(&n);
}

void case_conv(void)
{
	check_conv(1, 11, 5, 7, 1, 3, 1, VALID, false);
	check_conv(1, 12, 16, 32, 1, 3, 2, VALID, true);
	check_conv(7, 9, 3, 4, 3, 3, 1, SAME, false);
	check_conv(8, 9, 3, 20, 3, 2, 2, SAME, false);
}

// check_batch_matmul compares all four forms.
static void check_batch_matmul(bool adj_x, bool adj_y)
{
	enum { B = 3, M = 7, N = 18, K = 10 };
	struct net n = new_net();
	half *a = halves(B * M * K), *b = halves(B * N * K), got[B * M * N];
	double want[B * M * N];
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, B, adj_x ? K : M, adj_x ? M : K)), y = tensor(&n, T_FLOAT16, DIMS(1, B, adj_y ? N : K, adj_y ? K : N));
	uint32_t z = tensor(&n, T_FLOAT16, DIMS(1, B, M, N));
	operation(&n, BATCH_MATMUL, LIST(x, y, boolean(&n, adj_x), boolean(&n, adj_y)), LIST(z));
	identify(&n, LIST(x, y), LIST(z));
	ready(&n);
	CODE(OK, NeuronExecution_setInput(n.e, 1, NULL, b, B * N * K * 2));
	run_1(&n, a, B * M * K, got, B * M * N);
	for (int i = 0; i < B * M * N; i++) {
		int batch = i / (M * N), r = i / N % M, c = i % N;
		want[i] = 0;
		for (int k = 0; k < K; k++)
			want[i] += (double)a[batch * M * K + (adj_x ? k * M + r : r * K + k)] * (double)b[batch * N * K + (adj_y ? c * K + k : k * N + c)];
	}
	near(__LINE__, got, want, B * M * N, HALF_STEP);
	free(a);
	free(b);
	free_net(&n);
}

void case_batch_matmul(void)
{
	for (int i = 0; i < 4; i++)
		check_batch_matmul(i & 1, i & 2);
}

void case_rows(void) // SOFTMAX, MEAN, layer normalisation
{
	enum { R = 3, C = 19 };
	half *in = halves(R * C), *gamma = halves(C), *beta = halves(C), got[R * C];
	double softmax[R * C], mean[R], norm[R * C];
	for (int r = 0; r < R; r++) {
		double sum = 0, variance = 0;
		mean[r] = 0;
		for (int c = 0; c < C; c++) {
			sum += exp(0.5 * (double)in[r * C + c]);
			mean[r] += (double)in[r * C + c] / C;
		}
		for (int c = 0; c < C; c++)
			variance += pow((double)in[r * C + c] - mean[r], 2) / C;
		for (int c = 0; c < C; c++) {
			softmax[r * C + c] = exp(0.5 * (double)in[r * C + c]) / sum;
			norm[r * C + c] = ((double)in[r * C + c] - mean[r]) / sqrt(variance + 1e-5) * (double)gamma[c] + (double)beta[c];
		}
	}
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, R, C)), y = tensor(&n, T_FLOAT16, DIMS(1, R, C));
	operation(&n, SOFTMAX, LIST(x, f32(&n, 0.5)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	ready(&n);
	run_1(&n, in, R * C, got, R * C);
	near(__LINE__, got, softmax, R * C, HALF_STEP);
	free_net(&n);

	for (int keep = 0; keep < 2; keep++) {
		n = new_net();
		x = tensor(&n, T_FLOAT16, DIMS(1, R, C));
		y = keep ? tensor(&n, T_FLOAT16, DIMS(1, R, 1)) : tensor(&n, T_FLOAT16, DIMS(1, R));
		operation(&n, MEAN, LIST(x, INTS(&n, keep ? 2 : -1), i32(&n, keep)), LIST(y));
		identify(&n, LIST(x), LIST(y));
		ready(&n);
		run_1(&n, in, R * C, got, R);
		near(__LINE__, got, mean, R, HALF_STEP);
		free_net(&n);
	}

	n = new_net();
	x = tensor(&n, T_FLOAT16, DIMS(1, R, C));
	y = tensor(&n, T_FLOAT16, DIMS(1, R, C));
	uint32_t g = value(&n, tensor(&n, T_FLOAT16, DIMS(C)), gamma, C * 2), b = value(&n, tensor(&n, T_FLOAT16, DIMS(C)), beta, C * 2);
	operation(&n, extension(&n), LIST(x, INTS(&n, 2), g, b, f32(&n, 1e-5f), name_operand(&n, "MTKEXT_LAYER_NORMALIZATION")), LIST(y));
	identify(&n, LIST(x), LIST(y));
	ready(&n);
	run_1(&n, in, R * C, got, R * C);
	near(__LINE__, got, norm, R * C, 2 * HALF_STEP);
	free_net(&n);
	free(in);
	free(gamma);
	free(beta);
}

// moved runs an operation on x [2, 3, 4], whose values are 0 … 23, and compares.
static void moved(int line, int code, uint32_t n_parameters, uint32_t (*parameters)(struct net *, uint32_t), uint32_t rank, const uint32_t *dims, const int *want)
{
	struct net n = new_net();
	half in[24], got[64];
	size_t count = 1;
	uint32_t operands[8] = {tensor(&n, T_FLOAT16, DIMS(2, 3, 4))}, y = tensor(&n, T_FLOAT16, rank, dims);
	for (uint32_t i = 0; i < n_parameters; i++)
		operands[1 + i] = parameters(&n, i);
	operation(&n, code, 1 + n_parameters, operands, LIST(y));
	identify(&n, LIST(operands[0]), LIST(y));
	ready(&n);
	for (int i = 0; i < 24; i++)
		in[i] = (half)i;
	for (uint32_t i = 0; i < rank; i++)
		count *= dims[i];
	run_1(&n, in, 24, got, count);
	for (size_t i = 0; i < count; i++)
		if ((int)got[i] != want[i]) {
			fail(line, "value %zu is %d, not %d", i, (int)got[i], want[i]);
			break;
		}
	free_net(&n);
}

static uint32_t shape_parameters(struct net *n, uint32_t i) { (void)i; return INTS(n, 4, 6); }
static uint32_t transpose_parameters(struct net *n, uint32_t i) { (void)i; return INTS(n, 2, 0, 1); }
static uint32_t slice_parameters(struct net *n, uint32_t i) { return i == 0 ? INTS(n, 1, 0, 1) : INTS(n, 1, 2, -1); }
static uint32_t pad_parameters(struct net *n, uint32_t i) { (void)i; return value(n, tensor(n, T_INT32, DIMS(3, 2)), (int32_t[]){0, 0, 1, 0, 0, 1}, 24); }
static uint32_t strided_parameters(struct net *n, uint32_t i)
{
	switch (i) {
	case 0: return INTS(n, 1, 0, 3);
	case 1: return INTS(n, 2, 3, 0);
	case 2: return INTS(n, 1, 2, -2);
	}
	return i32(n, i == 5); // the last mask: the first dimension goes
}

void case_move(void)
{
	int same[24];
	for (int i = 0; i < 24; i++)
		same[i] = i;
	moved(__LINE__, RESHAPE, 1, shape_parameters, DIMS(4, 6), same);
	moved(__LINE__, RESHAPE, 0, NULL, DIMS(6, 4), same);
	moved(__LINE__, TRANSPOSE, 1, transpose_parameters, DIMS(4, 2, 3), (int[]){0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23});
	moved(__LINE__, SLICE, 2, slice_parameters, DIMS(1, 2, 3), (int[]){13, 14, 15, 17, 18, 19});
	moved(__LINE__, STRIDED_SLICE, 6, strided_parameters, DIMS(2, 2), (int[]){15, 13, 23, 21});
	moved(__LINE__, PAD, 1, pad_parameters, DIMS(2, 4, 5),
		(int[]){0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 7, 0, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 12, 13, 14, 15, 0, 16, 17, 18, 19, 0, 20, 21, 22, 23, 0});
}

void case_concatenation(void) // and SPLIT
{
	struct net n = new_net();
	half in[6] = {1, 2, 3, 4, 5, 6}, got[12], parts[2][6];
	static const int want[12] = {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6};
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(2, 3)), y = tensor(&n, T_FLOAT16, DIMS(2, 6)), a = tensor(&n, T_FLOAT16, DIMS(2, 3)), b = tensor(&n, T_FLOAT16, DIMS(2, 3));
	operation(&n, CONCATENATION, LIST(x, x, i32(&n, -1)), LIST(y));
	operation(&n, SPLIT, LIST(y, INTS(&n, 1), i32(&n, 2)), LIST(a, b));
	identify(&n, LIST(x), LIST(y, a, b));
	ready(&n);
	CODE(OK, NeuronExecution_setOutput(n.e, 1, NULL, parts[0], 12));
	CODE(OK, NeuronExecution_setOutput(n.e, 2, NULL, parts[1], 12));
	run_1(&n, in, 6, got, 12);
	for (int i = 0; i < 12; i++)
		WANT((int)got[i] == want[i]);
	for (int i = 0; i < 6; i++)
		WANT((int)parts[0][i] == i + 1 && (int)parts[1][i] == i + 1);
	free_net(&n);
}

void case_rounding(void) // float16 between operations, float32 only relaxed
{
	half in[4] = {300, -300, 1, 0}, out[4];
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(4)), y = tensor(&n, T_FLOAT16, DIMS(4)), z = tensor(&n, T_FLOAT16, DIMS(4));
	operation(&n, MUL, LIST(x, x, i32(&n, 0)), LIST(y));
	operation(&n, SUB, LIST(y, y, i32(&n, 0)), LIST(z));
	identify(&n, LIST(x), LIST(y, z));
	ready(&n);
	half difference[4];
	CODE(OK, NeuronExecution_setOutput(n.e, 1, NULL, difference, 8));
	run_1(&n, in, 4, out, 4);
	near(__LINE__, out, (double[]){INFINITY, INFINITY, 1, 0}, 4, 0);
	near(__LINE__, difference, (double[]){NAN, NAN, 0, 0}, 4, 0);
	free_net(&n);

	for (int relaxed = 0; relaxed < 2; relaxed++) {
		float from[2] = {1 + 1e-4f, 1000}, to[2] = {0};
		n = new_net();
		x = tensor(&n, T_FLOAT32, DIMS(2));
		y = tensor(&n, T_FLOAT32, DIMS(2));
		operation(&n, MUL, LIST(x, x, i32(&n, 0)), LIST(y));
		identify(&n, LIST(x), LIST(y));
		CODE(OK, NeuronModel_relaxComputationFloat32toFloat16(n.m, relaxed));
		CODE(relaxed ? OK : OP_FAILED, compile(&n));
		if (relaxed) {
			CODE(OK, NeuronExecution_create(n.c, &n.e));
			CODE(OK, NeuronExecution_setInput(n.e, 0, NULL, from, 8));
			CODE(OK, NeuronExecution_setOutput(n.e, 0, NULL, to, 8));
			CODE(OK, NeuronExecution_compute(n.e));
			WANT(to[0] == 1 && isinf(to[1]));
		}
		free_net(&n);
	}
}

void case_all_halves(void) // every float16 through an operation and back
{
	struct net n = new_net();
	static uint16_t in[1 << 16], out[1 << 16];
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(256, 256)), y = tensor(&n, T_FLOAT16, DIMS(256, 256));
	operation(&n, MUL, LIST(x, value(&n, tensor(&n, T_FLOAT16, DIMS(1)), &(half){0.25}, 2), i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	ready(&n);
	for (uint32_t i = 0; i < 1 << 16; i++)
		in[i] = (uint16_t)i;
	run_1(&n, (half *)in, 1 << 16, (half *)out, 1 << 16);
	for (uint32_t i = 0; i < 1 << 16; i++) {
		half v, got;
		memcpy(&v, &in[i], 2);
		memcpy(&got, &out[i], 2);
		half want = (half)((float)v * 0.25f);
		if (memcmp(&want, &got, 2) != 0 && !(isnan((float)want) && isnan((float)got))) {
			fail(__LINE__, "half 0x%04x / 4 is %g, not %g", i, (double)got, (double)want);
			break;
		}
	}
	free_net(&n);
}

void case_quantised(void) // quant8 weights by channel, beside quant8 activations
{
	struct net n = new_net();
	int8_t in[2] = {10, -4}, weights[2][2] = {{1, 2}, {3, -1}}, out[2] = {0};
	int32_t bias[2] = {8, 0};
	uint32_t x = n.n++, w = n.n++, y;
	CODE(OK, NeuronModel_addOperand(n.m, &(OperandType){T_QUANT8_ASYMM_SIGNED, DIMS(1, 2), 0.5f, 2}));
	CODE(OK, NeuronModel_addOperand(n.m, &(OperandType){T_QUANT8_SYMM_PER_CHANNEL, DIMS(2, 2), 0, 0}));
	CODE(OK, NeuronModel_setOperandSymmPerChannelQuantParams(n.m, (int32_t)w, &(SymmPerChannel){0, 2, (float[]){1, 0.25f}}));
	CODE(BAD_DATA, NeuronModel_setOperandSymmPerChannelQuantParams(n.m, (int32_t)w, &(SymmPerChannel){0, 3, (float[]){1, 1, 1}}));
	CODE(OK, NeuronModel_setOperandPerChannelQuantParams(n.m, (int32_t)w, &(PerChannel){0, 2, (float[]){1, 0.5f}, 2, (int32_t[]){0, 0}}));
	value(&n, w, weights, 4);
	uint32_t b = value(&n, tensor(&n, T_INT32, DIMS(2)), bias, 8);
	y = n.n++;
	CODE(OK, NeuronModel_addOperand(n.m, &(OperandType){T_QUANT8_ASYMM_SIGNED, DIMS(1, 2), 0.5f, 1}));
	operation(&n, FULLY_CONNECTED, LIST(x, w, b, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	ready(&n);
	CODE(OK, NeuronExecution_setInput(n.e, 0, NULL, in, 2));
	CODE(OK, NeuronExecution_setOutput(n.e, 0, NULL, out, 2));
	CODE(OK, NeuronExecution_compute(n.e));
	// x = 4, -3; weights 1, 2; 1.5, -0.5; bias in units of 0.5 · scale: 4, 0
	WANT(out[0] == (4 - 6 + 4) * 2 + 1 && out[1] == 15 + 1);
	free_net(&n);
}
