// abi.c: drives a library with the Neuron Adapter's ABI as a client does. Written from
// facts/npu.md and facts/neuron-observed.md alone; it shares no declaration with the
// library, and finds everything by name.
//
//	abi LIBRARY         runs all cases, each in a process of its own
//	abi LIBRARY CASE    runs one of them
//	abi LIBRARY speed   prints how fast three products are computed
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- the ABI, section 3

typedef struct { int32_t type; uint32_t rank; const uint32_t *dims; float scale; int32_t zero; } OperandType;
typedef struct { uint32_t dim, count; const float *scales; } SymmPerChannel;
typedef struct { uint32_t dim, count; const float *scales; uint32_t zeroCount; const int32_t *zeros; } PerChannel;
typedef struct { uint8_t major, minor, patch; } Version;
typedef struct { uint32_t kind; int32_t cores; uint8_t threads; bool in, out; } EnvOptions;
typedef struct { int fd; } BufferAttribute;

_Static_assert(sizeof(OperandType) == 24 && offsetof(OperandType, rank) == 4 && offsetof(OperandType, dims) == 8 &&
	offsetof(OperandType, scale) == 16 && offsetof(OperandType, zero) == 20, "NeuronOperandType");
_Static_assert(sizeof(SymmPerChannel) == 16 && offsetof(SymmPerChannel, count) == 4 && offsetof(SymmPerChannel, scales) == 8, "SymmPerChannelQuantParams");
_Static_assert(sizeof(PerChannel) == 32 && offsetof(PerChannel, zeroCount) == 16 && offsetof(PerChannel, zeros) == 24, "PerChannelQuantParams");
_Static_assert(sizeof(Version) == 3 && sizeof(EnvOptions) == 12 && sizeof(BufferAttribute) == 4, "small structs");

enum { OK = 0, OUT_OF_MEMORY = 1, UNEXPECTED_NULL = 3, BAD_DATA = 4, OP_FAILED = 5, UNMAPPABLE = 6, BAD_STATE = 7, UNAVAILABLE_DEVICE = 10 };
enum { RUNTIME_BAD_DATA = 4, RUNTIME_BAD_STATE = 5, RUNTIME_ERROR = 6 };
enum { FLOAT32 = 0, INT32 = 1, UINT32 = 2, T_FLOAT32 = 3, T_INT32 = 4, BOOL = 6, T_FLOAT16 = 8, T_QUANT8_SYMM_PER_CHANNEL = 11, T_QUANT8_ASYMM_SIGNED = 14 };
enum {
	ADD = 0, CONCATENATION = 2, CONV_2D = 3, FULLY_CONNECTED = 9, LOGISTIC = 14, MUL = 18, RESHAPE = 22, SOFTMAX = 25, TANH = 28, DIV = 30,
	MEAN = 31, PAD = 32, STRIDED_SLICE = 35, SUB = 36, TRANSPOSE = 37, CAST = 45, RSQRT = 83, SLICE = 86, SPLIT = 87, SQRT = 88,
	BATCH_MATMUL = 102, GELU = 109, UNKNOWN = 10001,
};
enum { VALID = 2, SAME = 1 };

// ---- symbols, each asked for by name, sections 1, 4 and 7.1

#define SYMBOLS(X) \
	X(int, Neuron_getVersion, (Version *)) \
	X(int, Neuron_getL1MemorySizeKb, (uint32_t *)) \
	X(int, Neuron_getDeviceCount, (uint32_t *)) \
	X(int, Neuron_getDevice, (uint32_t, void **)) \
	X(int, NeuronDevice_getName, (const void *, const char **)) \
	X(int, NeuronModel_create, (void **)) \
	X(void, NeuronModel_free, (void *)) \
	X(int, NeuronModel_setName, (void *, const char *)) \
	X(int, NeuronModel_addOperand, (void *, const OperandType *)) \
	X(int, NeuronModel_setOperandValue, (void *, int32_t, const void *, size_t)) \
	X(int, NeuronModel_setOperandSymmPerChannelQuantParams, (void *, int32_t, const SymmPerChannel *)) \
	X(int, NeuronModel_setOperandPerChannelQuantParams, (void *, int32_t, const PerChannel *)) \
	X(int, NeuronModel_addOperation, (void *, int32_t, uint32_t, const uint32_t *, uint32_t, const uint32_t *)) \
	X(int, NeuronModel_identifyInputsAndOutputs, (void *, uint32_t, const uint32_t *, uint32_t, const uint32_t *)) \
	X(int, NeuronModel_relaxComputationFloat32toFloat16, (void *, bool)) \
	X(int, NeuronModel_finish, (void *)) \
	X(int, NeuronModel_getSupportedOperations, (void *, bool *, uint32_t)) \
	X(int, NeuronModel_getSupportedOperationsForDevices, (const void *, const void *const *, uint32_t, bool *)) \
	X(int, NeuronModel_getExtensionOperandType, (void *, const char *, uint16_t, int32_t *)) \
	X(int, NeuronModel_getExtensionOperationType, (void *, const char *, uint16_t, int32_t *)) \
	X(int, NeuronModel_restoreFromCompiledNetwork, (void **, void **, const void *, size_t)) \
	X(int, NeuronCompilation_create, (void *, void **)) \
	X(int, NeuronCompilation_createWithOptions, (void *, void **, const char *)) \
	X(int, NeuronCompilation_createForDevices, (void *, const void *const *, uint32_t, void **)) \
	X(void, NeuronCompilation_free, (void *)) \
	X(int, NeuronCompilation_setCaching, (void *, const char *, const uint8_t *)) \
	X(int, NeuronCompilation_setPreference, (void *, int32_t)) \
	X(int, NeuronCompilation_setPriority, (void *, int32_t)) \
	X(int, NeuronCompilation_setOptimizationHint, (void *, uint32_t)) \
	X(int, NeuronCompilation_setOptimizationString, (void *, const char *)) \
	X(int, NeuronCompilation_setL1MemorySizeKb, (void *, uint32_t)) \
	X(int, NeuronCompilation_getSupportedOperations, (void *, uint32_t, bool *)) \
	X(int, NeuronCompilation_finish, (void *)) \
	X(int, NeuronCompilation_getInputPaddedSize, (void *, int32_t, size_t *)) \
	X(int, NeuronCompilation_getOutputPaddedSize, (void *, int32_t, size_t *)) \
	X(int, NeuronCompilation_getInputPaddedDimensions, (void *, int32_t, uint32_t *)) \
	X(int, NeuronCompilation_getOutputPaddedDimensions, (void *, int32_t, uint32_t *)) \
	X(int, NeuronCompilation_getCompiledNetworkSize, (void *, size_t *)) \
	X(int, NeuronCompilation_storeCompiledNetwork, (void *, void *, size_t)) \
	X(int, NeuronExecution_create, (void *, void **)) \
	X(void, NeuronExecution_free, (void *)) \
	X(int, NeuronExecution_setInput, (void *, int32_t, const OperandType *, const void *, size_t)) \
	X(int, NeuronExecution_setOutput, (void *, int32_t, const OperandType *, void *, size_t)) \
	X(int, NeuronExecution_setInputFromMemory, (void *, uint32_t, const OperandType *, const void *, size_t, size_t)) \
	X(int, NeuronExecution_setOutputFromMemory, (void *, uint32_t, const OperandType *, const void *, size_t, size_t)) \
	X(int, NeuronExecution_setBoostHint, (void *, uint8_t)) \
	X(int, NeuronExecution_setLoopTimeout, (void *, uint64_t)) \
	X(int, NeuronExecution_setCacheFlushHint, (void *, uint8_t)) \
	X(int, NeuronExecution_getOutputOperandRank, (void *, int32_t, uint32_t *)) \
	X(int, NeuronExecution_getOutputOperandDimensions, (void *, int32_t, uint32_t *)) \
	X(int, NeuronExecution_compute, (void *)) \
	X(int, NeuronMemory_createFromFd, (size_t, int, int, size_t, void **)) \
	X(int, NeuronMemory_createFromAHardwareBuffer, (const void *, void **)) \
	X(void, NeuronMemory_free, (void *)) \
	X(int, NeuronRuntime_create, (const EnvOptions *, void **)) \
	X(int, NeuronRuntime_create_with_options, (const char *, const EnvOptions *, void **)) \
	X(int, NeuronRuntime_loadNetworkFromFile, (void *, const char *)) \
	X(int, NeuronRuntime_loadNetworkFromBuffer, (void *, const void *, size_t)) \
	X(int, NeuronRuntime_getInputNumber, (void *, size_t *)) \
	X(int, NeuronRuntime_getOutputNumber, (void *, size_t *)) \
	X(int, NeuronRuntime_getInputSize, (void *, uint64_t, size_t *)) \
	X(int, NeuronRuntime_getOutputSize, (void *, uint64_t, size_t *)) \
	X(int, NeuronRuntime_setInput, (void *, uint64_t, const void *, size_t, BufferAttribute)) \
	X(int, NeuronRuntime_setOutput, (void *, uint64_t, void *, size_t, BufferAttribute)) \
	X(int, NeuronRuntime_inference, (void *)) \
	X(int, NeuronRuntime_getVersion, (Version *)) \
	X(void, NeuronRuntime_release, (void *)) \
	X(void, NeuronSim_getMemory, (uint64_t *, uint64_t *, uint32_t *, uint32_t *))

