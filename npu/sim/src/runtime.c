// runtime.c: the Runtime API V1, which runs a network compiled before. What it takes for a
// DLA file is a network that NeuronCompilation_storeCompiledNetwork wrote.
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>

struct runtime {
	NeuronModel *model;
	NeuronCompilation *compilation;
	NeuronExecution *execution;
};

// translate gives the Runtime's name for a code of the Adapter.
static int translate(int code)
{
	switch (code) {
	case NEURON_NO_ERROR:
		return NEURONRUNTIME_NO_ERROR;
	case NEURON_OUT_OF_MEMORY:
		return NEURONRUNTIME_OUT_OF_MEMORY;
	case NEURON_UNEXPECTED_NULL:
		return NEURONRUNTIME_UNEXPECTED_NULL;
	case NEURON_BAD_DATA:
		return NEURONRUNTIME_BAD_DATA;
	case NEURON_BAD_STATE:
		return NEURONRUNTIME_BAD_STATE;
	}
	return NEURONRUNTIME_RUNTIME_ERROR;
}

int NeuronRuntime_create(const EnvOptions *options, void **runtime) { return NeuronRuntime_create_with_options("", options, runtime); }

int NeuronRuntime_create_with_options(const char *options, const EnvOptions *env, void **runtime)
{
	if (options == NULL || env == NULL || runtime == NULL)
		return NEURONRUNTIME_UNEXPECTED_NULL;
	*runtime = NULL;
	int code = board();
	if (code != NEURON_NO_ERROR || profile.n_devices == 0)
		return NEURONRUNTIME_RUNTIME_ERROR;
	*runtime = calloc(1, sizeof(struct runtime));
	return *runtime == NULL ? NEURONRUNTIME_OUT_OF_MEMORY : NEURONRUNTIME_NO_ERROR;
}

int NeuronRuntime_loadNetworkFromBuffer(void *runtime, const void *network, size_t size)
{
	struct runtime *r = runtime;
	if (r == NULL || network == NULL)
		return NEURONRUNTIME_UNEXPECTED_NULL;
	if (r->model != NULL)
		return NEURONRUNTIME_BAD_STATE;
	int code = NeuronModel_restoreFromCompiledNetwork(&r->model, &r->compilation, network, size);
	if (code != NEURON_NO_ERROR)
		return translate(code);
	code = NeuronExecution_create(r->compilation, &r->execution);
	if (code != NEURON_NO_ERROR) {
		NeuronCompilation_free(r->compilation);
		NeuronModel_free(r->model);
		*r = (struct runtime){0};
	}
	return translate(code);
}

// read_file returns the bytes of a file to free; NULL: they can't be had.
static void *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return NULL;
	char *data = NULL;
	long end = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
	if (end > 0 && fseek(f, 0, SEEK_SET) == 0 && (data = malloc((size_t)end)) != NULL) {
		*size = (size_t)end;
		if (fread(data, 1, *size, f) != *size) {
			free(data);
			data = NULL;
		}
	}
	fclose(f);
	return data;
}

int NeuronRuntime_loadNetworkFromFile(void *runtime, const char *path)
{
	size_t size = 0;
	if (runtime == NULL || path == NULL)
		return NEURONRUNTIME_UNEXPECTED_NULL;
	void *data = read_file(path, &size);
	if (data == NULL) {
		say("network %s can't be read", path);
		return NEURONRUNTIME_BAD_DATA;
	}
	int code = NeuronRuntime_loadNetworkFromBuffer(runtime, data, size);
	free(data);
	return code;
}

static int count(const struct runtime *r, bool output, size_t *n)
{
	if (r == NULL || n == NULL)
		return NEURONRUNTIME_UNEXPECTED_NULL;
	if (r->model == NULL)
		return NEURONRUNTIME_BAD_STATE;
	*n = output ? r->model->n_outputs : r->model->n_inputs;
	return NEURONRUNTIME_NO_ERROR;
}

int NeuronRuntime_getInputNumber(void *r, size_t *n) { return count(r, false, n); }
int NeuronRuntime_getOutputNumber(void *r, size_t *n) { return count(r, true, n); }

static int size_of(const struct runtime *r, bool output, uint64_t handle, size_t *size)
{
	size_t n;
	int code = size == NULL ? NEURONRUNTIME_UNEXPECTED_NULL : count(r, output, &n);
	if (code != NEURONRUNTIME_NO_ERROR)
		return code;
	if (handle >= n)
		return NEURONRUNTIME_BAD_DATA;
	*size = tensor_bytes(&r->model->operands[(output ? r->model->outputs : r->model->inputs)[handle]].t);
	return NEURONRUNTIME_NO_ERROR;
}

int NeuronRuntime_getInputSize(void *r, uint64_t handle, size_t *size) { return size_of(r, false, handle, size); }
int NeuronRuntime_getOutputSize(void *r, uint64_t handle, size_t *size) { return size_of(r, true, handle, size); }

// The descriptor in the attribute is left alone: the buffer is the same memory.
int NeuronRuntime_setInput(void *runtime, uint64_t handle, const void *buffer, size_t length, BufferAttribute attribute)
{
	size_t size;
	int code = size_of(runtime, false, handle, &size);
	return code != NEURONRUNTIME_NO_ERROR ? code : translate(NeuronExecution_setInput(((struct runtime *)runtime)->execution, (int32_t)handle, NULL, buffer, length));
}

int NeuronRuntime_setOutput(void *runtime, uint64_t handle, void *buffer, size_t length, BufferAttribute attribute)
{
	size_t size;
	int code = size_of(runtime, true, handle, &size);
	return code != NEURONRUNTIME_NO_ERROR ? code : translate(NeuronExecution_setOutput(((struct runtime *)runtime)->execution, (int32_t)handle, NULL, buffer, length));
}

int NeuronRuntime_inference(void *runtime)
{
	const struct runtime *r = runtime;
	if (r == NULL)
		return NEURONRUNTIME_UNEXPECTED_NULL;
	return r->execution == NULL ? NEURONRUNTIME_BAD_STATE : translate(NeuronExecution_compute(r->execution));
}

int NeuronRuntime_getVersion(NeuronRuntimeVersion *version) { return translate(Neuron_getVersion(version)); }

void NeuronRuntime_release(void *runtime)
{
	struct runtime *r = runtime;
	if (r == NULL)
		return;
	NeuronExecution_free(r->execution);
	NeuronCompilation_free(r->compilation);
	NeuronModel_free(r->model);
	free(r);
}
