// client.h: the Neuron Adapter as a client sees it, and what the cases share. Written from
// facts/npu.md and facts/neuron-observed.md alone; no declaration comes from the library.
#pragma once

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

#define DECLARE(result, name, parameters) extern result (*name) parameters;
SYMBOLS(DECLARE)
#undef DECLARE

// ---- client.c

extern int missing;    // symbols
extern int bad;        // checks that failed
extern int error_file; // stderr of this process
extern char folder[];  // for files of the cases
extern uint32_t seed;  // of noise

typedef _Float16 half;

struct net {
	void *m, *c, *e;
	uint32_t n;
};

struct held {
	uint64_t now, mark;
	uint32_t allocations, allocations_mark;
};

enum { PAGE = 4096, MIB = 1 << 20 };

#define DIMS(...) (sizeof((uint32_t[]){__VA_ARGS__}) / 4), (const uint32_t[]){__VA_ARGS__}
#define LIST(...) (sizeof((uint32_t[]){__VA_ARGS__}) / 4), (const uint32_t[]){__VA_ARGS__}
#define INTS(n, ...) ints(n, sizeof((int32_t[]){__VA_ARGS__}) / 4, (const int32_t[]){__VA_ARGS__})

#define HALF_STEP 1e-3 // a rounding to float16, and a little

#define WANT(condition) do { if (!(condition)) fail(__LINE__, "not so: %s", #condition); } while (0)
#define CODE(want, call) do { int code_ = (call); if (code_ != (want)) fail(__LINE__, "%s gives %d, not %d", #call, code_, want); } while (0)
#define SAID(text) do { if (strstr(errors(), text) == NULL) fail(__LINE__, "stderr lacks: %s", text); } while (0)

void open_library(const char *path);
__attribute__((format(printf, 2, 3))) void fail(int line, const char *format, ...);
const char *errors(void);
int open_descriptors(void);
const char *write_file(const char *name, const char *text);
struct net new_net(void);
void free_net(struct net *n);
uint32_t tensor(struct net *n, int32_t type, uint32_t rank, const uint32_t *dims);
uint32_t value(struct net *n, uint32_t operand, const void *v, size_t size);
uint32_t i32(struct net *n, int32_t v);
uint32_t u32(struct net *n, uint32_t v);
uint32_t f32(struct net *n, float v);
uint32_t boolean(struct net *n, bool v);
uint32_t ints(struct net *n, uint32_t count, const int32_t *v);
void operation(struct net *n, int32_t code, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out);
void identify(struct net *n, uint32_t n_in, const uint32_t *in, uint32_t n_out, const uint32_t *out);
int compile(struct net *n);
void ready(struct net *n);
uint32_t name_operand(struct net *n, const char *name);
int32_t extension(struct net *n);
float noise(void);
half *halves(size_t n);
void near(int line, const half *got, const double *want, size_t n, double tolerance);
void run_1(struct net *n, const half *in, size_t n_in, half *out, size_t n_out);
struct net add_net(void);
void *borrowed_net(struct net *n, size_t *bytes);
struct net chain_net(uint32_t rows);
struct held held(void);
double seconds(clockid_t clock);

// ---- cases, by file

// operations.c
void case_binary(void);
void case_unary(void);
void case_gelu_tanh(void);
void case_fully_connected(void);
void case_conv(void);
void case_batch_matmul(void);
void case_rows(void);
void case_move(void);
void case_concatenation(void);
void case_rounding(void);
void case_all_halves(void);
void case_quantised(void);
// states.c
void case_symbols(void);
void case_states(void);
void case_null(void);
void case_bad_models(void);
void case_litert_order(void);
// boards.c
void case_old_board(void);
void case_new_board(void);
void case_no_device(void);
void case_conv_limits(void);
void case_bad_settings(void);
// memory.c
void case_borrowed(void);
void case_accounting(void);
void case_in_place(void);
void case_shared_outputs(void);
void case_random_graphs(void);
void case_budget(void);
void case_allocations(void);
void case_descriptors(void);
void case_operations(void);
void case_fd_memory(void);
// stored.c
void case_store(void);
void case_store_for_others(void);
void case_other_version(void);
void case_runtime(void);
// faults.c
void case_fault_open(void);
void case_fault_create(void);
void case_fault_compile(void);
void case_fault_execute(void);
void case_fault_nan(void);
void case_fault_wrong(void);
void case_fault_slow(void);
void case_fault_end(void);
void case_report(void);
// speed.c
void case_speed(void);
