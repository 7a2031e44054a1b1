// boards.c: what each profile says of itself and takes, and settings that make no sense.
#include "client.h"

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

void case_old_board(void) { check_board("mtk-mdla", (Version){6, 3, 3}, 0, false); }
void case_new_board(void) { check_board("mtk-mdla", (Version){8, 2, 16}, 256, true); }

void case_no_device(void)
{
	uint32_t n = 1;
	void *m = &n;
	CODE(OK, Neuron_getDeviceCount(&n));
	WANT(n == 0);
	CODE(UNAVAILABLE_DEVICE, NeuronModel_create(&m));
	WANT(m == NULL);
	SAID("genio-350 has no device");
}

void case_conv_limits(void)
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

void case_bad_settings(void)
{
	Version v;
	void *m = NULL;
	CODE(BAD_STATE, NeuronModel_create(&m));
	WANT(Neuron_getVersion(&v) != OK);
	SAID(getenv("ABI_SAYS"));
}