#define DECLARE(result, name, parameters) static result (*name) parameters;
SYMBOLS(DECLARE)

static int missing;

static void open_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		printf("%s\n", dlerror());
		exit(1);
	}
#define LOOK_UP(result, name, parameters) \
	*(void **)&name = dlsym(lib, #name); \
	if (name == NULL) { \
		printf("symbol " #name " is missing\n"); \
		missing++; \
	}
	SYMBOLS(LOOK_UP)
}

// ---- checks

static int bad;
static int error_file; // stderr of this process

__attribute__((format(printf, 2, 3))) static void fail(int line, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	printf("  line %d: ", line);
	vprintf(format, ap);
	putchar('\n');
	va_end(ap);
	bad++;
}

#define WANT(condition) do { if (!(condition)) fail(__LINE__, "not so: %s", #condition); } while (0)
#define CODE(want, call) do { int code_ = (call); if (code_ != (want)) fail(__LINE__, "%s gives %d, not %d", #call, code_, want); } while (0)

// errors is what stderr holds by now.
static const char *errors(void)
{
	static char all[1 << 16];
	ssize_t n = pread(error_file, all, sizeof all - 1, 0);
	all[n < 0 ? 0 : n] = 0;
	return all;
}

#define SAID(text) do { if (strstr(errors(), text) == NULL) fail(__LINE__, "stderr lacks: %s", text); } while (0)

static int open_descriptors(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static char folder[] = "/tmp/abi-XXXXXX";

static const char *write_file(const char *name, const char *text)
{
	static char path[64];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	return path;
}

// ---- building models

typedef _Float16 half;
#define DIMS(...) (sizeof((uint32_t[]){__VA_ARGS__}) / 4), (const uint32_t[]){__VA_ARGS__}
#define LIST(...) (sizeof((uint32_t[]){__VA_ARGS__}) / 4), (const uint32_t[]){__VA_ARGS__}

struct net {
	void *m, *c, *e;
	uint32_t n;
};

static struct net new_net(void)
{
	struct net n = {0};
	CODE(OK, NeuronModel_create(&n.m));
	if (n.m == NULL)
		exit(1);
	return n;
}

static void free_net(struct net *n)
{
	NeuronExecution_free(n->e);
	NeuronCompilation_free(n->c);
	NeuronModel_free(n->m);
	*n = (struct net){0};
}

static uint32_t tensor(struct net *n, int32_t type, uint32_t rank, const uint32_t *dims)
{
	CODE(OK, NeuronModel_addOperand(n->m, &(OperandType){type, rank, dims, 0, 0}));
	return n->n++;
}

static uint32_t value(struct net *n, uint32_t operand, const void *v, size_t size)
{
	CODE(OK, NeuronModel_setOperandValue(n->m, (int32_t)operand, v, size));
	return operand;
}

static uint32_t i32(struct net *n, int32_t v) { return value(n, tensor(n, INT32, 0, NULL), &v, 4); }
static uint32_t u32(struct net *n, uint32_t v) { return value(n, tensor(n, UINT32, 0, NULL), &v, 4); }
static uint32_t f32(struct net *n, float v) { return value(n, tensor(n, FLOAT32, 0, NULL), &v, 4); }
static uint32_t boolean(struct net *n, bool v) { return value(n, tensor(n, BOOL, 0, NULL), &v, 1); }
static uint32_t ints(struct net *n, uint32_t count, const int32_t *v) { return value(n, tensor(n, T_INT32, DIMS(count)), v, 4 * count); }
#define INTS(n, ...) ints(n, sizeof((int32_t[]){__VA_ARGS__}) / 4, (const int32_t[]){__VA_ARGS__})

static void operation(struct net *n, int32_t code, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out)
{
	CODE(OK, NeuronModel_addOperation(n->m, code, n_in, in, n_out, out));
}

static void identify(struct net *n, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out)
{
	CODE(OK, NeuronModel_identifyInputsAndOutputs(n->m, n_in, in, n_out, out));
}

static int compile(struct net *n)
{
	CODE(OK, NeuronModel_finish(n->m));
	CODE(OK, NeuronCompilation_create(n->m, &n->c));
	return NeuronCompilation_finish(n->c);
}

// ready compiles and makes the execution.
static void ready(struct net *n)
{
	CODE(OK, compile(n));
	CODE(OK, NeuronExecution_create(n->c, &n->e));
	if (n->e == NULL)
		exit(1);
}

// name_operand adds the packed name of an extension operation.
static uint32_t name_operand(struct net *n, const char *name)
{
	int32_t type = 0;
	uint8_t packed[128] = "\6string";
	uint32_t length = (uint32_t)strlen(name);
	CODE(OK, NeuronModel_getExtensionOperandType(n->m, "com.mediatek.general_operation", 0x0100, &type));
	memcpy(packed + 7, &length, 4);
	memcpy(packed + 11, name, length);
	return value(n, tensor(n, type, DIMS(22 + length)), packed, 22 + length);
}

static int32_t extension(struct net *n)
{
	int32_t type = 0;
	CODE(OK, NeuronModel_getExtensionOperationType(n->m, "com.mediatek.general_operation", 0, &type));
	return type;
}

// ---- values

static uint32_t seed = 1;

// noise is in [-1, 1), exact in float16.
static float noise(void)
{
	seed = seed * 1664525 + 1013904223;
	return (float)(half)((float)(seed >> 8) / (1 << 23) - 1);
}

static half *halves(size_t n)
{
	half *v = malloc(n * sizeof *v);
	for (size_t i = 0; i < n; i++)
		v[i] = (half)noise();
	return v;
}

static void near(int line, const half *got, const double *want, size_t n, double tolerance)
{
	for (size_t i = 0; i < n; i++) {
		double g = (double)got[i], w = want[i];
		if (isnan(g) != isnan(w) || (isinf(w) && g != w) || (!isnan(w) && !isinf(w) && !(fabs(g - w) <= tolerance * (1 + fabs(w))))) {
			fail(line, "value %zu is %g, not %g", i, g, w);
			return;
		}
	}
}

#define HALF_STEP 1e-3 // a rounding to float16, and a little

// run_1 runs a net of one float16 input and output.
static void run_1(struct net *n, const half *in, size_t n_in, half *out, size_t n_out)
{
	CODE(OK, NeuronExecution_setInput(n->e, 0, NULL, in, n_in * 2));
	CODE(OK, NeuronExecution_setOutput(n->e, 0, NULL, out, n_out * 2));
	CODE(OK, NeuronExecution_compute(n->e));
}

// ---- cases: operations

static double apply_binary(int code, double a, double b)
{
	return code == ADD ? a + b : code == SUB ? a - b : code == MUL ? a * b : a / b;
}

static void case_binary(void)
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

static void case_unary(void)
{
	check_unary(SQRT, sqrt, 0);
	check_unary(TANH, tanh, -4);
	check_unary(LOGISTIC, logistic, -4);
	check_unary(GELU, gelu, -4);
}

static void case_gelu_tanh(void)
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

static void case_fully_connected(void)
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

static void case_conv(void)
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

static void case_batch_matmul(void)
{
	for (int i = 0; i < 4; i++)
		check_batch_matmul(i & 1, i & 2);
}

static void case_rows(void) // SOFTMAX, MEAN, layer normalisation
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

static void case_move(void)
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

static void case_concatenation(void) // and SPLIT
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

static void case_rounding(void) // float16 between operations, float32 only relaxed
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

static void case_all_halves(void) // every float16 through an operation and back
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

static void case_quantised(void) // quant8 weights by channel, beside quant8 activations
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

// ---- cases: states and codes

static struct net add_net(void) // y = x + x of 64 values
{
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(64)), y = tensor(&n, T_FLOAT16, DIMS(64));
	operation(&n, ADD, LIST(x, x, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	return n;
}

static void case_states(void)
{
	OperandType type = {T_FLOAT16, DIMS(64), 0, 0};
	half in[64] = {1}, out[64];
	struct net n = add_net();
	void *c = NULL;
	CODE(BAD_STATE, NeuronCompilation_create(n.m, &c));
	CODE(BAD_DATA, NeuronModel_identifyInputsAndOutputs(n.m, LIST(0), LIST(1)));
	CODE(OK, NeuronModel_finish(n.m));
	CODE(BAD_STATE, NeuronModel_finish(n.m));
	CODE(BAD_STATE, NeuronModel_addOperand(n.m, &type));
	CODE(BAD_STATE, NeuronModel_setOperandValue(n.m, 0, in, 128));
	CODE(BAD_STATE, NeuronModel_addOperation(n.m, ADD, LIST(0, 0, 2), LIST(1)));
	CODE(BAD_STATE, NeuronModel_identifyInputsAndOutputs(n.m, LIST(0), LIST(1)));
	CODE(OK, NeuronCompilation_createWithOptions(n.m, &n.c, "--opt 3"));
	size_t size;
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	CODE(BAD_STATE, NeuronCompilation_getCompiledNetworkSize(n.c, &size));
	CODE(BAD_STATE, NeuronCompilation_getInputPaddedSize(n.c, 0, &size));
	CODE(OK, NeuronCompilation_setPreference(n.c, 2));
	CODE(BAD_DATA, NeuronCompilation_setPreference(n.c, 9));
	CODE(OK, NeuronCompilation_setPriority(n.c, 110));
	CODE(OK, NeuronCompilation_setOptimizationHint(n.c, 1));
	CODE(OK, NeuronCompilation_setL1MemorySizeKb(n.c, 256));
	CODE(OK, NeuronCompilation_setOptimizationString(n.c, "--opt-accuracy"));
	CODE(OK, NeuronCompilation_finish(n.c));
	CODE(BAD_STATE, NeuronCompilation_finish(n.c));
	CODE(BAD_STATE, NeuronCompilation_setPreference(n.c, 2));
	bool supported;
	CODE(BAD_STATE, NeuronCompilation_getSupportedOperations(n.c, 1, &supported));
	CODE(OK, NeuronCompilation_getInputPaddedSize(n.c, 0, &size));
	WANT(size == 128);
	CODE(BAD_DATA, NeuronCompilation_getOutputPaddedSize(n.c, 1, &size));
	uint32_t dims[8], rank;
	CODE(OK, NeuronCompilation_getOutputPaddedDimensions(n.c, 0, dims));
	WANT(dims[0] == 64);
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	CODE(OK, NeuronExecution_getOutputOperandRank(n.e, 0, &rank));
	WANT(rank == 1);
	CODE(BAD_DATA, NeuronExecution_compute(n.e));
	SAID("input 0 is not set");
	CODE(OK, NeuronExecution_setInput(n.e, 0, &type, in, 128));
	CODE(BAD_DATA, NeuronExecution_compute(n.e));
	SAID("output 0 is not set");
	CODE(BAD_DATA, NeuronExecution_setInput(n.e, 0, NULL, in, 126));
	CODE(BAD_DATA, NeuronExecution_setInput(n.e, 1, NULL, in, 128));
	CODE(BAD_DATA, NeuronExecution_setInput(n.e, -1, NULL, in, 128));
	CODE(BAD_DATA, NeuronExecution_setOutput(n.e, 0, &(OperandType){T_FLOAT32, DIMS(64), 0, 0}, out, 128));
	CODE(OK, NeuronExecution_setOutput(n.e, 0, NULL, out, 128));
	CODE(OK, NeuronExecution_setBoostHint(n.e, 100));
	CODE(BAD_DATA, NeuronExecution_setBoostHint(n.e, 101));
	CODE(OK, NeuronExecution_compute(n.e));
	CODE(OK, NeuronExecution_compute(n.e));
	WANT((float)out[0] == 2);
	free_net(&n);
}

static void case_null(void)
{
	struct net n = add_net();
	void *none = NULL;
	CODE(UNEXPECTED_NULL, Neuron_getVersion(NULL));
	CODE(UNEXPECTED_NULL, Neuron_getDeviceCount(NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_create(NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_finish(NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_addOperand(n.m, NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_addOperand(n.m, &(OperandType){T_FLOAT16, 2, NULL, 0, 0}));
	CODE(UNEXPECTED_NULL, NeuronModel_setOperandValue(n.m, 0, NULL, 128));
	CODE(UNEXPECTED_NULL, NeuronModel_addOperation(n.m, ADD, 3, NULL, 1, NULL));
	CODE(UNEXPECTED_NULL, NeuronCompilation_create(NULL, &none));
	CODE(UNEXPECTED_NULL, NeuronCompilation_finish(NULL));
	CODE(UNEXPECTED_NULL, NeuronExecution_create(NULL, &none));
	CODE(UNEXPECTED_NULL, NeuronModel_restoreFromCompiledNetwork(&none, &none, NULL, 1));
	CODE(UNEXPECTED_NULL, NeuronMemory_createFromAHardwareBuffer(NULL, &none));
	ready(&n);
	CODE(UNEXPECTED_NULL, NeuronExecution_setInput(n.e, 0, NULL, NULL, 128));
	CODE(UNEXPECTED_NULL, NeuronExecution_setInputFromMemory(n.e, 0, NULL, NULL, 0, 128));
	CODE(UNEXPECTED_NULL, NeuronExecution_compute(NULL));
	free_net(&n);
	NeuronModel_free(NULL);
	NeuronCompilation_free(NULL);
	NeuronExecution_free(NULL);
	NeuronMemory_free(NULL);
	NeuronRuntime_release(NULL);
}

static void case_bad_models(void)
{
	struct net n = new_net();
	CODE(BAD_DATA, NeuronModel_finish(n.m));
	CODE(BAD_DATA, NeuronModel_addOperand(n.m, &(OperandType){77, DIMS(1), 0, 0}));
	CODE(BAD_DATA, NeuronModel_addOperand(n.m, &(OperandType){T_FLOAT16, DIMS(1 << 30, 1 << 30, 1 << 30, 1 << 30), 0, 0}));
	CODE(BAD_DATA, NeuronModel_addOperand(n.m, &(OperandType){INT32, DIMS(1), 0, 0}));
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(4)), y = tensor(&n, T_FLOAT16, DIMS(4)), z = tensor(&n, T_FLOAT16, DIMS(4));
	CODE(BAD_DATA, NeuronModel_setOperandValue(n.m, 0, "", 1));
	CODE(BAD_DATA, NeuronModel_setOperandValue(n.m, 9, "12345678", 8));
	CODE(BAD_DATA, NeuronModel_addOperation(n.m, ADD, LIST(x, 99), LIST(y)));
	int32_t type;
	CODE(BAD_DATA, NeuronModel_getExtensionOperandType(n.m, "com.example", 0x0100, &type));
	operation(&n, ADD, LIST(z, z, i32(&n, 0)), LIST(y)); // z is never written
	identify(&n, LIST(x), LIST(y));
	CODE(BAD_DATA, NeuronModel_finish(n.m));
	SAID("operation 0 reads operand 2");
	free_net(&n);

	n = new_net(); // shapes that do not follow
	x = tensor(&n, T_FLOAT16, DIMS(4));
	y = tensor(&n, T_FLOAT16, DIMS(5));
	operation(&n, ADD, LIST(x, x, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	CODE(BAD_DATA, compile(&n));
	SAID("operation 0, ADD (0): its output");
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	free_net(&n);

	n = new_net(); // an operand left out
	x = tensor(&n, T_FLOAT16, DIMS(4));
	y = tensor(&n, T_FLOAT16, DIMS(4));
	z = tensor(&n, T_FLOAT16, DIMS(4));
	CODE(OK, NeuronModel_setOperandValue(n.m, (int32_t)z, NULL, 0));
	operation(&n, ADD, LIST(x, z, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	CODE(BAD_DATA, compile(&n));
	free_net(&n);
}

static void case_litert_order(void)
{
	struct net n = new_net();
	half in[8], out[8];
	CODE(OK, NeuronModel_setName(n.m, "Partition_0"));
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, 8)), z = tensor(&n, T_FLOAT16, DIMS(1, 8));
	identify(&n, LIST(x), LIST(z));
	uint32_t y = tensor(&n, T_FLOAT16, DIMS(1, 8));
	operation(&n, ADD, LIST(x, x, i32(&n, 0)), LIST(y));
	operation(&n, TANH, LIST(y), LIST(z));
	CODE(OK, NeuronModel_finish(n.m));
	CODE(OK, NeuronModel_relaxComputationFloat32toFloat16(n.m, true));
	CODE(OK, NeuronCompilation_createWithOptions(n.m, &n.c, "--opt-accuracy --opt 3"));
	CODE(OK, NeuronCompilation_setPriority(n.c, 110));
	CODE(OK, NeuronCompilation_setPreference(n.c, 2));
	CODE(OK, NeuronCompilation_setOptimizationHint(n.c, 0));
	CODE(OK, NeuronCompilation_setOptimizationString(n.c, "--opt-accuracy --opt 3"));
	bool supported[2] = {0};
	CODE(OK, NeuronCompilation_getSupportedOperations(n.c, 2, supported));
	WANT(supported[0] && supported[1]);
	CODE(BAD_DATA, NeuronCompilation_getSupportedOperations(n.c, 3, supported));
	CODE(OK, NeuronCompilation_finish(n.c));
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	for (int i = 0; i < 8; i++)
		in[i] = (half)(0.1 * i);
	run_1(&n, in, 8, out, 8);
	double want[8];
	for (int i = 0; i < 8; i++)
		want[i] = tanh(2 * (double)in[i]);
	near(__LINE__, out, want, 8, HALF_STEP);
	free_net(&n);
}

// ---- cases: boards

// supports asks of a model of one operation, and sees that compiling says the same.
static bool supports(struct net *n)
{
	bool model = true, compilation = false;
	CODE(OK, NeuronModel_finish(n->m));
	CODE(OK, NeuronModel_getSupportedOperations(n->m, &model, 1));
	CODE(OK, NeuronCompilation_create(n->m, &n->c));
	CODE(OK, NeuronCompilation_getSupportedOperations(n->c, 1, &compilation));
	WANT(model == compilation);
	CODE(model ? OK : OP_FAILED, NeuronCompilation_finish(n->c));
	free_net(n);
	return model;
}

static bool supports_batch_matmul(int32_t type, uint32_t rank)
{
	struct net n = new_net();
	const uint32_t dims[] = {1, 1, 1, 4, 4};
	uint32_t x = tensor(&n, type, rank, dims + 5 - rank), y = tensor(&n, type, rank, dims + 5 - rank), z = tensor(&n, type, rank, dims + 5 - rank);
	operation(&n, BATCH_MATMUL, LIST(x, y, boolean(&n, 0), boolean(&n, 0)), LIST(z));
	identify(&n, LIST(x, y), LIST(z));
	CODE(OK, NeuronModel_relaxComputationFloat32toFloat16(n.m, true));
	return supports(&n);
}

static bool supports_unary(int32_t code)
{
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, 4)), y = tensor(&n, T_FLOAT16, DIMS(1, 4));
	if (code == GELU)
		operation(&n, code, LIST(x, u32(&n, 0)), LIST(y));
	else
		operation(&n, code, LIST(x), LIST(y));
	identify(&n, LIST(x), LIST(y));
	return supports(&n);
}

static bool supports_layer_norm(void)
{
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, 4)), y = tensor(&n, T_FLOAT16, DIMS(1, 4)), g = value(&n, tensor(&n, T_FLOAT16, DIMS(4)), (half[4]){1}, 8);
	operation(&n, extension(&n), LIST(x, INTS(&n, 1), g, g, f32(&n, 1e-5f), name_operand(&n, "MTKEXT_LAYER_NORMALIZATION")), LIST(y));
	identify(&n, LIST(x), LIST(y));
	return supports(&n);
}

static bool supports_computed_weights(uint32_t out, uint32_t in)
{
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(3, in)), w = tensor(&n, T_FLOAT16, DIMS(out, in)), y = tensor(&n, T_FLOAT16, DIMS(3, out));
	half bias[64] = {0};
	operation(&n, FULLY_CONNECTED, LIST(x, w, value(&n, tensor(&n, T_FLOAT16, DIMS(out)), bias, out * 2), i32(&n, 0)), LIST(y));
	identify(&n, LIST(x, w), LIST(y));
	return supports(&n);
}

static void check_board(const char *device, Version version, uint32_t l1_kb, bool new)
{
	Version v = {0};
	uint32_t n = 0, kb = 1;
	void *d = NULL;
	const char *name = "";
	bool found = false;
	CODE(OK, Neuron_getVersion(&v));
	WANT(memcmp(&v, &version, sizeof v) == 0);
	CODE(OK, Neuron_getL1MemorySizeKb(&kb));
	WANT(kb == l1_kb);
	CODE(OK, Neuron_getDeviceCount(&n));
	CODE(BAD_DATA, Neuron_getDevice(n, &d));
	for (uint32_t i = 0; i < n; i++) {
		CODE(OK, Neuron_getDevice(i, &d));
		CODE(OK, NeuronDevice_getName(d, &name));
		found = found || strcmp(name, device) == 0;
	}
	WANT(found);
	WANT(supports_batch_matmul(T_FLOAT16, 4) == new);
	WANT(supports_batch_matmul(T_FLOAT16, 3) == new);
	WANT(!supports_batch_matmul(T_FLOAT32, 4));
	WANT(!supports_batch_matmul(T_FLOAT16, 5));
	WANT(supports_unary(GELU) == new);
	WANT(supports_unary(RSQRT) == new);
	WANT(supports_unary(SQRT));
	WANT(supports_layer_norm() == new);
	WANT(supports_computed_weights(16, 32));
	WANT(supports_computed_weights(20, 32) == new);
	WANT(supports_computed_weights(16, 20) == new);
	WANT(!supports_unary(UNKNOWN));
	SAID("(102): ");
}

static void case_old_board(void) { check_board("mtk-mdla", (Version){6, 3, 3}, 0, false); }
static void case_new_board(void) { check_board("mtk-mdla", (Version){8, 2, 16}, 256, true); }

static void case_no_device(void)
{
	uint32_t n = 1;
	void *m = &n;
	CODE(OK, Neuron_getDeviceCount(&n));
	WANT(n == 0);
	CODE(UNAVAILABLE_DEVICE, NeuronModel_create(&m));
	WANT(m == NULL);
	SAID("genio-350 has no device");
}

static void case_conv_limits(void)
{
	static half zeros[4096 * 32];
	for (int stride = 4; stride <= 5; stride++)
		for (uint32_t in = 4095; in <= 4096; in++) {
			struct net n = new_net();
			uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, 1, 1, in)), w = value(&n, tensor(&n, T_FLOAT16, DIMS(1, 1, 1, in)), zeros, in * 2), y = tensor(&n, T_FLOAT16, DIMS(1, 1, 1, 1));
			uint32_t b = value(&n, tensor(&n, T_FLOAT16, DIMS(1)), zeros, 2);
			operation(&n, CONV_2D, LIST(x, w, b, i32(&n, VALID), i32(&n, stride), i32(&n, 1), i32(&n, 0), boolean(&n, false), i32(&n, 1), i32(&n, 1)), LIST(y));
			identify(&n, LIST(x), LIST(y));
			WANT(supports(&n) == (stride == 4 && in == 4095));
		}
	for (uint32_t batch = 255; batch <= 256; batch++) {
		struct net n = new_net();
		uint32_t x = tensor(&n, T_FLOAT16, DIMS(batch, 1, 1, 2)), y = tensor(&n, T_FLOAT16, DIMS(batch, 1, 1, 2));
		operation(&n, TANH, LIST(x), LIST(y));
		identify(&n, LIST(x), LIST(y));
		WANT(supports(&n) == (batch == 255));
	}
}

static void case_bad_settings(void)
{
	Version v;
	void *m = NULL;
	CODE(BAD_STATE, NeuronModel_create(&m));
	WANT(Neuron_getVersion(&v) != OK);
	SAID(getenv("ABI_SAYS"));
}

// ---- cases: memory

static void *borrowed_net(struct net *n, size_t *bytes) // y = x + constant of 4096 halves
{
	*bytes = 8192;
	half *constant = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*n = new_net();
	for (size_t i = 0; i < *bytes / 2; i++)
		constant[i] = (half)1;
	uint32_t x = tensor(n, T_FLOAT16, DIMS(4096)), w = value(n, tensor(n, T_FLOAT16, DIMS(4096)), constant, *bytes), y = tensor(n, T_FLOAT16, DIMS(4096));
	operation(n, ADD, LIST(x, w, i32(n, 0)), LIST(y));
	identify(n, LIST(x), LIST(y));
	return constant;
}

static void case_borrowed(void)
{
	struct net n;
	size_t bytes;
	half in[4096] = {1}, out[4096], *constant = borrowed_net(&n, &bytes);
	constant[17] = 2;
	CODE(BAD_DATA, compile(&n));
	SAID("operand 1 (8192 bytes) is not what it was");
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	free_net(&n);
	munmap(constant, bytes);

	constant = borrowed_net(&n, &bytes);
	mprotect((char *)constant + 4096, 4096, PROT_NONE); // half of it is gone
	CODE(BAD_DATA, compile(&n));
	SAID("operand 1 (8192 bytes) is no longer in memory");
	free_net(&n);
	munmap(constant, bytes);

	constant = borrowed_net(&n, &bytes);
	munmap(constant, bytes); // something else may lie there by then
	CODE(BAD_DATA, compile(&n));
	free_net(&n);

	constant = borrowed_net(&n, &bytes);
	ready(&n);
	munmap(constant, bytes); // by now it is nobody's
	run_1(&n, in, 4096, out, 4096);
	WANT((float)out[0] == 2 && (float)out[4095] == 1);
	free_net(&n);

	half small[64] = {3}; // 128 bytes are copied at once
	n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(64)), w = value(&n, tensor(&n, T_FLOAT16, DIMS(64)), small, 128), y = tensor(&n, T_FLOAT16, DIMS(64));
	operation(&n, ADD, LIST(x, w, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	small[0] = 4;
	ready(&n);
	run_1(&n, in, 64, out, 64);
	WANT((float)out[0] == 4);
	free_net(&n);
}

enum { PAGE = 4096, MIB = 1 << 20 };

// chain_net is x → TANH → RESHAPE → TANH → TANH → y of [rows, 1024] halves, so that at
// most two of three intermediates are held.
static struct net chain_net(uint32_t rows)
{
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(rows, 1024)), a = tensor(&n, T_FLOAT16, DIMS(rows, 1024)), b = tensor(&n, T_FLOAT16, DIMS(1024, rows));
	uint32_t c = tensor(&n, T_FLOAT16, DIMS(1024, rows)), y = tensor(&n, T_FLOAT16, DIMS(1024, rows));
	operation(&n, TANH, LIST(x), LIST(a));
	operation(&n, RESHAPE, LIST(a, INTS(&n, 1024, (int32_t)rows)), LIST(b));
	operation(&n, TANH, LIST(b), LIST(c));
	operation(&n, TANH, LIST(c), LIST(y));
	identify(&n, LIST(x), LIST(y));
	return n;
}

struct held {
	uint64_t now, mark;
	uint32_t allocations, allocations_mark;
};

static struct held held(void)
{
	struct held h;
	NeuronSim_getMemory(&h.now, &h.mark, &h.allocations, &h.allocations_mark);
	return h;
}

static void case_accounting(void)
{
	int descriptors = open_descriptors();
	struct net n = chain_net(8); // 16 KiB each
	WANT(held().now == 0 && held().allocations == 0);
	CODE(OK, compile(&n));
	WANT(held().now == PAGE && held().allocations == 1); // commands; there are no constants
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	WANT(held().now == PAGE + PAGE + 2 * 16384 && held().allocations == 1 + 1 + 2);
	WANT(open_descriptors() == descriptors + 4);
	static half in[8192], out[8192];
	run_1(&n, in, 8192, out, 8192);
	WANT(held().now == PAGE + PAGE + 4 * 16384 && held().allocations == 6);
	WANT(open_descriptors() == descriptors + 6);
	run_1(&n, in, 8192, out, 8192);
	WANT(held().allocations == 6);
	free_net(&n);
	WANT(held().now == 0 && held().allocations == 0 && held().mark == PAGE + PAGE + 4 * 16384 && held().allocations_mark == 6);
	WANT(open_descriptors() == descriptors);

	size_t bytes; // constants: 8192 bytes, and the commands
	half *constant = borrowed_net(&n, &bytes);
	CODE(OK, compile(&n));
	WANT(held().now == 8192 + PAGE && held().allocations == 2);
	munmap(constant, bytes);
	free_net(&n);
	WANT(open_descriptors() == descriptors);
}

static void case_in_place(void) // each TANH takes its operand's memory over
{
	struct net n = chain_net(8);
	ready(&n);
	WANT(held().now == PAGE + PAGE + 16384 && held().allocations == 3);
	static half in[8192], out[8192];
	double want[8192];
	for (int i = 0; i < 8192; i++) {
		in[i] = (half)noise();
		want[i] = tanh(tanh(tanh((double)in[i])));
	}
	run_1(&n, in, 8192, out, 8192);
	near(__LINE__, out, want, 8192, 3 * HALF_STEP);
	free_net(&n);
}

static void case_shared_outputs(void) // RESHAPE to an output, and from an input
{
	struct net n = new_net();
	half in[4] = {1, 2, 3, 4}, first[4], second[4], third[4];
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(4)), a = tensor(&n, T_FLOAT16, DIMS(2, 2)), b = tensor(&n, T_FLOAT16, DIMS(2, 2));
	uint32_t y = tensor(&n, T_FLOAT16, DIMS(4)), z = tensor(&n, T_FLOAT16, DIMS(4)), w = tensor(&n, T_FLOAT16, DIMS(1, 4));
	operation(&n, RESHAPE, LIST(x), LIST(a));
	operation(&n, ADD, LIST(a, a, i32(&n, 0)), LIST(b));
	operation(&n, RESHAPE, LIST(b), LIST(y));
	operation(&n, RESHAPE, LIST(b), LIST(z)); // a copy
	operation(&n, RESHAPE, LIST(x), LIST(w)); // from input to output: a copy
	identify(&n, LIST(x), LIST(y, z, w));
	ready(&n);
	WANT(held().allocations == 2); // no intermediate at all
	CODE(OK, NeuronExecution_setOutput(n.e, 1, NULL, second, 8));
	CODE(OK, NeuronExecution_setOutput(n.e, 2, NULL, third, 8));
	run_1(&n, in, 4, first, 4);
	for (int i = 0; i < 4; i++)
		WANT((int)first[i] == 2 * (i + 1) && (int)second[i] == 2 * (i + 1) && (int)third[i] == i + 1);
	free_net(&n);
}

