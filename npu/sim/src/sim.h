// sim.h: the parts of the simulator and what they know of each other.
#pragma once

#include "neuron.h"

enum {
	MAX_RANK = 8,
	COPIED = 128,    // bytes of a value that setOperandValue copies; longer ones are borrowed
	ALIGNMENT = 128, // of constants and of tensors in imported memory
	PAGE = 4096,
};

// ---- say.c: stderr

// say writes one line that begins with "neuronsim: ".
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

// ---- profile.c, faults.c: the board

// A class of tensor types that a profile's lines speak of.
enum type_class { FLOAT16, FLOAT32, INT32, BOOL8, QUANT8, QUANT16, OTHER_TYPE };

enum type_class class_of(int32_t type);

// One operation of the board: the types of its first input and of its output, and how
// many dimensions they may have.
struct admitted {
	char name[40];
	uint32_t types; // bits of type_class
	uint32_t max_rank;
};

struct profile {
	char name[40];
	NeuronRuntimeVersion version;
	char devices[8][24];
	uint32_t n_devices;
	uint32_t l1_kb;
	uint64_t budget_bytes;
	uint32_t max_allocs, max_ops;
	bool in_place;
	enum { WEIGHTS_CONSTANT, WEIGHTS_ALIGNED, WEIGHTS_FREE } computed_weights;
	uint32_t max_dim, max_batch, conv_in_channels, conv_filter; // 0: no limit
	uint32_t conv_strides;                                       // bits; 0: any
	struct admitted admitted[96];
	uint32_t n_admitted;
};

struct faults {
	bool open, create, compile, wrong, slow;
	struct at { // executions, counted from 1
		uint32_t n, when[16];
	} execute, nan, hang, crash;
};

extern struct profile profile;
extern struct faults faults;

// board reads profile and faults once and returns what every entry into the library
// returns first: 0, or the code of a library that can't be used, whose reason was said.
int board(void);

bool read_profile(const char *name);
bool parse_faults(const char *list);
bool is_due(const struct at *at, uint32_t execution);

// ---- tensor.c: values

struct tensor {
	int32_t type;
	uint32_t rank, dims[MAX_RANK];
	float scale;
	int32_t zero;
	uint32_t channel_dim, channels; // of quantisation per channel
	float *scales;                  // [channels], NULL without
	bool constant;                  // it has a value in the model
	bool relaxed;                   // float32 that is computed in float16
	void *data;
};

bool is_tensor(int32_t type);
size_t elements(const struct tensor *t);
size_t element_bytes(int32_t type); // 0: not known
size_t tensor_bytes(const struct tensor *t);

// load gives n values from the start-th on as float32, store takes them, rounded to
// what the tensor can hold: float16 beyond ±65504 is infinite.
void load(const struct tensor *t, size_t start, size_t n, float *to);
void store(const struct tensor *t, size_t start, size_t n, const float *from);

// ---- half.c: float16

void half_to_float(const uint16_t *from, float *to, size_t n);
void float_to_half(const float *from, uint16_t *to, size_t n);

// ---- memory.c: what the APU holds

struct allocation {
	int fd;
	void *data;
	size_t bytes; // mapped
};

// pool_charge takes bytes (of whole pages) and allocations from the budget, if they fit.
bool pool_charge(uint64_t bytes, uint32_t allocations);
void pool_return(uint64_t bytes, uint32_t allocations);
uint64_t pages(uint64_t bytes); // rounded up

// map_new makes an allocation that is real, with a descriptor, and not charged.
bool map_new(struct allocation *a, size_t bytes);
void unmap(struct allocation *a);
// allocate does both, free_allocation takes both back.
bool allocate(struct allocation *a, size_t bytes);
void free_allocation(struct allocation *a);
// refuse_allocation says what the vendor's library says.
void refuse_allocation(size_t bytes);

struct NeuronMemory {
	uint32_t users; // the client and the executions that were given it
	bool freed;
	struct allocation import; // data is NULL after NeuronMemory_free
	size_t size;
};
void release_memory(NeuronMemory *m);

void count_operations(uint32_t n);
uint32_t count_execution(void);
void report(void);

// ---- model.c

struct operand {
	struct tensor t;
	const void *borrowed; // a value above COPIED bytes, until compilation
	uint64_t hash;        // of what it was when it was set
	size_t size;          // of the value
	bool omitted;         // set to NULL
	_Alignas(8) uint8_t value[COPIED];
	enum { TEMPORARY, INPUT, OUTPUT } role;
};

struct operation {
	int32_t code;
	const struct kind *kind; // NULL: unknown to this library
	uint32_t n_in, n_out;
	uint32_t *in, *out;
};

struct NeuronModel {
	uint32_t users; // the client and the compilations
	char name[128];
	bool identified, finished, relaxed;
	uint32_t n_operands, n_operations, n_inputs, n_outputs;
	struct operand *operands;
	struct operation *operations;
	uint32_t *inputs, *outputs;
};

