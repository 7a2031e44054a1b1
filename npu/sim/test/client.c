// client.c: finding the library, building models, checking.
#include "client.h"

#define DEFINE(result, name, parameters) result (*name) parameters;
SYMBOLS(DEFINE)

int missing;

void open_library(const char *path)
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

int bad;
int error_file;

__attribute__((format(printf, 2, 3))) void fail(int line, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	printf("  line %d: ", line);
	vprintf(format, ap);
	putchar('\n');
	va_end(ap);
	bad++;
}

// errors is what stderr holds by now.
const char *errors(void)
{
	static char all[1 << 16];
	ssize_t n = pread(error_file, all, sizeof all - 1, 0);
	all[n < 0 ? 0 : n] = 0;
	return all;
}

int open_descriptors(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

char folder[] = "/tmp/abi-XXXXXX";

const char *write_file(const char *name, const char *text)
{
	static char path[64];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	return path;
}

// ---- building models

struct net new_net(void)
{
	struct net n = {0};
	CODE(OK, NeuronModel_create(&n.m));
	if (n.m == NULL)
		exit(1);
	return n;
}

void free_net(struct net *n)
{
	NeuronExecution_free(n->e);
	NeuronCompilation_free(n->c);
	NeuronModel_free(n->m);
	*n = (struct net){0};
}

uint32_t tensor(struct net *n, int32_t type, uint32_t rank, const uint32_t *dims)
{
	CODE(OK, NeuronModel_addOperand(n->m, &(OperandType){type, rank, dims, 0, 0}));
	return n->n++;
}

uint32_t value(struct net *n, uint32_t operand, const void *v, size_t size)
{
	CODE(OK, NeuronModel_setOperandValue(n->m, (int32_t)operand, v, size));
	return operand;
}

uint32_t i32(struct net *n, int32_t v) { return value(n, tensor(n, INT32, 0, NULL), &v, 4); }
uint32_t u32(struct net *n, uint32_t v) { return value(n, tensor(n, UINT32, 0, NULL), &v, 4); }
uint32_t f32(struct net *n, float v) { return value(n, tensor(n, FLOAT32, 0, NULL), &v, 4); }
uint32_t boolean(struct net *n, bool v) { return value(n, tensor(n, BOOL, 0, NULL), &v, 1); }
uint32_t ints(struct net *n, uint32_t count, const int32_t *v) { return value(n, tensor(n, T_INT32, DIMS(count)), v, 4 * count); }

void operation(struct net *n, int32_t code, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out)
{
	CODE(OK, NeuronModel_addOperation(n->m, code, n_in, in, n_out, out));
}

void identify(struct net *n, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out)
{
	CODE(OK, NeuronModel_identifyInputsAndOutputs(n->m, n_in, in, n_out, out));
}

int compile(struct net *n)
{
	CODE(OK, NeuronModel_finish(n->m));
	CODE(OK, NeuronCompilation_create(n->m, &n->c));
	return NeuronCompilation_finish(n->c);
}

// ready compiles and makes the execution.
void ready(struct net *n)
{
	CODE(OK, compile(n));
	CODE(OK, NeuronExecution_create(n->c, &n->e));
	if (n->e == NULL)
		exit(1);
}

// name_operand adds the packed name of an extension operation.
uint32_t name_operand(struct net *n, const char *name)
{
	int32_t type = 0;
	uint8_t packed[128] = "\6string";
	uint32_t length = (uint32_t)strlen(name);
	CODE(OK, NeuronModel_getExtensionOperandType(n->m, "com.mediatek.general_operation", 0x0100, &type));
	memcpy(packed + 7, &length, 4);
	memcpy(packed + 11, name, length);
	return value(n, tensor(n, type, DIMS(22 + length)), packed, 22 + length);
}

int32_t extension(struct net *n)
{
	int32_t type = 0;
	CODE(OK, NeuronModel_getExtensionOperationType(n->m, "com.mediatek.general_operation", 0, &type));
	return type;
}

// ---- values

uint32_t seed = 1;

// noise is in [-1, 1), exact in float16.
float noise(void)
{
	seed = seed * 1664525 + 1013904223;
	return (float)(half)((float)(seed >> 8) / (1 << 23) - 1);
}

half *halves(size_t n)
{
	half *v = malloc(n * sizeof *v);
	for (size_t i = 0; i < n; i++)
		v[i] = (half)noise();
	return v;
}

void near(int line, const half *got, const double *want, size_t n, double tolerance)
{
	for (size_t i = 0; i < n; i++) {
		double g = (double)got[i], w = want[i];
		if (isnan(g) != isnan(w) || (isinf(w) && g != w) || (!isnan(w) && !isinf(w) && !(fabs(g - w) <= tolerance * (1 + fabs(w))))) {
			fail(line, "value %zu is %g, not %g", i, g, w);
			return;
		}
	}
}

// run_1 runs a net of one float16 input and output.
void run_1(struct net *n, const half *in, size_t n_in, half *out, size_t n_out)
{
	CODE(OK, NeuronExecution_setInput(n->e, 0, NULL, in, n_in * 2));
	CODE(OK, NeuronExecution_setOutput(n->e, 0, NULL, out, n_out * 2));
	CODE(OK, NeuronExecution_compute(n->e));
}

// ---- models of several cases

struct net add_net(void) // y = x + x of 64 values
{
	struct net n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(64)), y = tensor(&n, T_FLOAT16, DIMS(64));
	operation(&n, ADD, LIST(x, x, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	return n;
}

void *borrowed_net(struct net *n, size_t *bytes) // y = x + constant of 4096 halves
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

// chain_net is x → TANH → RESHAPE → TANH → TANH → y of [rows, 1024] halves, so that at
// most two of three intermediates are held.
struct net chain_net(uint32_t rows)
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

// ---- what the library holds

struct held held(void)
{
	struct held h;
	NeuronSim_getMemory(&h.now, &h.mark, &h.allocations, &h.allocations_mark);
	return h;
}

double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

