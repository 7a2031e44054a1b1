// A library with the functions of the Neuron Adapter, and of the Runtime, that package
// neuron calls. It writes each call with its arguments as a line to the file RECORDER_LOG,
// and returns what RECORDER_FAIL, a list of NAME=CODE with commas, says, or 0. It computes
// nothing, but it holds and frees what it is asked to.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(const char *name)
{
	const char *list = getenv("RECORDER_FAIL");
	size_t n = strlen(name);
	for (const char *at = list; at && (at = strstr(at, name)) != NULL; at += n)
		if (at[n] == '=' && (at == list || at[-1] == ','))
			return atoi(at + n + 1);
	return 0;
}

static void say(const char *format, ...)
{
	const char *path = getenv("RECORDER_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	va_list args;
	va_start(args, format);
	vdprintf(fd, format, args);
	va_end(args);
	close(fd);
}

static const char *numbers(char *to, uint32_t n, const uint32_t *all)
{
	char *at = to;
	*at = 0;
	for (uint32_t i = 0; i < n; i++)
		at += sprintf(at, "%s%u", i ? " " : "", all[i]);
	return to;
}

// A function that has nothing to give back.
#define FN(name, parameters, ...) int name parameters { say(#name " " __VA_ARGS__); say("\n"); return fails(#name); }
// One that makes a handle.
#define MAKE(name, parameters, to) int name parameters { say(#name " \n"); int code = fails(#name); *to = code ? NULL : malloc(1); return code; }
#define FREE(name) void name(void *p) { say(#name " \n"); free(p); }
// One that has a value to tell.
#define TELL(name, parameters, to, value) int name parameters { say(#name " \n"); *to = value; return fails(#name); }

struct version { uint8_t n[3]; };
struct operand { int32_t type; uint32_t rank; const uint32_t *dimensions; float scale; int32_t zero; };
struct attribute { int fd; };

TELL(Neuron_getVersion, (struct version *v), v, ((struct version){{6, 3, 3}}))
TELL(Neuron_getNeuroPilotMagicNumber, (int32_t *n), n, 321)
TELL(Neuron_getL1MemorySizeKb, (uint32_t *n), n, 256)
TELL(Neuron_getDeviceCount, (uint32_t *n), n, 1)
TELL(Neuron_getDevice, (uint32_t i, void **d), d, (void *)"device")
TELL(NeuronDevice_getName, (void *d, const char **name), name, "mtk-mdla")

MAKE(NeuronModel_create, (void **m), m)
FREE(NeuronModel_free)
FN(NeuronModel_finish, (void *m), "")
FN(NeuronModel_setName, (void *m, const char *name), "%s", name)
FN(NeuronModel_identifyInputsAndOutputs, (void *m, uint32_t nIn, const uint32_t *in, uint32_t nOut, const uint32_t *out),
	"[%s] -> [%s]", numbers((char[999]){0}, nIn, in), numbers((char[999]){0}, nOut, out))
FN(NeuronModel_relaxComputationFloat32toFloat16, (void *m, bool on), "%d", on)
TELL(NeuronModel_getExtensionOperandType, (void *m, const char *x, uint16_t code, int32_t *type), type, code == 0x100 ? 777 : -1)
TELL(NeuronModel_getExtensionOperationType, (void *m, const char *x, uint16_t code, int32_t *type), type, code == 0 ? 888 : -1)

int NeuronModel_addOperand(void *m, const struct operand *o)
{
	say("NeuronModel_addOperand %d [%s] %g %d\n", o->type, numbers((char[99]){0}, o->rank, o->dimensions), o->scale, o->zero);
	return fails("NeuronModel_addOperand");
}

// The value is written down as a number, as text or by its size.
int NeuronModel_setOperandValue(void *m, int32_t i, const void *value, size_t size)
{
	char text[999] = "";
	if (size == 1)
		sprintf(text, "%u", *(const uint8_t *)value);
	else if (size % 4 == 0 && size <= 32)
		numbers(text, size / 4, value);
	else
		sprintf(text, "%.*s", (int)size < 11 ? 0 : *(const uint32_t *)((const char *)value + 7) < size ? (int)*(const uint32_t *)((const char *)value + 7) : 0,
			(const char *)value + 11);
	say("NeuronModel_setOperandValue %d %zu bytes: %s\n", i, size, text);
	return fails("NeuronModel_setOperandValue");
}

FN(NeuronModel_addOperation, (void *m, int32_t type, uint32_t nIn, const uint32_t *in, uint32_t nOut, const uint32_t *out),
	"%d [%s] -> [%s]", type, numbers((char[999]){0}, nIn, in), numbers((char[999]){0}, nOut, out))

int NeuronModel_getSupportedOperations(void *m, bool *supported, uint32_t count)
{
	say("NeuronModel_getSupportedOperations %u\n", count);
	for (uint32_t i = 0; i < count; i++)
		supported[i] = i % 2 == 0;
	return fails("NeuronModel_getSupportedOperations");
}

int NeuronCompilation_getSupportedOperations(void *c, uint32_t count, bool *supported)
{
	say("NeuronCompilation_getSupportedOperations %u\n", count);
	for (uint32_t i = 0; i < count; i++)
		supported[i] = i % 2 == 0;
	return fails("NeuronCompilation_getSupportedOperations");
}

int NeuronModel_restoreFromCompiledNetwork(void **m, void **c, const void *stored, size_t size)
{
	say("NeuronModel_restoreFromCompiledNetwork %zu\n", size);
	int code = fails("NeuronModel_restoreFromCompiledNetwork");
	*m = code ? NULL : malloc(1);
	*c = code ? NULL : malloc(1);
	return code;
}

MAKE(NeuronCompilation_create, (void *m, void **c), c)
FREE(NeuronCompilation_free)
FN(NeuronCompilation_finish, (void *c), "")
FN(NeuronCompilation_setPreference, (void *c, int32_t n), "%d", n)
FN(NeuronCompilation_setPriority, (void *c, int32_t n), "%d", n)
FN(NeuronCompilation_setOptimizationHint, (void *c, uint32_t n), "%u", n)
FN(NeuronCompilation_setOptimizationString, (void *c, const char *s), "%s", s)
FN(NeuronCompilation_setL1MemorySizeKb, (void *c, uint32_t n), "%u", n)
TELL(NeuronCompilation_getCompiledNetworkSize, (void *c, size_t *n), n, 7)

int NeuronCompilation_storeCompiledNetwork(void *c, void *to, size_t size)
{
	say("NeuronCompilation_storeCompiledNetwork %zu\n", size);
	memset(to, 's', size);
	return fails("NeuronCompilation_storeCompiledNetwork");
}

MAKE(NeuronExecution_create, (void *c, void **e), e)
FREE(NeuronExecution_free)
FN(NeuronExecution_compute, (void *e), "")
FN(NeuronExecution_setBoostHint, (void *e, uint8_t n), "%u", n)
FN(NeuronExecution_setInput, (void *e, int32_t i, void *t, const void *p, size_t n), "%d %zu", i, n)
FN(NeuronExecution_setOutput, (void *e, int32_t i, void *t, void *p, size_t n), "%d %zu", i, n)
FN(NeuronExecution_setInputFromMemory, (void *e, uint32_t i, void *t, void *m, size_t at, size_t n), "%u %zu+%zu", i, at, n)
FN(NeuronExecution_setOutputFromMemory, (void *e, uint32_t i, void *t, void *m, size_t at, size_t n), "%u %zu+%zu", i, at, n)
MAKE(NeuronMemory_createFromFd, (size_t n, int protect, int fd, size_t at, void **m), m)
FREE(NeuronMemory_free)

MAKE(NeuronRuntime_create, (const uint32_t *options, void **r), r)
MAKE(NeuronRuntime_create_with_options, (const char *text, const uint32_t *options, void **r), r)
FREE(NeuronRuntime_release)
FN(NeuronRuntime_loadNetworkFromFile, (void *r, const char *path), "%s", path)
FN(NeuronRuntime_loadNetworkFromBuffer, (void *r, const void *p, size_t n), "%zu", n)
TELL(NeuronRuntime_getInputNumber, (void *r, size_t *n), n, 2)
TELL(NeuronRuntime_getOutputNumber, (void *r, size_t *n), n, 1)
TELL(NeuronRuntime_getInputSize, (void *r, uint64_t i, size_t *n), n, 100 + i)
TELL(NeuronRuntime_getOutputSize, (void *r, uint64_t i, size_t *n), n, 200 + i)
FN(NeuronRuntime_setInput, (void *r, uint64_t i, const void *p, size_t n, struct attribute a), "%d %zu %d", (int)i, n, a.fd)
FN(NeuronRuntime_setOutput, (void *r, uint64_t i, void *p, size_t n, struct attribute a), "%d %zu %d", (int)i, n, a.fd)
FN(NeuronRuntime_inference, (void *r), "")
TELL(NeuronRuntime_getVersion, (struct version *v), v, ((struct version){{8, 2, 16}}))
