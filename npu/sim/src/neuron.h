// neuron.h: the C interface of MediaTek's Neuron Adapter and of its Runtime API V1, as
// far as this library has it. Written from public client code and observed calls
// (facts/npu.md sections 3 to 7, facts/neuron-observed.md); the vendor's header was not
// read. The functions return a result code unless they return void.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { // result codes of the Adapter
	NEURON_NO_ERROR = 0,
	NEURON_OUT_OF_MEMORY = 1,
	NEURON_UNEXPECTED_NULL = 3,
	NEURON_BAD_DATA = 4,
	NEURON_OP_FAILED = 5,
	NEURON_UNMAPPABLE = 6,
	NEURON_BAD_STATE = 7,
	NEURON_UNAVAILABLE_DEVICE = 10,
};

enum { // operand types
	NEURON_FLOAT32 = 0,
	NEURON_INT32 = 1,
	NEURON_UINT32 = 2,
	NEURON_TENSOR_FLOAT32 = 3,
	NEURON_TENSOR_INT32 = 4,
	NEURON_TENSOR_QUANT8_ASYMM = 5,
	NEURON_BOOL = 6,
	NEURON_TENSOR_QUANT16_SYMM = 7,
	NEURON_TENSOR_FLOAT16 = 8,
	NEURON_TENSOR_BOOL8 = 9,
	NEURON_FLOAT16 = 10,
	NEURON_TENSOR_QUANT8_SYMM_PER_CHANNEL = 11,
	NEURON_TENSOR_QUANT16_ASYMM = 12,
	NEURON_TENSOR_QUANT8_SYMM = 13,
	NEURON_TENSOR_QUANT8_ASYMM_SIGNED = 14,
	NEURON_EXT_FIRST = 9000, // MediaTek's further tensor types lie in this range
	NEURON_EXT_LAST = 9099,
	NEURON_EXT_TENSOR_INT32_SYMM_PER_CHANNEL = 9014,
};

enum { // operations that this library computes
	NEURON_ADD = 0,
	NEURON_CONCATENATION = 2,
	NEURON_CONV_2D = 3,
	NEURON_DEQUANTIZE = 6,
	NEURON_FULLY_CONNECTED = 9,
	NEURON_LOGISTIC = 14,
	NEURON_MUL = 18,
	NEURON_RELU = 19,
	NEURON_RESHAPE = 22,
	NEURON_SOFTMAX = 25,
	NEURON_TANH = 28,
	NEURON_DIV = 30,
	NEURON_MEAN = 31,
	NEURON_PAD = 32,
	NEURON_STRIDED_SLICE = 35,
	NEURON_SUB = 36,
	NEURON_TRANSPOSE = 37,
	NEURON_ABS = 38,
	NEURON_CAST = 45,
	NEURON_MAXIMUM = 65,
	NEURON_MINIMUM = 66,
	NEURON_PAD_V2 = 69,
	NEURON_QUANTIZE = 72,
	NEURON_REDUCE_MAX = 77,
	NEURON_REDUCE_SUM = 80,
	NEURON_RSQRT = 83,
	NEURON_SLICE = 86,
	NEURON_SPLIT = 87,
	NEURON_SQRT = 88,
	NEURON_HARD_SWISH = 99,
	NEURON_BATCH_MATMUL = 102,
	NEURON_GELU = 109,
};

enum { // result codes of the Runtime API: others from 5 on
	NEURONRUNTIME_NO_ERROR = 0,
	NEURONRUNTIME_OUT_OF_MEMORY = 1,
	NEURONRUNTIME_UNEXPECTED_NULL = 3,
	NEURONRUNTIME_BAD_DATA = 4,
	NEURONRUNTIME_BAD_STATE = 5,
	NEURONRUNTIME_RUNTIME_ERROR = 6,
};

typedef struct NeuronModel NeuronModel;
typedef struct NeuronCompilation NeuronCompilation;
typedef struct NeuronExecution NeuronExecution;
typedef struct NeuronMemory NeuronMemory;
typedef struct NeuronDevice NeuronDevice;
typedef struct AHardwareBuffer AHardwareBuffer;

typedef struct {
	int32_t type;
	uint32_t dimensionCount;
	const uint32_t *dimensions;
	float scale;
	int32_t zeroPoint;
} NeuronOperandType;

typedef struct {
	uint32_t channelDim;
	uint32_t scaleCount;
	const float *scales;
} NeuronSymmPerChannelQuantParams;

