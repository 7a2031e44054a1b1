// The Neuron Adapter: structs (section 3) and the signature of every function (section 4).

#ifndef EARSHOT_NEURON_ADAPTER_H
#define EARSHOT_NEURON_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct NeuronModel NeuronModel;
typedef struct NeuronCompilation NeuronCompilation;
typedef struct NeuronExecution NeuronExecution;
typedef struct NeuronDevice NeuronDevice;
typedef struct NeuronMemory NeuronMemory;
typedef struct NeuronEvent NeuronEvent;

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

// The layouts of section 3, which hold where pointers have 64 bits.
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)

_Static_assert(sizeof(NeuronOperandType) == 24, "NeuronOperandType");
AT(NeuronOperandType, type, 0);
AT(NeuronOperandType, dimensionCount, 4);
AT(NeuronOperandType, dimensions, 8);
AT(NeuronOperandType, scale, 16);
AT(NeuronOperandType, zeroPoint, 20);
_Static_assert(sizeof(NeuronSymmPerChannelQuantParams) == 16, "NeuronSymmPerChannelQuantParams");
AT(NeuronSymmPerChannelQuantParams, channelDim, 0);
AT(NeuronSymmPerChannelQuantParams, scaleCount, 4);
AT(NeuronSymmPerChannelQuantParams, scales, 8);
_Static_assert(sizeof(NeuronPerChannelQuantParams) == 32, "NeuronPerChannelQuantParams");
AT(NeuronPerChannelQuantParams, scales, 8);
AT(NeuronPerChannelQuantParams, zeroPointCount, 16);
AT(NeuronPerChannelQuantParams, zeroPoints, 24);
_Static_assert(sizeof(NeuronRuntimeVersion) == 3, "NeuronRuntimeVersion");
AT(NeuronRuntimeVersion, minor, 1);
AT(NeuronRuntimeVersion, patch, 2);

// What section 4 gives as NeuronFeatureType, NeuronOperationType and CompilationType
// are enums; CompilationType& of a C++ function is a pointer.

