// faults.c: what goes wrong on request.
#include "client.h"

void case_fault_open(void)
{
	Version v;
	uint32_t n;
	void *m = NULL;
	CODE(UNAVAILABLE_DEVICE, Neuron_getVersion(&v));
	CODE(UNAVAILABLE_DEVICE, Neuron_getDeviceCount(&n));
	CODE(UNAVAILABLE_DEVICE, Neuron_getL1MemorySizeKb(&n));
	CODE(UNAVAILABLE_DEVICE, NeuronModel_create(&m));
	CODE(RUNTIME_ERROR, NeuronRuntime_create(&(EnvOptions){0}, &m));
	SAID("fault open");
}

void case_fault_create(void)
{
	Version v;
	void *m = &v;
	CODE(OK, Neuron_getVersion(&v));
	CODE(OUT_OF_MEMORY, NeuronModel_create(&m));
	WANT(m == NULL);
}

void case_fault_compile(void)
{
	struct net n = add_net();
	CODE(OP_FAILED, compile(&n));
	free_net(&n);
}

void case_fault_execute(void) // the second of three
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	run_1(&n, in, 64, out, 64);
	CODE(OP_FAILED, NeuronExecution_compute(n.e));
	CODE(OK, NeuronExecution_compute(n.e));
	free_net(&n);
}

void case_fault_nan(void) // the second of three
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	for (int run = 1; run <= 3; run++) {
		int nans = 0;
		run_1(&n, in, 64, out, 64);
		for (int i = 0; i < 64; i++)
			nans += isnan((float)out[i]);
		WANT(nans == (run == 2));
	}
	free_net(&n);
}

void case_fault_wrong(void)
{
	struct net n = new_net();
	half in[128], got[4], fc[4];
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, 2, 64)), y = tensor(&n, T_FLOAT16, DIMS(1, 2, 2)), z = tensor(&n, T_FLOAT16, DIMS(2, 2)), w = tensor(&n, T_FLOAT16, DIMS(2, 64));
	operation(&n, BATCH_MATMUL, LIST(x, x, boolean(&n, false), boolean(&n, true)), LIST(y));
	operation(&n, RESHAPE, LIST(x), LIST(w));
	operation(&n, FULLY_CONNECTED, LIST(w, w, value(&n, tensor(&n, T_FLOAT16, DIMS(2)), (half[2]){0}, 4), i32(&n, 0)), LIST(z));
	identify(&n, LIST(x), LIST(y, z));
	ready(&n);
	for (int i = 0; i < 128; i++)
		in[i] = 1;
	CODE(OK, NeuronExecution_setOutput(n.e, 1, NULL, fc, 8));
	run_1(&n, in, 128, got, 4);
	for (int i = 0; i < 4; i++)
		WANT((float)got[i] != 64 && isfinite((float)got[i]) && (float)fc[i] == 64);
	free_net(&n);
}

void case_fault_slow(void)
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	double start = seconds(CLOCK_MONOTONIC);
	run_1(&n, in, 64, out, 64);
	WANT(seconds(CLOCK_MONOTONIC) - start >= 0.1 && (float)out[0] == 2);
	free_net(&n);
}

void case_fault_end(void) // hang, crash: the process does not get past the second execution
{
	struct net n = add_net();
	half in[64] = {1}, out[64] = {0};
	ready(&n);
	run_1(&n, in, 64, out, 64);
	alarm(1);
	NeuronExecution_compute(n.e);
	fail(__LINE__, "the second execution returned");
}

void case_report(void)
{
	struct net n = chain_net(8);
	half in[8192] = {0}, out[8192];
	char line[256] = "", want[256];
	ready(&n);
	run_1(&n, in, 8192, out, 8192);
	free_net(&n);
	snprintf(want, sizeof want, "{\"pid\":%d,\"mark\":%d,\"allocations\":6,\"operations\":4,\"executions\":1,\"held\":%d,\"held_allocations\":1}\n", getpid(), 2 * PAGE + 4 * 16384, PAGE);
	FILE *f = fopen(getenv("NEURONSIM_REPORT"), "r");
	WANT(f != NULL && fgets(line, sizeof line, f) != NULL);
	if (strcmp(line, want) != 0)
		fail(__LINE__, "the report is %s", line);
	fclose(f);
}