static void case_budget(void) // of 1 MiB
{
	int descriptors = open_descriptors();
	// commands and information: two pages; 254 pages stay for two intermediates of rows · 2048
	struct net n = chain_net(127 * 2);
	ready(&n);
	WANT(held().now == MIB);
	free_net(&n);
	n = chain_net(127 * 2 + 1);
	CODE(OK, compile(&n));
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	WANT(n.e == NULL);
	SAID("memAlloc: alloc mem(160/0/0/0x5) fail(Cannot allocate memory)\nalloc execInfo fail\n");
	WANT(held().now == PAGE && open_descriptors() == descriptors + 1);
	free_net(&n);

	n = chain_net(8);
	ready(&n);
	void *memory[64];
	int used = 0, fd = memfd_create("abi", 0);
	WANT(ftruncate(fd, MIB) == 0);
	WANT(lseek(fd, 5, SEEK_SET) == 5);
	for (int code = OK; used < 64; used++) {
		code = NeuronMemory_createFromFd(65536, PROT_READ | PROT_WRITE, fd, 0, &memory[used]);
		if (code == OK)
			continue;
		CODE(BAD_DATA, code);
		break;
	}
	WANT(used == (MIB - PAGE - PAGE - 32768) / 65536);
	WANT(lseek(fd, 0, SEEK_CUR) == 5);
	SAID("memImport: import mem(0x0/65536)");
	while (used > 0)
		NeuronMemory_free(memory[--used]);
	free_net(&n);
	close(fd);
	WANT(held().now == 0 && open_descriptors() == descriptors);

	n = new_net(); // constants above the budget
	half *constant = calloc(MIB / 2 + 1, 2);
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(MIB / 2 + 1)), w = value(&n, tensor(&n, T_FLOAT16, DIMS(MIB / 2 + 1)), constant, MIB + 2), y = tensor(&n, T_FLOAT16, DIMS(MIB / 2 + 1));
	operation(&n, ADD, LIST(x, w, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	CODE(OUT_OF_MEMORY, compile(&n));
	SAID("memAlloc: alloc mem(1048704/0/0/0x5) fail(Cannot allocate memory)");
	free(constant);
	free_net(&n);
	WANT(held().now == 0);
}

static void case_allocations(void) // of which there may be 4
{
	struct net n = chain_net(8), m = chain_net(8);
	ready(&n);
	WANT(held().allocations == 4);
	CODE(OUT_OF_MEMORY, compile(&m));
	half in[8192];
	CODE(OUT_OF_MEMORY, NeuronExecution_setInput(n.e, 0, NULL, in, sizeof in));
	free_net(&m);
	free_net(&n);
	n = chain_net(8);
	ready(&n);
	free_net(&n);
}

static void case_descriptors(void) // of the process run out
{
	struct net n = chain_net(8);
	CODE(OK, compile(&n));
	struct rlimit limit;
	int used = 0;
	while (used < 64) // without gaps below
		used = dup(0);
	used++;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)used + 2;
	setrlimit(RLIMIT_NOFILE, &limit);
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	SAID("memAlloc: alloc mem(160/0/0/0x5) fail(Cannot allocate memory)\nalloc execInfo fail\n");
	limit.rlim_cur = (rlim_t)used + 3;
	setrlimit(RLIMIT_NOFILE, &limit);
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	free_net(&n);
}

