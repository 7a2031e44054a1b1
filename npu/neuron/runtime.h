// The Neuron Runtime, version 1: structs, and the functions that a ready-made DLA file
// takes (section 7.1). QoSOptions is left out: its size depends on the version.

#ifndef EARSHOT_NEURON_RUNTIME_H
#define EARSHOT_NEURON_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

// From byte 8 on the old and the newer form disagree about what the bytes mean; both take
// zeros for their defaults.
typedef struct {
	uint32_t deviceKind;
	int32_t MDLACore;
	uint8_t zeros[4];
} EnvOptions;

typedef struct {
	int ionFd;
} BufferAttribute;

typedef struct {
	uint8_t major, minor, patch;
} NeuronVersion;

_Static_assert(sizeof(EnvOptions) == 12, "EnvOptions");
_Static_assert(offsetof(EnvOptions, MDLACore) == 4, "EnvOptions.MDLACore");
_Static_assert(offsetof(EnvOptions, zeros) == 8, "EnvOptions.zeros");
_Static_assert(sizeof(BufferAttribute) == 4, "BufferAttribute");
_Static_assert(sizeof(NeuronVersion) == 3, "NeuronVersion");

#define RUNTIME(F, V) \
	F(NeuronRuntime_create, (const EnvOptions *options, void **r), (options, r)) \
	F(NeuronRuntime_create_with_options, (const char *text, const EnvOptions *options, void **r), (text, options, r)) \
	F(NeuronRuntime_loadNetworkFromFile, (void *r, const char *path), (r, path)) \
	F(NeuronRuntime_loadNetworkFromBuffer, (void *r, const void *dla, size_t size), (r, dla, size)) \
	F(NeuronRuntime_setInput, (void *r, uint64_t i, const void *src, size_t size, BufferAttribute a), (r, i, src, size, a)) \
	F(NeuronRuntime_setOutput, (void *r, uint64_t i, void *dst, size_t size, BufferAttribute a), (r, i, dst, size, a)) \
	F(NeuronRuntime_getInputNumber, (void *r, size_t *n), (r, n)) \
	F(NeuronRuntime_getOutputNumber, (void *r, size_t *n), (r, n)) \
	F(NeuronRuntime_getInputSize, (void *r, uint64_t i, size_t *size), (r, i, size)) \
	F(NeuronRuntime_getOutputSize, (void *r, uint64_t i, size_t *size), (r, i, size)) \
	F(NeuronRuntime_inference, (void *r), (r)) \
	F(NeuronRuntime_getVersion, (NeuronVersion *version), (version)) \
	V(NeuronRuntime_release, (void *r), (r))

#endif