typedef struct {
	uint32_t channelDim;
	uint32_t scaleCount;
	const float *scales;
	uint32_t zeroPointCount;
	const int32_t *zeroPoints;
} NeuronPerChannelQuantParams;

typedef struct {
	uint8_t major, minor, patch;
} NeuronRuntimeVersion;

// Read only as far as both known forms agree, which is the first eight bytes.
typedef struct {
	uint32_t deviceKind;
	int32_t MDLACoreOption;
	uint8_t rest[4];
} EnvOptions;

typedef struct {
	int ionFd; // -1: plain memory
} BufferAttribute;

_Static_assert(sizeof(void *) == 8, "the layouts are those of LP64");
_Static_assert(sizeof(NeuronOperandType) == 24, "NeuronOperandType");
_Static_assert(offsetof(NeuronOperandType, dimensionCount) == 4, "NeuronOperandType");
_Static_assert(offsetof(NeuronOperandType, dimensions) == 8, "NeuronOperandType");
_Static_assert(offsetof(NeuronOperandType, scale) == 16, "NeuronOperandType");
_Static_assert(offsetof(NeuronOperandType, zeroPoint) == 20, "NeuronOperandType");
_Static_assert(sizeof(NeuronSymmPerChannelQuantParams) == 16, "NeuronSymmPerChannelQuantParams");
_Static_assert(offsetof(NeuronSymmPerChannelQuantParams, scaleCount) == 4, "NeuronSymmPerChannelQuantParams");
_Static_assert(offsetof(NeuronSymmPerChannelQuantParams, scales) == 8, "NeuronSymmPerChannelQuantParams");
_Static_assert(sizeof(NeuronPerChannelQuantParams) == 32, "NeuronPerChannelQuantParams");
_Static_assert(offsetof(NeuronPerChannelQuantParams, zeroPointCount) == 16, "NeuronPerChannelQuantParams");
_Static_assert(offsetof(NeuronPerChannelQuantParams, zeroPoints) == 24, "NeuronPerChannelQuantParams");
_Static_assert(sizeof(NeuronRuntimeVersion) == 3, "NeuronRuntimeVersion");
_Static_assert(sizeof(EnvOptions) == 12, "EnvOptions");
_Static_assert(sizeof(BufferAttribute) == 4, "BufferAttribute");

#pragma GCC visibility push(default)

int Neuron_getVersion(NeuronRuntimeVersion *);
int Neuron_getL1MemorySizeKb(uint32_t *);
int Neuron_getDeviceCount(uint32_t *);
int Neuron_getDevice(uint32_t index, NeuronDevice **);
int NeuronDevice_getName(const NeuronDevice *, const char **);
int NeuronDevice_getDescription(const NeuronDevice *, const char **);

int NeuronModel_create(NeuronModel **);
void NeuronModel_free(NeuronModel *);
int NeuronModel_setName(NeuronModel *, const char *);
int NeuronModel_addOperand(NeuronModel *, const NeuronOperandType *);
int NeuronModel_setOperandValue(NeuronModel *, int32_t index, const void *, size_t);
int NeuronModel_setOperandSymmPerChannelQuantParams(NeuronModel *, int32_t, const NeuronSymmPerChannelQuantParams *);
int NeuronModel_setOperandPerChannelQuantParams(NeuronModel *, int32_t, const NeuronPerChannelQuantParams *);
int NeuronModel_addOperation(NeuronModel *, int32_t code, uint32_t nIn, const uint32_t *in, uint32_t nOut, const uint32_t *out);
int NeuronModel_identifyInputsAndOutputs(NeuronModel *, uint32_t, const uint32_t *, uint32_t, const uint32_t *);
int NeuronModel_relaxComputationFloat32toFloat16(NeuronModel *, bool);
int NeuronModel_finish(NeuronModel *);
int NeuronModel_getSupportedOperations(NeuronModel *, bool *, uint32_t count);
int NeuronModel_getSupportedOperationsForDevices(const NeuronModel *, const NeuronDevice *const *, uint32_t, bool *);
int NeuronModel_getExtensionOperandType(NeuronModel *, const char *extension, uint16_t code, int32_t *);
int NeuronModel_getExtensionOperationType(NeuronModel *, const char *extension, uint16_t code, int32_t *);
int NeuronModel_restoreFromCompiledNetwork(NeuronModel **, NeuronCompilation **, const void *, size_t);

