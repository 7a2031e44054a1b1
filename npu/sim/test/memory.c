// memory.c: borrowed values, what is held, what is too much.
#include "client.h"

void case_borrowed(void)
{
	struct net n;
	size_t bytes;
	half in[4096] = {1}, out[4096], *constant = borrowed_net(&n, &bytes);
	constant[17] = 2;
	CODE(BAD_DATA, compile(&n));
	SAID("operand 1 (8192 bytes) is not what it was");
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	free_net(&n);
	munmap(constant, bytes);

	constant = borrowed_net(&n, &bytes);
	mprotect((char *)constant + 4096, 4096, PROT_NONE); // half of it is gone
	CODE(BAD_DATA, compile(&n));
	SAID("operand 1 (8192 bytes) is no longer in memory");
	free_net(&n);
	munmap(constant, bytes);

	constant = borrowed_net(&n, &bytes);
	munmap(constant, bytes); // something else may lie there by then
	CODE(BAD_DATA, compile(&n));
	free_net(&n);

	constant = borrowed_net(&n, &bytes);
	ready(&n);
	munmap(constant, bytes); // by now it is nobody's
	run_1(&n, in, 4096, out, 4096);
	WANT((float)out[0] == 2 && (float)out[4095] == 1);
	free_net(&n);

	half small[64] = {3}; // 128 bytes are copied at once
	n = new_net();
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(64)), w = value(&n, tensor(&n, T_FLOAT16, DIMS(64)), small, 128), y = tensor(&n, T_FLOAT16, DIMS(64));
	operation(&n, ADD, LIST(x, w, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	small[0] = 4;
	ready(&n);
	run_1(&n, in, 64, out, 64);
	WANT((float)out[0] == 4);
	free_net(&n);
}

void case_accounting(void)
{
	int descriptors = open_descriptors();
	struct net n = chain_net(8); // 16 KiB each
	WANT(held().now == 0 && held().allocations == 0);
	CODE(OK, compile(&n));
	WANT(held().now == PAGE && held().allocations == 1); // commands; there are no constants
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	WANT(held().now == PAGE + PAGE + 2 * 16384 && held().allocations == 1 + 1 + 2);
	WANT(open_descriptors() == descriptors + 4);
	static half in[8192], out[8192];
	run_1(&n, in, 8192, out, 8192);
	WANT(held().now == PAGE + PAGE + 4 * 16384 && held().allocations == 6);
	WANT(open_descriptors() == descriptors + 6);
	run_1(&n, in, 8192, out, 8192);
	WANT(held().allocations == 6);
	free_net(&n);
	WANT(held().now == 0 && held().allocations == 0 && held().mark == PAGE + PAGE + 4 * 16384 && held().allocations_mark == 6);
	WANT(open_descriptors() == descriptors);

	size_t bytes; // constants: 8192 bytes, and the commands
	half *constant = borrowed_net(&n, &bytes);
	CODE(OK, compile(&n));
	WANT(held().now == 8192 + PAGE && held().allocations == 2);
	munmap(constant, bytes);
	free_net(&n);
	WANT(open_descriptors() == descriptors);
}

void case_in_place(void) // each TANH takes its operand's memory over
{
	struct net n = chain_net(8);
	ready(&n);
	WANT(held().now == PAGE + PAGE + 16384 && held().allocations == 3);
	static half in[8192], out[8192];
	double want[8192];
	for (int i = 0; i < 8192; i++) {
		in[i] = (half)noise();
		want[i] = tanh(tanh(tanh((double)in[i])));
	}
	run_1(&n, in, 8192, out, 8192);
	near(__LINE__, out, want, 8192, 3 * HALF_STEP);
	free_net(&n);
}

void case_shared_outputs(void) // RESHAPE to an output, and from an input
{
	struct net n = new_net();
	half in[4] = {1, 2, 3, 4}, first[4], second[4], third[4];
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(4)), a = tensor(&n, T_FLOAT16, DIMS(2, 2)), b = tensor(&n, T_FLOAT16, DIMS(2, 2));
	uint32_t y = tensor(&n, T_FLOAT16, DIMS(4)), z = tensor(&n, T_FLOAT16, DIMS(4)), w = tensor(&n, T_FLOAT16, DIMS(1, 4));
	operation(&n, RESHAPE, LIST(x), LIST(a));
	operation(&n, ADD, LIST(a, a, i32(&n, 0)), LIST(b));
	operation(&n, RESHAPE, LIST(b), LIST(y));
	operation(&n, RESHAPE, LIST(b), LIST(z)); // a copy
	operation(&n, RESHAPE, LIST(x), LIST(w)); // from input to output: a copy
	identify(&n, LIST(x), LIST(y, z, w));
	ready(&n);
	WANT(held().allocations == 2); // no intermediate at all
	CODE(OK, NeuronExecution_setOutput(n.e, 1, NULL, second, 8));
	CODE(OK, NeuronExecution_setOutput(n.e, 2, NULL, third, 8));
	run_1(&n, in, 4, first, 4);
	for (int i = 0; i < 4; i++)
		WANT((int)first[i] == 2 * (i + 1) && (int)second[i] == 2 * (i + 1) && (int)third[i] == i + 1);
	free_net(&n);
}

