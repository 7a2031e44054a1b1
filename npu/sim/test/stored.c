// stored.c: compiled networks as bytes, and the Runtime API that runs them.
#include "client.h"

static void *stored(struct net *n, size_t *size)
{
	CODE(OK, NeuronCompilation_getCompiledNetworkSize(n->c, size));
	void *network = malloc(*size);
	CODE(BAD_DATA, NeuronCompilation_storeCompiledNetwork(n->c, network, *size - 1));
	CODE(OK, NeuronCompilation_storeCompiledNetwork(n->c, network, *size));
	return network;
}

void case_store(void)
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
	free_net(&r);
	char *odd = malloc(size + 1); // at an odd address
	memcpy(odd + 1, network, size);
	CODE(OK, NeuronModel_restoreFromCompiledNetwork(&r.m, &r.c, odd + 1, size));
	free(odd);
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

void case_store_for_others(void) { write_network(getenv("ABI_NETWORK")); }

static void *read_network(size_t *size)
{
	FILE *f = fopen(getenv("ABI_NETWORK"), "r");
	void *network = malloc(1 << 20);
	*size = fread(network, 1, 1 << 20, f);
	fclose(f);
	return network;
}

void case_other_version(void)
{
	struct net r = {0};
	size_t size;
	void *network = read_network(&size);
	WANT(size > 0);
	CODE(BAD_DATA, NeuronModel_restoreFromCompiledNetwork(&r.m, &r.c, network, size));
	SAID("another major version");
	free(network);
}

void case_runtime(void)
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
