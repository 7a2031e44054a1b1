// states.c: what is allowed when, and the codes.
#include "client.h"

void case_symbols(void) { WANT(missing == 0); }

void case_states(void)
{
	OperandType type = {T_FLOAT16, DIMS(64), 0, 0};
	half in[64] = {1}, out[64];
	struct net n = add_net();
	void *c = NULL;
	CODE(BAD_STATE, NeuronCompilation_create(n.m, &c));
	CODE(BAD_DATA, NeuronModel_identifyInputsAndOutputs(n.m, LIST(0), LIST(1)));
	CODE(OK, NeuronModel_finish(n.m));
	CODE(BAD_STATE, NeuronModel_finish(n.m));
	CODE(BAD_STATE, NeuronModel_addOperand(n.m, &type));
	CODE(BAD_STATE, NeuronModel_setOperandValue(n.m, 0, in, 128));
	CODE(BAD_STATE, NeuronModel_addOperation(n.m, ADD, LIST(0, 0, 2), LIST(1)));
	CODE(BAD_STATE, NeuronModel_identifyInputsAndOutputs(n.m, LIST(0), LIST(1)));
	CODE(OK, NeuronCompilation_createWithOptions(n.m, &n.c, "--opt 3"));
	size_t size;
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	CODE(BAD_STATE, NeuronCompilation_getCompiledNetworkSize(n.c, &size));
	CODE(BAD_STATE, NeuronCompilation_getInputPaddedSize(n.c, 0, &size));
	CODE(OK, NeuronCompilation_setPreference(n.c, 2));
	CODE(BAD_DATA, NeuronCompilation_setPreference(n.c, 9));
	CODE(OK, NeuronCompilation_setPriority(n.c, 110));
	CODE(OK, NeuronCompilation_setOptimizationHint(n.c, 1));
	CODE(OK, NeuronCompilation_setL1MemorySizeKb(n.c, 256));
	CODE(OK, NeuronCompilation_setOptimizationString(n.c, "--opt-accuracy"));
	CODE(OK, NeuronCompilation_finish(n.c));
	CODE(BAD_STATE, NeuronCompilation_finish(n.c));
	CODE(BAD_STATE, NeuronCompilation_setPreference(n.c, 2));
	bool supported;
	CODE(BAD_STATE, NeuronCompilation_getSupportedOperations(n.c, 1, &supported));
	CODE(OK, NeuronCompilation_getInputPaddedSize(n.c, 0, &size));
	WANT(size == 128);
	CODE(BAD_DATA, NeuronCompilation_getOutputPaddedSize(n.c, 1, &size));
	uint32_t dims[8], rank;
	CODE(OK, NeuronCompilation_getOutputPaddedDimensions(n.c, 0, dims));
	WANT(dims[0] == 64);
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	CODE(OK, NeuronExecution_getOutputOperandRank(n.e, 0, &rank));
	WANT(rank == 1);
	CODE(BAD_DATA, NeuronExecution_compute(n.e));
	SAID("input 0 is not set");
	CODE(OK, NeuronExecution_setInput(n.e, 0, &type, in, 128));
	CODE(BAD_DATA, NeuronExecution_compute(n.e));
	SAID("output 0 is not set");
	CODE(BAD_DATA, NeuronExecution_setInput(n.e, 0, NULL, in, 126));
	CODE(BAD_DATA, NeuronExecution_setInput(n.e, 1, NULL, in, 128));
	CODE(BAD_DATA, NeuronExecution_setInput(n.e, -1, NULL, in, 128));
	CODE(BAD_DATA, NeuronExecution_setOutput(n.e, 0, &(OperandType){T_FLOAT32, DIMS(64), 0, 0}, out, 128));
	CODE(OK, NeuronExecution_setOutput(n.e, 0, NULL, out, 128));
	CODE(OK, NeuronExecution_setBoostHint(n.e, 100));
	CODE(BAD_DATA, NeuronExecution_setBoostHint(n.e, 101));
	CODE(OK, NeuronExecution_compute(n.e));
	CODE(OK, NeuronExecution_compute(n.e));
	WANT((float)out[0] == 2);
	free_net(&n);
}

