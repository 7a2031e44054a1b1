// speed.c: how fast products are, by processor time. No case: the machine decides.
#include "client.h"

static void time_product(const char *what, struct net *n, size_t n_in, size_t n_out, double flop, const half *second, size_t n_second)
{
	half *in = halves(n_in), *out = halves(n_out);
	ready(n);
	if (second != NULL)
		CODE(OK, NeuronExecution_setInput(n->e, 1, NULL, second, n_second * 2));
	run_1(n, in, n_in, out, n_out);
	double start = seconds(CLOCK_PROCESS_CPUTIME_ID), taken;
	int runs = 0;
	do {
		CODE(OK, NeuronExecution_compute(n->e));
		runs++;
		taken = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
	} while (taken < 1);
	printf("%-40s %6.1f GFLOP/s\n", what, flop * runs / taken * 1e-9);
	free(in);
	free(out);
	free_net(n);
}

void case_speed(void)
{
	enum { T = 1500, D = 512, H = 8 };
	struct net n = new_net();
	half *weights = halves(4 * D * D), *bias = halves(4 * D), *keys = halves(T * D);
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(T, D)), y = tensor(&n, T_FLOAT16, DIMS(T, 4 * D));
	uint32_t w = value(&n, tensor(&n, T_FLOAT16, DIMS(4 * D, D)), weights, 8 * D * D), b = value(&n, tensor(&n, T_FLOAT16, DIMS(4 * D)), bias, 8 * D);
	operation(&n, FULLY_CONNECTED, LIST(x, w, b, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	time_product("FULLY_CONNECTED [1500, 512] [2048, 512]", &n, T * D, T * 4 * D, 2.0 * T * D * 4 * D, NULL, 0);

	n = new_net();
	x = tensor(&n, T_FLOAT16, DIMS(1, H, T, D / H));
	y = tensor(&n, T_FLOAT16, DIMS(1, H, T, T));
	w = tensor(&n, T_FLOAT16, DIMS(1, H, T, D / H));
	operation(&n, BATCH_MATMUL, LIST(x, w, boolean(&n, false), boolean(&n, true)), LIST(y));
	identify(&n, LIST(x, w), LIST(y));
	time_product("BATCH_MATMUL 8 x [1500, 64] [1500, 64]T", &n, T * D, H * T * T, 2.0 * H * T * T * (D / H), keys, T * D);

	n = new_net();
	x = tensor(&n, T_FLOAT16, DIMS(1, 1, 2 * T + 2, D));
	y = tensor(&n, T_FLOAT16, DIMS(1, 1, T, D));
	w = value(&n, tensor(&n, T_FLOAT16, DIMS(D, 1, 3, D)), weights, 6 * D * D);
	b = value(&n, tensor(&n, T_FLOAT16, DIMS(D)), bias, 2 * D);
	operation(&n, CONV_2D, LIST(x, w, b, i32(&n, VALID), i32(&n, 2), i32(&n, 1), i32(&n, 0), boolean(&n, false), i32(&n, 1), i32(&n, 1)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	time_product("CONV_2D [3002, 512] [512, 3, 512] by 2", &n, (2 * T + 2) * D, T * D, 2.0 * T * D * 3 * D, NULL, 0);
	free(weights);
	free(bias);
	free(keys);
}