uint64_t hash_bytes(const void *data, size_t n);
void release_model(NeuronModel *m);
// set_type fills a tensor from what a client gave; false: it makes no sense.
bool set_type(struct tensor *t, const NeuronOperandType *type);

// ---- kinds.c, ops_*.c: operations

struct scratch {
	void *data;
	size_t bytes;
};
// scratch_take returns room for that many bytes, valid until the next call; NULL: none.
void *scratch_take(struct scratch *s, size_t bytes);

// A call is an operation with its tensors; data is bound where it is known: for
// parameters when it is checked, for all when it runs.
struct call {
	const struct kind *kind;
	uint32_t n_in, n_out;
	struct tensor **in, **out;
	struct scratch *scratch;
};

struct kind {
	int32_t code; // EXTENSION: found by name
	const char *name;
	// check returns NULL, or what is wrong with operands and shapes.
	const char *(*check)(const struct call *);
	// run computes; false: no memory.
	bool (*run)(const struct call *);
	uint32_t variant; // for functions that several kinds share
};

enum {
	EXTENSION = 0x20000,          // operation type of com.mediatek.general_operation
	EXTENSION_NAME = 0x10100,     // operand type of its names
};

const struct kind *kind_of(const NeuronModel *m, const struct operation *o);

// make_call binds an operation to tensors[operand]; in and out have room for its operands.
struct call make_call(const struct operation *o, struct tensor *tensors, size_t stride, struct tensor **in, struct tensor **out);

#define CHECK(name) const char *name(const struct call *)
#define RUN(name) bool name(const struct call *)
CHECK(check_binary); RUN(run_binary);
CHECK(check_unary); RUN(run_unary);
CHECK(check_gelu); RUN(run_gelu);
CHECK(check_convert);
CHECK(check_fully_connected); RUN(run_fully_connected);
CHECK(check_conv_2d); RUN(run_conv_2d);
CHECK(check_batch_matmul); RUN(run_batch_matmul);
CHECK(check_softmax); RUN(run_softmax);
CHECK(check_reduce); RUN(run_reduce);
CHECK(check_layer_normalization); RUN(run_layer_normalization);
CHECK(check_reshape); RUN(run_reshape);
CHECK(check_transpose); RUN(run_transpose);
CHECK(check_slice); RUN(run_slice);
CHECK(check_strided_slice); RUN(run_strided_slice);
CHECK(check_concatenation); RUN(run_concatenation);
CHECK(check_split); RUN(run_split);
CHECK(check_pad); RUN(run_pad);
#undef CHECK
#undef RUN

// Parameters of operations. int_parameter is false where there is none that is known.
bool int_parameter(const struct call *c, uint32_t i, int32_t *v);
bool float_parameter(const struct call *c, uint32_t i, float *v);
// ints returns the n values of an INT32 tensor, NULL where they are not known.
const int32_t *ints(const struct call *c, uint32_t i, uint32_t *n);
bool same_dims(const struct tensor *a, const struct tensor *b);
// activate applies a fused activation: 0 none, 1 ReLU, 2 ReLU1, 3 ReLU6.
void activate(int32_t activation, float *v, size_t n);

// ---- gemm.c

// C [m, n] = A [m, k] · B [k, n] in float32. row gives row i of A; either column gives
// column j of B, or line gives row l of B; put takes row i of C, which it may change.
struct gemm {
	size_t m, n, k;
	void (*row)(const void *of, size_t i, float *to);
	void (*column)(const void *of, size_t j, float *to);
	void (*line)(const void *of, size_t l, float *to);
	void (*put)(const void *of, size_t i, float *row);
	const void *of;
};
bool gemm(const struct gemm *g, struct scratch *s);

// ---- support.c

// refusal says of operation i of a finished model: NULL, or why this board does not
// compile it; *code is then the result code.
const char *refusal(NeuronModel *m, uint32_t i, int *code);

// ---- compile.c

struct NeuronCompilation {
	NeuronModel *model;
	uint32_t users; // the client and the executions
	bool finished;
	struct allocation constants, commands;
	size_t *offset; // of each operand's value in constants; NOT_THERE: among the commands
};
#define NOT_THERE SIZE_MAX

const void *value_of(const NeuronCompilation *c, uint32_t operand);
void release_compilation(NeuronCompilation *c);

// ---- plan.c: where intermediate tensors lie

enum { NO_SLOT = -1 }; // the memory is the client's, or the compilation's

struct plan {
	uint32_t *root; // [operands] the operand whose memory it shares: itself, mostly
	int32_t *slot;  // [operands] of a root
	size_t *slot_bytes;
	uint32_t n_slots;
	uint64_t peak_bytes;
	uint32_t peak_allocations;
};
bool make_plan(struct plan *p, const NeuronModel *m);
void free_plan(struct plan *p);