static void case_operations(void) // of which a model may have 3
{
	struct net n = chain_net(8);
	CODE(UNMAPPABLE, compile(&n));
	SAID("4 operations are more than the 3");
	free_net(&n);
}

static void case_fd_memory(void)
{
	struct net n = add_net();
	void *memory = NULL;
	int fd = memfd_create("abi", 0);
	WANT(ftruncate(fd, 8192) == 0);
	half *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CODE(BAD_DATA, NeuronMemory_createFromFd(8193, PROT_READ | PROT_WRITE, fd, 0, &memory));
	CODE(BAD_DATA, NeuronMemory_createFromFd(4096, PROT_READ | PROT_WRITE, -1, 0, &memory));
	CODE(OK, NeuronMemory_createFromFd(8192, PROT_READ | PROT_WRITE, fd, 0, &memory));
	close(fd); // it has its own
	ready(&n);
	CODE(BAD_DATA, NeuronExecution_setInputFromMemory(n.e, 0, NULL, memory, 64, 128));
	CODE(BAD_DATA, NeuronExecution_setInputFromMemory(n.e, 0, NULL, memory, 8192, 128));
	CODE(BAD_DATA, NeuronExecution_setOutputFromMemory(n.e, 0, NULL, memory, 128, 127));
	CODE(OK, NeuronExecution_setInputFromMemory(n.e, 0, NULL, memory, 128, 128));
	CODE(OK, NeuronExecution_setOutputFromMemory(n.e, 0, NULL, memory, 4096, 128));
	for (int i = 0; i < 64; i++)
		shared[64 + i] = (half)i;
	CODE(OK, NeuronExecution_compute(n.e));
	for (int i = 0; i < 64; i++)
		WANT((int)shared[2048 + i] == 2 * i);
	NeuronMemory_free(memory);
	CODE(BAD_DATA, NeuronExecution_compute(n.e));
	SAID("its memory was freed");
	free_net(&n);
	munmap(shared, 8192);
}