// random_net is the same graph of many small operations for the same start; with all its
// tensors as outputs none of them shares memory.
static struct net random_net(uint32_t start, bool all_outputs, uint32_t *outputs, uint32_t *n_outputs)
{
	enum { OPERATIONS = 60, SHAPES = 3 };
	static const uint32_t shapes[SHAPES][2] = {{4, 6}, {6, 4}, {24, 1}};
	struct net n = new_net();
	uint32_t operands[OPERATIONS + 1], shape[OPERATIONS + 1] = {0}, x, y;
	seed = start;
	operands[0] = tensor(&n, T_FLOAT16, 2, shapes[0]);
	*n_outputs = 0;
	for (uint32_t i = 1; i <= OPERATIONS; i++) {
		uint32_t random[4];
		for (int k = 0; k < 4; k++) {
			noise();
			random[k] = seed >> 16;
		}
		uint32_t from = i - 1 - random[0] % (i < 8 ? i : 8), other = random[1] % i, kind = random[2] % 5;
		shape[i] = kind == 3 ? random[3] % SHAPES : kind == 4 && shape[from] < 2 ? 1 - shape[from] : shape[from];
		x = operands[from];
		y = operands[i] = tensor(&n, T_FLOAT16, 2, shapes[shape[i]]);
		if (kind == 0 || (kind == 4 && shape[from] == 2))
			operation(&n, TANH, LIST(x), LIST(y));
		else if (kind == 1)
			operation(&n, ADD, LIST(x, shape[other] == shape[from] ? operands[other] : x, i32(&n, 0)), LIST(y));
		else if (kind == 2)
			operation(&n, MUL, LIST(x, value(&n, tensor(&n, T_FLOAT16, DIMS(1)), &(half){1.25}, 2), i32(&n, 0)), LIST(y));
		else if (kind == 3)
			operation(&n, RESHAPE, LIST(x), LIST(y));
		else
			operation(&n, TRANSPOSE, LIST(x, INTS(&n, 1, 0)), LIST(y));
		if (all_outputs || i % 20 == 0)
			outputs[(*n_outputs)++] = y;
	}
	identify(&n, LIST(operands[0]), *n_outputs, outputs);
	ready(&n);
	return n;
}

void case_random_graphs(void)
{
	enum { MOST = 60, N = 24 };
	static half all[MOST][N], few[MOST][N];
	half in[N];
	uint32_t all_outputs[MOST], few_outputs[MOST], n_all, n_few;
	for (uint32_t start = 1; start <= 100 && bad == 0; start++) {
		struct net a = random_net(start, true, all_outputs, &n_all), b = random_net(start, false, few_outputs, &n_few);
		for (int i = 0; i < N; i++)
			in[i] = (half)noise();
		for (uint32_t i = 1; i < n_all; i++)
			CODE(OK, NeuronExecution_setOutput(a.e, (int32_t)i, NULL, all[i], sizeof all[i]));
		for (uint32_t i = 1; i < n_few; i++)
			CODE(OK, NeuronExecution_setOutput(b.e, (int32_t)i, NULL, few[i], sizeof few[i]));
		run_1(&a, in, N, all[0], N);
		run_1(&b, in, N, few[0], N);
		for (uint32_t i = 0; i < n_few; i++)
			for (uint32_t k = 0; k < n_all; k++)
				if (all_outputs[k] == few_outputs[i] && memcmp(all[k], few[i], sizeof few[i]) != 0)
					fail(__LINE__, "graph %u computes another operand %u when intermediates share memory", start, few_outputs[i]);
		free_net(&a);
		free_net(&b);
	}
	WANT(held().now == 0);
}