int NeuronCompilation_create(NeuronModel *, NeuronCompilation **);
int NeuronCompilation_createWithOptions(NeuronModel *, NeuronCompilation **, const char *options);
int NeuronCompilation_createForDevices(NeuronModel *, const NeuronDevice *const *, uint32_t, NeuronCompilation **);
void NeuronCompilation_free(NeuronCompilation *);
int NeuronCompilation_setCaching(NeuronCompilation *, const char *dir, const uint8_t *token);
int NeuronCompilation_setPreference(NeuronCompilation *, int32_t);
int NeuronCompilation_setPriority(NeuronCompilation *, int32_t);
int NeuronCompilation_setOptimizationHint(NeuronCompilation *, uint32_t);
int NeuronCompilation_setOptimizationString(NeuronCompilation *, const char *);
int NeuronCompilation_setL1MemorySizeKb(NeuronCompilation *, uint32_t);
int NeuronCompilation_getSupportedOperations(NeuronCompilation *, uint32_t count, bool *);
int NeuronCompilation_finish(NeuronCompilation *);
int NeuronCompilation_getInputPaddedSize(NeuronCompilation *, int32_t, size_t *);
int NeuronCompilation_getOutputPaddedSize(NeuronCompilation *, int32_t, size_t *);
int NeuronCompilation_getInputPaddedDimensions(NeuronCompilation *, int32_t, uint32_t *);
int NeuronCompilation_getOutputPaddedDimensions(NeuronCompilation *, int32_t, uint32_t *);
int NeuronCompilation_getCompiledNetworkSize(NeuronCompilation *, size_t *);
int NeuronCompilation_storeCompiledNetwork(NeuronCompilation *, void *, size_t);

int NeuronExecution_create(NeuronCompilation *, NeuronExecution **);
void NeuronExecution_free(NeuronExecution *);
int NeuronExecution_setInput(NeuronExecution *, int32_t, const NeuronOperandType *, const void *, size_t);
int NeuronExecution_setOutput(NeuronExecution *, int32_t, const NeuronOperandType *, void *, size_t);
int NeuronExecution_setInputFromMemory(NeuronExecution *, uint32_t, const NeuronOperandType *, const NeuronMemory *, size_t offset, size_t length);
int NeuronExecution_setOutputFromMemory(NeuronExecution *, uint32_t, const NeuronOperandType *, const NeuronMemory *, size_t offset, size_t length);
int NeuronExecution_setBoostHint(NeuronExecution *, uint8_t);
int NeuronExecution_setLoopTimeout(NeuronExecution *, uint64_t);
int NeuronExecution_setCacheFlushHint(NeuronExecution *, uint8_t);
int NeuronExecution_getOutputOperandRank(NeuronExecution *, int32_t, uint32_t *);
int NeuronExecution_getOutputOperandDimensions(NeuronExecution *, int32_t, uint32_t *);
int NeuronExecution_compute(NeuronExecution *);

int NeuronMemory_createFromFd(size_t size, int protect, int fd, size_t offset, NeuronMemory **);
int NeuronMemory_createFromAHardwareBuffer(const AHardwareBuffer *, NeuronMemory **);
void NeuronMemory_free(NeuronMemory *);

int NeuronRuntime_create(const EnvOptions *, void **);
int NeuronRuntime_create_with_options(const char *options, const EnvOptions *, void **);
int NeuronRuntime_loadNetworkFromFile(void *, const char *path);
int NeuronRuntime_loadNetworkFromBuffer(void *, const void *, size_t);
int NeuronRuntime_getInputNumber(void *, size_t *);
int NeuronRuntime_getOutputNumber(void *, size_t *);
int NeuronRuntime_getInputSize(void *, uint64_t, size_t *);
int NeuronRuntime_getOutputSize(void *, uint64_t, size_t *);
int NeuronRuntime_setInput(void *, uint64_t, const void *, size_t, BufferAttribute);
int NeuronRuntime_setOutput(void *, uint64_t, void *, size_t, BufferAttribute);
int NeuronRuntime_inference(void *);
int NeuronRuntime_getVersion(NeuronRuntimeVersion *);
void NeuronRuntime_release(void *);

// Not the vendor's: what the simulated APU holds now and held at most, in bytes of whole
// pages and in allocations. Any pointer may be NULL.
void NeuronSim_getMemory(uint64_t *now, uint64_t *mark, uint32_t *allocations_now, uint32_t *allocations_mark);

#pragma GCC visibility pop