// ---- cases: stored networks

static void *stored(struct net *n, size_t *size)
{
	CODE(OK, NeuronCompilation_getCompiledNetworkSize(n->c, size));
	void *network = malloc(*size);
	CODE(BAD_DATA, NeuronCompilation_storeCompiledNetwork(n->c, network, *size - 1));
	CODE(OK, NeuronCompilation_storeCompiledNetwork(n->c, network, *size));
	return network;
}

static void case_store(void)
{
	struct net n, r = {0};
	size_t bytes, size;
	half *constant = borrowed_net(&n, &bytes), in[4096], out[4096], again[4096];
	CODE(OK, compile(&n));
	munmap(constant, bytes);
	char *network = stored(&n, &size);
	CODE(OK, NeuronModel_restoreFromCompiledNetwork(&r.m, &r.c, network, size));
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	CODE(OK, NeuronExecution_create(r.c, &r.e));
	for (int i = 0; i < 4096; i++)
		in[i] = (half)noise();
	run_1(&n, in, 4096, out, 4096);
	run_1(&r, in, 4096, again, 4096);
	WANT(memcmp(out, again, sizeof out) == 0);
	size_t second;
	char *copy = stored(&r, &second);
	WANT(second == size && memcmp(copy, network, size) == 0);
	free_net(&n);
	free_net(&r);
	for (size_t cut = 0; cut < size; cut += 97) {
		CODE(BAD_DATA, NeuronModel_restoreFromCompiledNetwork(&r.m, &r.c, network, cut));
		WANT(r.m == NULL && r.c == NULL);
	}
	for (size_t i = 0; i < size; i += i < 400 ? 1 : 53) {
		network[i] ^= 0x10;
		CODE(BAD_DATA, NeuronModel_restoreFromCompiledNetwork(&r.m, &r.c, network, size));
		network[i] ^= 0x10;
	}
	CODE(BAD_DATA, NeuronModel_restoreFromCompiledNetwork(&r.m, &r.c, "\x7f" "ELF, a raw .dla or so", 22));
	SAID("can't be restored");
	free(network);
	free(copy);
	WANT(held().now == 0);
}