void case_null(void)
{
	struct net n = add_net();
	void *none = NULL;
	CODE(UNEXPECTED_NULL, Neuron_getVersion(NULL));
	CODE(UNEXPECTED_NULL, Neuron_getDeviceCount(NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_create(NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_finish(NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_addOperand(n.m, NULL));
	CODE(UNEXPECTED_NULL, NeuronModel_addOperand(n.m, &(OperandType){T_FLOAT16, 2, NULL, 0, 0}));
	CODE(UNEXPECTED_NULL, NeuronModel_setOperandValue(n.m, 0, NULL, 128));
	CODE(UNEXPECTED_NULL, NeuronModel_addOperation(n.m, ADD, 3, NULL, 1, NULL));
	CODE(UNEXPECTED_NULL, NeuronCompilation_create(NULL, &none));
	CODE(UNEXPECTED_NULL, NeuronCompilation_finish(NULL));
	CODE(UNEXPECTED_NULL, NeuronExecution_create(NULL, &none));
	CODE(UNEXPECTED_NULL, NeuronModel_restoreFromCompiledNetwork(&none, &none, NULL, 1));
	CODE(UNEXPECTED_NULL, NeuronMemory_createFromAHardwareBuffer(NULL, &none));
	ready(&n);
	CODE(UNEXPECTED_NULL, NeuronExecution_setInput(n.e, 0, NULL, NULL, 128));
	CODE(UNEXPECTED_NULL, NeuronExecution_setInputFromMemory(n.e, 0, NULL, NULL, 0, 128));
	CODE(UNEXPECTED_NULL, NeuronExecution_compute(NULL));
	free_net(&n);
	NeuronModel_free(NULL);
	NeuronCompilation_free(NULL);
	NeuronExecution_free(NULL);
	NeuronMemory_free(NULL);
	NeuronRuntime_release(NULL);
}

void case_bad_models(void)
{
	struct net n = new_net();
	CODE(BAD_DATA, NeuronModel_finish(n.m));
	CODE(BAD_DATA, NeuronModel_addOperand(n.m, &(OperandType){77, DIMS(1), 0, 0}));
	CODE(BAD_DATA, NeuronModel_addOperand(n.m, &(OperandType){T_FLOAT16, DIMS(1 << 30, 1 << 30, 1 << 30, 1 << 30), 0, 0}));
	CODE(BAD_DATA, NeuronModel_addOperand(n.m, &(OperandType){INT32, DIMS(1), 0, 0}));
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(4)), y = tensor(&n, T_FLOAT16, DIMS(4)), z = tensor(&n, T_FLOAT16, DIMS(4));
	CODE(BAD_DATA, NeuronModel_setOperandValue(n.m, 0, "", 1));
	CODE(BAD_DATA, NeuronModel_setOperandValue(n.m, 9, "12345678", 8));
	CODE(BAD_DATA, NeuronModel_addOperation(n.m, ADD, LIST(x, 99), LIST(y)));
	int32_t type;
	CODE(BAD_DATA, NeuronModel_getExtensionOperandType(n.m, "com.example", 0x0100, &type));
	operation(&n, ADD, LIST(z, z, i32(&n, 0)), LIST(y)); // z is never written
	identify(&n, LIST(x), LIST(y));
	CODE(BAD_DATA, NeuronModel_finish(n.m));
	SAID("operation 0 reads operand 2");
	free_net(&n);

	n = new_net(); // shapes that do not follow
	x = tensor(&n, T_FLOAT16, DIMS(4));
	y = tensor(&n, T_FLOAT16, DIMS(5));
	operation(&n, ADD, LIST(x, x, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	CODE(BAD_DATA, compile(&n));
	SAID("operation 0, ADD (0): its output");
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	free_net(&n);

	n = new_net(); // an operand left out
	x = tensor(&n, T_FLOAT16, DIMS(4));
	y = tensor(&n, T_FLOAT16, DIMS(4));
	z = tensor(&n, T_FLOAT16, DIMS(4));
	CODE(OK, NeuronModel_setOperandValue(n.m, (int32_t)z, NULL, 0));
	operation(&n, ADD, LIST(x, z, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	CODE(BAD_DATA, compile(&n));
	free_net(&n);
}

void case_litert_order(void)
{
	struct net n = new_net();
	half in[8], out[8];
	CODE(OK, NeuronModel_setName(n.m, "Partition_0"));
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(1, 8)), z = tensor(&n, T_FLOAT16, DIMS(1, 8));
	identify(&n, LIST(x), LIST(z));
	uint32_t y = tensor(&n, T_FLOAT16, DIMS(1, 8));
	operation(&n, ADD, LIST(x, x, i32(&n, 0)), LIST(y));
	operation(&n, TANH, LIST(y), LIST(z));
	CODE(OK, NeuronModel_finish(n.m));
	CODE(OK, NeuronModel_relaxComputationFloat32toFloat16(n.m, true));
	CODE(OK, NeuronCompilation_createWithOptions(n.m, &n.c, "--opt-accuracy --opt 3"));
	CODE(OK, NeuronCompilation_setPriority(n.c, 110));
	CODE(OK, NeuronCompilation_setPreference(n.c, 2));
	CODE(OK, NeuronCompilation_setOptimizationHint(n.c, 0));
	CODE(OK, NeuronCompilation_setOptimizationString(n.c, "--opt-accuracy --opt 3"));
	bool supported[2] = {0};
	CODE(OK, NeuronCompilation_getSupportedOperations(n.c, 2, supported));
	WANT(supported[0] && supported[1]);
	CODE(BAD_DATA, NeuronCompilation_getSupportedOperations(n.c, 3, supported));
	CODE(OK, NeuronCompilation_finish(n.c));
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	for (int i = 0; i < 8; i++)
		in[i] = (half)(0.1 * i);
	run_1(&n, in, 8, out, 8);
	double want[8];
	for (int i = 0; i < 8; i++)
		want[i] = tanh(2 * (double)in[i]);
	near(__LINE__, out, want, 8, HALF_STEP);
	free_net(&n);
}