void case_budget(void) // of 1 MiB
{
	int descriptors = open_descriptors();
	// commands and information: two pages; 254 pages stay for two intermediates of rows · 2048
	struct net n = chain_net(127 * 2);
	ready(&n);
	WANT(held().now == MIB);
	free_net(&n);
	n = chain_net(127 * 2 + 1);
	CODE(OK, compile(&n));
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	WANT(n.e == NULL);
	SAID("memAlloc: alloc mem(160/0/0/0x5) fail(Cannot allocate memory)\nalloc execInfo fail\n");
	WANT(held().now == PAGE && open_descriptors() == descriptors + 1);
	free_net(&n);

	n = chain_net(8);
	ready(&n);
	void *memory[64];
	int used = 0, fd = memfd_create("abi", 0);
	WANT(ftruncate(fd, MIB) == 0);
	WANT(lseek(fd, 5, SEEK_SET) == 5);
	for (int code = OK; used < 64; used++) {
		code = NeuronMemory_createFromFd(65536, PROT_READ | PROT_WRITE, fd, 0, &memory[used]);
		if (code == OK)
			continue;
		CODE(BAD_DATA, code);
		break;
	}
	WANT(used == (MIB - PAGE - PAGE - 32768) / 65536);
	WANT(lseek(fd, 0, SEEK_CUR) == 5);
	SAID("memImport: import mem(0x0/65536)");
	while (used > 0)
		NeuronMemory_free(memory[--used]);
	free_net(&n);
	close(fd);
	WANT(held().now == 0 && open_descriptors() == descriptors);

	n = new_net(); // constants above the budget
	half *constant = calloc(MIB / 2 + 1, 2);
	uint32_t x = tensor(&n, T_FLOAT16, DIMS(MIB / 2 + 1)), w = value(&n, tensor(&n, T_FLOAT16, DIMS(MIB / 2 + 1)), constant, MIB + 2), y = tensor(&n, T_FLOAT16, DIMS(MIB / 2 + 1));
	operation(&n, ADD, LIST(x, w, i32(&n, 0)), LIST(y));
	identify(&n, LIST(x), LIST(y));
	CODE(OUT_OF_MEMORY, compile(&n));
	SAID("memAlloc: alloc mem(1048704/0/0/0x5) fail(Cannot allocate memory)");
	free(constant);
	free_net(&n);
	WANT(held().now == 0);
}

void case_allocations(void) // of which there may be 4
{
	struct net n = chain_net(8), m = chain_net(8);
	ready(&n);
	WANT(held().allocations == 4);
	CODE(OUT_OF_MEMORY, compile(&m));
	half in[8192];
	CODE(OUT_OF_MEMORY, NeuronExecution_setInput(n.e, 0, NULL, in, sizeof in));
	free_net(&m);
	free_net(&n);
	n = chain_net(8);
	ready(&n);
	free_net(&n);
}

void case_descriptors(void) // of the process run out
{
	struct net n = chain_net(8);
	CODE(OK, compile(&n));
	struct rlimit limit;
	int used = 0;
	while (used < 64) // without gaps below
		used = dup(0);
	used++;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)used + 2;
	setrlimit(RLIMIT_NOFILE, &limit);
	CODE(BAD_STATE, NeuronExecution_create(n.c, &n.e));
	SAID("memAlloc: alloc mem(160/0/0/0x5) fail(Cannot allocate memory)\nalloc execInfo fail\n");
	limit.rlim_cur = (rlim_t)used + 3;
	setrlimit(RLIMIT_NOFILE, &limit);
	CODE(OK, NeuronExecution_create(n.c, &n.e));
	free_net(&n);
}

void case_operations(void) // of which a model may have 3
{
	struct net n = chain_net(8);
	CODE(UNMAPPABLE, compile(&n));
	SAID("4 operations are more than the 3");
	free_net(&n);
}

void case_fd_memory(void)
{
	struct net n = add_net();
	void *memory = NULL;
	int fd = memfd_create("abi", 0);
	WANT(ftruncate(fd, 8192) == 0);
	half *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CODE(BAD_DATA, NeuronMemory_createFromFd(8193, PROT_READ | PROT_WRITE, fd, 0, &memory));
	CODE(BAD_DATA, NeuronMemory_createFromFd(4096, PROT_READ | PROT_WRITE, -1, 0, &memory));
	CODE(OK, NeuronMemory_createFromFd(8192, PROT_READ | PROT_WRITE, fd, 0, &memory));
	close(fd); // it has its own
	ready(&n);
	CODE(BAD_DATA, NeuronExecution_setInputFromMemory(n.e, 0, NULL, memory, 64, 128));
	CODE(BAD_DATA, NeuronExecution_setInputFromMemory(n.e, 0, NULL, memory, 8192, 128));
	CODE(BAD_DATA, NeuronExecution_setOutputFromMemory(n.e, 0, NULL, memory, 128, 127));
	CODE(OK, NeuronExecution_setInputFromMemory(n.e, 0, NULL, memory, 128, 128));
	CODE(OK, NeuronExecution_setOutputFromMemory(n.e, 0, NULL, memory, 4096, 128));
	for (int i = 0; i < 64; i++)
		shared[64 + i] = (half)i;
	CODE(OK, NeuronExecution_compute(n.e));
	for (int i = 0; i < 64; i++)
		WANT((int)shared[2048 + i] == 2 * i);
	NeuronMemory_free(memory);
	CODE(BAD_DATA, NeuronExecution_compute(n.e));
	SAID("its memory was freed");
	free_net(&n);
	munmap(shared, 8192);
}