static void write_network(const char *path)
{
	struct net n = add_net();
	size_t size;
	CODE(OK, compile(&n));
	void *network = stored(&n, &size);
	FILE *f = fopen(path, "w");
	WANT(fwrite(network, 1, size, f) == size);
	fclose(f);
	free(network);
	free_net(&n);
}

static void case_store_for_others(void) { write_network(getenv("ABI_NETWORK")); }

static void *read_network(size_t *size)
{
	FILE *f = fopen(getenv("ABI_NETWORK"), "r");
	void *network = malloc(1 << 20);
	*size = fread(network, 1, 1 << 20, f);
	fclose(f);
	return network;
}

static void case_other_version(void)
{
	struct net r = {0};
	size_t size;
	void *network = read_network(&size);
	WANT(size > 0);
	CODE(BAD_DATA, NeuronModel_restoreFromCompiledNetwork(&r.m, &r.c, network, size));
	SAID("another major version");
	free(network);
}

static void case_runtime(void)
{
	int descriptors = open_descriptors();
	void *r = NULL;
	EnvOptions env = {.kind = 4};
	Version v = {0};
	size_t n = 0, size;
	half in[64] = {1, 2}, out[64];
	BufferAttribute plain = {-1};
	const char *path = getenv("ABI_NETWORK");
	CODE(OK, NeuronRuntime_getVersion(&v));
	WANT(v.major == 6);
	CODE(OK, NeuronRuntime_create(&env, &r));
	CODE(RUNTIME_BAD_STATE, NeuronRuntime_inference(r));
	CODE(RUNTIME_BAD_STATE, NeuronRuntime_getInputNumber(r, &n));
	CODE(RUNTIME_BAD_DATA, NeuronRuntime_loadNetworkFromFile(r, "/nowhere"));
	CODE(RUNTIME_BAD_DATA, NeuronRuntime_loadNetworkFromBuffer(r, "DLA", 3));
	CODE(OK, NeuronRuntime_loadNetworkFromFile(r, path));
	CODE(RUNTIME_BAD_STATE, NeuronRuntime_loadNetworkFromFile(r, path));
	CODE(OK, NeuronRuntime_getInputNumber(r, &n));
	WANT(n == 1);
	CODE(OK, NeuronRuntime_getOutputNumber(r, &n));
	WANT(n == 1);
	CODE(OK, NeuronRuntime_getInputSize(r, 0, &size));
	WANT(size == 128);
	CODE(RUNTIME_BAD_DATA, NeuronRuntime_getOutputSize(r, 1, &size));
	CODE(RUNTIME_BAD_DATA, NeuronRuntime_inference(r));
	CODE(OK, NeuronRuntime_setInput(r, 0, in, 128, plain));
	CODE(OK, NeuronRuntime_setOutput(r, 0, out, 128, plain));
	CODE(OK, NeuronRuntime_inference(r));
	WANT((float)out[0] == 2 && (float)out[1] == 4);
	NeuronRuntime_release(r);
	CODE(OK, NeuronRuntime_create_with_options("--a", &env, &r));
	NeuronRuntime_release(r);
	WANT(open_descriptors() == descriptors);
}