// F(name, parameters, arguments) for each function that returns a result code, and
// V(…) for each that returns nothing.
#define ADAPTER(F, V) \
	F(Neuron_getVersion, (NeuronRuntimeVersion *version), (version)) \
	F(Neuron_getFeatureSupportedStatus, (int32_t feature, bool *supported), (feature, supported)) \
	F(Neuron_getNeuroPilotMagicNumber, (int32_t *number), (number)) \
	F(Neuron_getL1MemorySizeKb, (uint32_t *kb), (kb)) \
	F(Neuron_getDeviceCount, (uint32_t *count), (count)) \
	F(Neuron_getDevice, (uint32_t i, NeuronDevice **device), (i, device)) \
	F(NeuronDevice_getName, (const NeuronDevice *device, const char **name), (device, name)) \
	F(NeuronDevice_getDescription, (const NeuronDevice *device, const char **text), (device, text)) \
	F(NeuronDevice_getExtensionSupport, (const char *extension, bool *supported), (extension, supported)) \
	F(NeuronDebug_setReportPath, (NeuronModel *m, const char *path), (m, path)) \
	F(NeuronModel_create, (NeuronModel **m), (m)) \
	V(NeuronModel_free, (NeuronModel *m), (m)) \
	F(NeuronModel_finish, (NeuronModel *m), (m)) \
	F(NeuronModel_setName, (NeuronModel *m, const char *name), (m, name)) \
	F(NeuronModel_addOperand, (NeuronModel *m, const NeuronOperandType *type), (m, type)) \
	F(NeuronModel_setOperandValue, (NeuronModel *m, int32_t i, const void *value, size_t size), (m, i, value, size)) \
	F(NeuronModel_setOperandValueFromModel, (NeuronModel *m, int32_t i, const NeuronModel *value), (m, i, value)) \
	F(NeuronModel_setOperandSymmPerChannelQuantParams, (NeuronModel *m, int32_t i, const NeuronSymmPerChannelQuantParams *q), (m, i, q)) \
	F(NeuronModel_setOperandPerChannelQuantParams, (NeuronModel *m, int32_t i, const NeuronPerChannelQuantParams *q), (m, i, q)) \
	F(NeuronModel_addOperation, (NeuronModel *m, int32_t type, uint32_t nIn, const uint32_t *in, uint32_t nOut, const uint32_t *out), (m, type, nIn, in, nOut, out)) \
	F(NeuronModel_addOperationExtension, (NeuronModel *m, const char *name, const char *vendor, const NeuronDevice *device, uint32_t nIn, const uint32_t *in, uint32_t nOut, const uint32_t *out), (m, name, vendor, device, nIn, in, nOut, out)) \
	F(NeuronModel_identifyInputsAndOutputs, (NeuronModel *m, uint32_t nIn, const uint32_t *in, uint32_t nOut, const uint32_t *out), (m, nIn, in, nOut, out)) \
	F(NeuronModel_getSupportedOperations, (NeuronModel *m, bool *supported, uint32_t count), (m, supported, count)) \
	F(NeuronModel_getSupportedOperationsForDevices, (const NeuronModel *m, const NeuronDevice *const *devices, uint32_t count, bool *supported), (m, devices, count, supported)) \
	F(NeuronModel_relaxComputationFloat32toFloat16, (NeuronModel *m, bool allow), (m, allow)) \
	F(NeuronModel_suppressInputConversion, (NeuronModel *m, bool suppress), (m, suppress)) \
	F(NeuronModel_suppressOutputConversion, (NeuronModel *m, bool suppress), (m, suppress)) \
	F(NeuronModel_restoreFromCompiledNetwork, (NeuronModel **m, NeuronCompilation **c, const void *stored, size_t size), (m, c, stored, size)) \
	F(NeuronModel_restoreFromCompiledNetworkV2, (NeuronModel **m, NeuronCompilation **c, const void *stored, size_t size, const int32_t *type), (m, c, stored, size, type)) \
	F(NeuronModel_getExtensionOperandType, (NeuronModel *m, const char *extension, uint16_t code, int32_t *type), (m, extension, code, type)) \
	F(NeuronModel_getExtensionOperationType, (NeuronModel *m, const char *extension, uint16_t code, int32_t *type), (m, extension, code, type)) \
	F(NeuronModel_setOperandExtensionData, (NeuronModel *m, int32_t i, const void *data, size_t size), (m, i, data, size)) \
	F(NeuronCompilation_create, (NeuronModel *m, NeuronCompilation **c), (m, c)) \
	F(NeuronCompilation_createWithOptions, (NeuronModel *m, NeuronCompilation **c, const char *options), (m, c, options)) \
	F(NeuronCompilation_createV2, (NeuronModel *m, int32_t type, const char *options, NeuronCompilation **c), (m, type, options, c)) \
	F(NeuronCompilation_createForDevices, (NeuronModel *m, const NeuronDevice *const *devices, uint32_t count, NeuronCompilation **c), (m, devices, count, c)) \
	F(NeuronCompilation_createForDebug, (NeuronModel *m, NeuronCompilation **c), (m, c)) \
	F(NeuronCompilation_createForMultiExecutions, (NeuronModel *m, NeuronCompilation **c), (m, c)) \
	F(NeuronCompilation_createForBatch, (NeuronModel *m, NeuronCompilation **c), (m, c)) \
	V(NeuronCompilation_free, (NeuronCompilation *c), (c)) \
	F(NeuronCompilation_finish, (NeuronCompilation *c), (c)) \
	F(NeuronCompilation_getSupportedOperations, (NeuronCompilation *c, uint32_t count, bool *supported), (c, count, supported)) \
	F(NeuronCompilation_setCaching, (NeuronCompilation *c, const char *dir, const uint8_t *token), (c, dir, token)) \
	F(NeuronCompilation_setPreference, (NeuronCompilation *c, int32_t preference), (c, preference)) \
	F(NeuronCompilation_setPriority, (NeuronCompilation *c, int32_t priority), (c, priority)) \
	F(NeuronCompilation_setOptimizationString, (NeuronCompilation *c, const char *options), (c, options)) \
	F(NeuronCompilation_setOptimizationHint, (NeuronCompilation *c, uint32_t hint), (c, hint)) \
	F(NeuronCompilation_setL1MemorySizeKb, (NeuronCompilation *c, uint32_t kb), (c, kb)) \
	F(NeuronCompilation_getOptimizationString, (NeuronCompilation *c, const char **options), (c, options)) \
	F(NeuronCompilation_setTrimIOAlignment, (NeuronCompilation *c, bool on), (c, on)) \
	F(NeuronCompilation_setSWDilatedConv, (NeuronCompilation *c, bool on), (c, on)) \
	F(NeuronCompilation_setOnlyAllowOptimizationString, (NeuronCompilation *c, bool on), (c, on)) \
	F(NeuronCompilation_getInputPaddedDimensions, (NeuronCompilation *c, int32_t i, uint32_t *dimensions), (c, i, dimensions)) \
	F(NeuronCompilation_getOutputPaddedDimensions, (NeuronCompilation *c, int32_t i, uint32_t *dimensions), (c, i, dimensions)) \
	F(NeuronCompilation_getInputPaddedSize, (NeuronCompilation *c, int32_t i, size_t *size), (c, i, size)) \
	F(NeuronCompilation_getOutputPaddedSize, (NeuronCompilation *c, int32_t i, size_t *size), (c, i, size)) \
	F(NeuronCompilation_getCompiledNetworkSize, (NeuronCompilation *c, size_t *size), (c, size)) \
	F(NeuronCompilation_storeCompiledNetwork, (NeuronCompilation *c, void *dst, size_t size), (c, dst, size)) \
	F(NeuronExecution_create, (NeuronCompilation *c, NeuronExecution **e), (c, e)) \
	V(NeuronExecution_free, (NeuronExecution *e), (e)) \
	F(NeuronExecution_compute, (NeuronExecution *e), (e)) \
	F(NeuronExecution_setBatchDone, (NeuronExecution *e), (e)) \
	F(NeuronExecution_setInput, (NeuronExecution *e, int32_t i, const NeuronOperandType *type, const void *src, size_t size), (e, i, type, src, size)) \
	F(NeuronExecution_setOutput, (NeuronExecution *e, int32_t i, const NeuronOperandType *type, void *dst, size_t size), (e, i, type, dst, size)) \
	F(NeuronExecution_setInputFromMemory, (NeuronExecution *e, uint32_t i, const NeuronOperandType *type, const NeuronMemory *memory, size_t offset, size_t size), (e, i, type, memory, offset, size)) \
	F(NeuronExecution_setOutputFromMemory, (NeuronExecution *e, uint32_t i, const NeuronOperandType *type, const NeuronMemory *memory, size_t offset, size_t size), (e, i, type, memory, offset, size)) \
	F(NeuronExecution_startComputeWithDependencies, (NeuronExecution *e, const NeuronEvent *const *events, uint32_t count, uint64_t duration, NeuronEvent **event), (e, events, count, duration, event)) \
	F(NeuronExecution_setLoopTimeout, (NeuronExecution *e, uint64_t duration), (e, duration)) \
	F(NeuronExecution_setBoostHint, (NeuronExecution *e, uint8_t percent), (e, percent)) \
	F(NeuronExecution_setCacheFlushHint, (NeuronExecution *e, uint8_t hint), (e, hint)) \
	F(NeuronExecution_setRunnerPoolSize, (NeuronExecution *e, uint8_t size), (e, size)) \
	F(NeuronExecution_setIODone, (NeuronExecution *e, int i), (e, i)) \
	F(NeuronExecution_getOutputOperandRank, (NeuronExecution *e, int32_t i, uint32_t *rank), (e, i, rank)) \
	F(NeuronExecution_getOutputOperandDimensions, (NeuronExecution *e, int32_t i, uint32_t *dimensions), (e, i, dimensions)) \
	F(NeuronMemory_createFromFd, (size_t size, int protect, int fd, size_t offset, NeuronMemory **memory), (size, protect, fd, offset, memory)) \
	F(NeuronMemory_createFromAHardwareBuffer, (const void *buffer, NeuronMemory **memory), (buffer, memory)) \
	V(NeuronMemory_free, (NeuronMemory *memory), (memory)) \
	F(NeuronEvent_getSyncFenceFd, (const NeuronEvent *event, int *fd), (event, fd)) \
	F(NeuronEvent_wait, (NeuronEvent *event), (event)) \
	V(NeuronEvent_free, (NeuronEvent *event), (event)) \
	F(NeuronEvent_createFromSyncFenceFd, (int fd, NeuronEvent **event), (fd, event))

#endif