// ---- cases: faults

static void case_fault_open(void)
{
	Version v;
	uint32_t n;
	void *m = NULL;
	CODE(UNAVAILABLE_DEVICE, Neuron_getVersion(&v));
	CODE(UNAVAILABLE_DEVICE, Neuron_getDeviceCount(&n));
	CODE(UNAVAILABLE_DEVICE, Neuron_getL1MemorySizeKb(&n));
	CODE(UNAVAILABLE_DEVICE, NeuronModel_create(&m));
	CODE(RUNTIME_ERROR, NeuronRuntime_create(&(EnvOptions){0}, &m));
	SAID("fault open");
}

static void case_fault_create(void)
{
	Version v;
	void *m = &v;
	CODE(OK, Neuron_getVersion(&v));
	CODE(OUT_OF_MEMORY, NeuronModel_create(&m));
	WANT(m == NULL);
}

static void case_fault_compile(void)
{
	struct net n = add_net();
	CODE(OP_FAILED, compile(&n));
	free_net(&n);
}

static void case_fault_execute(void) // the second of three
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	run_1(&n, in, 64, out, 64);
	CODE(OP_FAILED, NeuronExecution_compute(n.e));
	CODE(OK, NeuronExecution_compute(n.e));
	free_net(&n);
}

static void case_fault_nan(void) // the second of three
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	for (int run = 1; run <= 3; run++) {
		int nans = 0;
		run_1(&n, in, 64, out, 64);
		for (int i = 0; i < 64; i++)
			nans += isnan((float)out[i]);
		WANT(nans == (run == 2));
	}
	free_net(&n);
}

static void case_fault_wrong(void)
{
	struct net n = new_net();
	half in[128], got[4], fc[4];
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, 2, 64)), y = tensor(&n, T_FLOAT16, DIMS(1, 2, 2)), z = tensor(&n, T_FLOAT16, DIMS(2, 2)), w = tensor(&n, T_FLOAT16, DIMS(2, 64));
	operation(&n, BATCH_MATMUL, LIST(x, x, boolean(&n, false), boolean(&n, true)), LIST(y));
	operation(&n, RESHAPE, LIST(x), LIST(w));
	operation(&n, FULLY_CONNECTED, LIST(w, w, value(&n, tensor(&n, T_FLOAT16, DIMS(2)), (half[2]){0}, 4), i32(&n, 0)), LIST(z));
	identify(&n, LIST(x), LIST(y, z));
	ready(&n);
	for (int i = 0; i < 128; i++)
		in[i] = 1;
	CODE(OK, NeuronExecution_setOutput(n.e, 1, NULL, fc, 8));
	run_1(&n, in, 128, got, 4);
	for (int i = 0; i < 4; i++)
		WANT((float)got[i] != 64 && isfinite((float)got[i]) && (float)fc[i] == 64);
	free_net(&n);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void case_fault_slow(void)
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	double start = seconds();
	run_1(&n, in, 64, out, 64);
	WANT(seconds() - start >= 0.1 && (float)out[0] == 2);
	free_net(&n);
}

static void case_fault_end(void) // hang, crash: the process does not get past the second execution
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	run_1(&n, in, 64, out, 64);
	alarm(1);
	NeuronExecution_compute(n.e);
	fail(__LINE__, "the second execution returned");
}

static void case_report(void)
{
	struct net n = chain_net(8);
	half in[8192] = {0}, out[8192];
	char line[256] = "", want[256];
	ready(&n);
	run_1(&n, in, 8192, out, 8192);
	free_net(&n);
	snprintf(want, sizeof want, "{\"pid\":%d,\"mark\":%d,\"allocations\":6,\"operations\":4,\"executions\":1,\"held\":%d,\"held_allocations\":1}\n", getpid(), 2 * PAGE + 4 * 16384, PAGE);
	FILE *f = fopen(getenv("NEURONSIM_REPORT"), "r");
	WANT(f != NULL && fgets(line, sizeof line, f) != NULL);
	if (strcmp(line, want) != 0)
		fail(__LINE__, "the report is %s", line);
	fclose(f);
}

static void case_symbols(void) { WANT(missing == 0); }

// ---- speed, no case: the machine decides

static void time_product(const char *what, struct net *n, size_t n_in, size_t n_out, double flop, const half *second, size_t n_second)
{
	half *in = halves(n_in), *out = halves(n_out);
	ready(n);
	if (second != NULL)
		CODE(OK, NeuronExecution_setInput(n->e, 1, NULL, second, n_second * 2));
	run_1(n, in, n_in, out, n_out);
	double start = seconds();
	int runs = 0;
	do {
		CODE(OK, NeuronExecution_compute(n->e));
		runs++;
	} while (seconds() - start < 1);
	printf("%-40s %6.1f GFLOP/s\n", what, flop * runs / (seconds() - start) * 1e-9);
	free(in);
	free(out);
	free_net(n);
}

static void case_speed(void)
{
	enum { T = 1500, D = 512, H = 8 };
	struct net n = new_net();
	half *weights = halves(4 * D * D), *bias = halves(4 * D), *keys = halves(T * D);
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(T, D)), y = tensor(&n, T_FLOAT16, DIMS(T, 4 * D));
	uint32_t w = value(&n, tensor(&n, T_FLOAT16, DIMS(4 * D, D)), weights, 8 * D * D), b = value(&n, tensor(&n, T_FLOAT16, DIMS(4 * D)), bias, 8 * D);
	operation(&n, FULLY_CONNECTED, LIST(x, w, b, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	time_product("FULLY_CONNECTED [1500, 512] [2048, 512]", &n, T * D, T * 4 * D, 2.0 * T * D * 4 * D, NULL, 0);

	n = new_net();
	x = tensor(&n, T_FLOAT16, DIMS(1, H, T, D / H));
	y = tensor(&n, T_FLOAT16, DIMS(1, H, T, T));
	w = tensor(&n, T_FLOAT16, DIMS(1, H, T, D / H));
	operation(&n, BATCH_MATMUL, LIST(x, w, boolean(&n, false), boolean(&n, true)), LIST(y));
	identify(&n, LIST(x, w), LIST(y));
	time_product("BATCH_MATMUL 8 x [1500, 64] [1500, 64]T", &n, T * D, H * T * T, 2.0 * H * T * T * (D / H), keys, T * D);

	n = new_net();
	x = tensor(&n, T_FLOAT16, DIMS(1, 1, 2 * T + 2, D));
	y = tensor(&n, T_FLOAT16, DIMS(1, 1, T, D));
	w = value(&n, tensor(&n, T_FLOAT16, DIMS(D, 1, 3, D)), weights, 6 * D * D);
	b = value(&n, tensor(&n, T_FLOAT16, DIMS(D)), bias, 2 * D);
	operation(&n, CONV_2D, LIST(x, w, b, i32(&n, VALID), i32(&n, 2), i32(&n, 1), i32(&n, 0), boolean(&n, false), i32(&n, 1), i32(&n, 1)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	time_product("CONV_2D [3002, 512] [512, 3, 512] by 2", &n, (2 * T + 2) * D, T * D, 2.0 * T * D * 3 * D, NULL, 0);
	free(weights);
	free(bias);
	free(keys);
}

// ---- all cases

static const char *const small_board =
	"name = small\nversion = 7.0.0\ndevices = mtk-mdla\nbudget_mib = 1\nmax_allocs = 100\nmax_ops = 100\n"
	"operation = ADD TANH RESHAPE : float16 : 4\n";

static const struct {
	const char *name;
	void (*run)(void);
	const char *profile, *more; // more lines, for a file with small_board
	const char *fault, *says;
	int signal;
} cases[] = {
	{"symbols", case_symbols, "genio-700", .says = ""},
	{"binary", case_binary, "genio-700"},
	{"unary", case_unary, "genio-720"},
	{"gelu-tanh", case_gelu_tanh, "genio-720"},
	{"fully-connected", case_fully_connected, "genio-700"},
	{"conv-2d", case_conv, "genio-700"},
	{"batch-matmul", case_batch_matmul, "genio-720"},
	{"rows", case_rows, "genio-520"},
	{"move", case_move, "genio-1200"},
	{"concatenation", case_concatenation, "genio-510"},
	{"rounding", case_rounding, "genio-700"},
	{"all-halves", case_all_halves, "genio-700"},
	{"quantised", case_quantised, NULL, "operation = FULLY_CONNECTED : quant8 : 2\n"},
	{"states", case_states, "genio-700"},
	{"null", case_null, "genio-700"},
	{"bad-models", case_bad_models, "genio-700"},
	{"litert-order", case_litert_order, "genio-720"},
	{"genio-510", case_old_board, "genio-510"},
	{"genio-700", case_old_board, "genio-700"},
	{"genio-1200", case_old_board, "genio-1200"},
	{"genio-520", case_new_board, "genio-520"},
	{"genio-720", case_new_board, "genio-720"},
	{"genio-350", case_no_device, "genio-350"},
	{"default", case_old_board, ""},
	{"conv-limits", case_conv_limits, "genio-1200"},
	{"unknown-profile", case_bad_settings, "genio-9", .says = "NEURONSIM_PROFILE=genio-9 is none of"},
	{"no-profile-file", case_bad_settings, "/nowhere/x.conf", .says = "profile /nowhere/x.conf can't be opened"},
	{"bad-key", case_bad_settings, NULL, "speed = 3\n", .says = "line 8: \"speed = 3\" makes no sense"},
	{"bad-number", case_bad_settings, NULL, "max_ops = -3\n", .says = "line 8: \"max_ops = -3\" makes no sense"},
	{"bad-operation", case_bad_settings, NULL, "operation = ADD : float17 : 4\n", .says = "line 8: \"operation = ADD : float17 : 4\" makes no sense"},
	{"bad-fault", case_bad_settings, "genio-700", NULL, "execute:0", "fault \"execute:0\" is none of"},
	{"unknown-fault", case_bad_settings, "genio-700", NULL, "slow,melt", "fault \"melt\" is none of"},
	{"borrowed", case_borrowed, "genio-700"},
	{"accounting", case_accounting, "genio-700"},
	{"in-place", case_in_place, NULL, "in_place = yes\n"},
	{"shared-outputs", case_shared_outputs, "genio-700"},
	{"budget", case_budget, NULL, ""},
	{"allocations", case_allocations, NULL, "max_allocs = 4\n"},
	{"descriptors", case_descriptors, "genio-700"},
	{"operations", case_operations, NULL, "max_ops = 3\n"},
	{"fd-memory", case_fd_memory, "genio-700"},
	{"store", case_store, "genio-700"},
	{"store-for-others", case_store_for_others, "genio-700"},
	{"other-version", case_other_version, NULL, ""},
	{"runtime", case_runtime, "genio-1200"},
	{"fault-open", case_fault_open, "genio-720", NULL, "open"},
	{"fault-create", case_fault_create, "genio-720", NULL, "create"},
	{"fault-compile", case_fault_compile, "genio-720", NULL, "compile"},
	{"fault-of-profile", case_fault_compile, NULL, "fault = compile\n"},
	{"fault-execute", case_fault_execute, "genio-720", NULL, "execute:2,execute:4"},
	{"fault-nan", case_fault_nan, "genio-720", NULL, "nan:2"},
	{"fault-wrong", case_fault_wrong, "genio-720", NULL, "wrong"},
	{"fault-slow", case_fault_slow, "genio-720", NULL, "slow"},
	{"fault-hang", case_fault_end, "genio-720", NULL, "hang:2", .signal = SIGALRM},
	{"fault-crash", case_fault_end, "genio-720", NULL, "crash:2", .signal = SIGSEGV},
	{"report", case_report, "genio-700"},
	{"speed", case_speed, "genio-720"},
};

static void run_case(const char *library, size_t i)
{
	char path[64], text[1024];
	const char *profile = cases[i].profile;
	if (profile == NULL) {
		snprintf(text, sizeof text, "%s%s", small_board, cases[i].more);
		profile = write_file("profile.conf", text);
	}
	setenv("NEURONSIM_PROFILE", profile, 1);
	if (cases[i].fault != NULL)
		setenv("NEURONSIM_FAULT", cases[i].fault, 1);
	snprintf(path, sizeof path, "%s/network", folder);
	setenv("ABI_NETWORK", path, 1);
	setenv("ABI_SAYS", cases[i].says == NULL ? "" : cases[i].says, 1);
	if (cases[i].run == case_report) {
		snprintf(path, sizeof path, "%s/report", folder);
		setenv("NEURONSIM_REPORT", path, 1);
	}
	dup2(error_file, 2);
	open_library(library);
	cases[i].run();
	exit(bad > 0);
}

static bool passes(const char *library, size_t i)
{
	int status = 0;
	fflush(stdout);
	error_file = memfd_create("stderr", 0);
	pid_t child = fork();
	if (child == 0)
		run_case(library, i);
	waitpid(child, &status, 0);
	bool good = cases[i].signal != 0 ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal : WIFEXITED(status) && WEXITSTATUS(status) == 0;
	printf("%s %s\n", good ? "ok  " : "FAIL", cases[i].name);
	if (!good)
		printf("%s", errors());
	close(error_file);
	return good;
}

int main(int argc, char **argv)
{
	size_t failed = 0, run = 0;
	if (argc < 2 || argc > 3 || mkdtemp(folder) == NULL) {
		fprintf(stderr, "usage: abi LIBRARY [CASE]\n");
		return 2;
	}
	unsetenv("NEURONSIM_FAULT");
	unsetenv("NEURONSIM_REPORT");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (argc == 3 ? strcmp(argv[2], cases[i].name) != 0 : cases[i].run == case_speed)
			continue;
		run++;
		failed += !passes(argv[1], i);
	}
	static const char *const files[] = {"profile.conf", "network", "report"};
	for (size_t i = 0; i < 3; i++) {
		char path[64];
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
	printf("%zu of %zu cases passed\n", run - failed, run);
	return run == 0 || failed > 0;
}
