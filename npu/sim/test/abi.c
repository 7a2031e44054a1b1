// abi.c: drives a library with the Neuron Adapter's ABI as a client does.
//
//	abi LIBRARY         runs all cases, each in a process of its own
//	abi LIBRARY CASE    runs one of them, and the one that writes a file for others
//	abi LIBRARY speed   prints how fast three products are computed, by processor time
#include "client.h"

static const char *const small_board =
	"name = small\nversion = 7.0.0\ndevices = mtk-mdla\nbudget_mib = 1\nmax_allocs = 100\nmax_ops = 100\n"
	"operation = ADD TANH RESHAPE : float16 : 4\n";

static const struct {
	const char *name;
	void (*run)(void);
	const char *profile, *more; // more lines, for a file with small_board
	const char *fault, *says;
	int signal;
} cases[] = {
	{"symbols", case_symbols, "genio-700", .says = ""},
	{"binary", case_binary, "genio-700"},
	{"unary", case_unary, "genio-720"},
	{"gelu-tanh", case_gelu_tanh, "genio-720"},
	{"fully-connected", case_fully_connected, "genio-700"},
	{"conv-2d", case_conv, "genio-700"},
	{"batch-matmul", case_batch_matmul, "genio-720"},
	{"rows", case_rows, "genio-520"},
	{"move", case_move, "genio-1200"},
	{"concatenation", case_concatenation, "genio-510"},
	{"rounding", case_rounding, "genio-700"},
	{"all-halves", case_all_halves, "genio-700"},
	{"quantised", case_quantised, NULL, "operation = FULLY_CONNECTED : quant8 : 2\n"},
	{"states", case_states, "genio-700"},
	{"null", case_null, "genio-700"},
	{"bad-models", case_bad_models, "genio-700"},
	{"litert-order", case_litert_order, "genio-720"},
	{"genio-510", case_old_board, "genio-510"},
	{"genio-700", case_old_board, "genio-700"},
	{"genio-1200", case_old_board, "genio-1200"},
	{"genio-520", case_new_board, "genio-520"},
	{"genio-720", case_new_board, "genio-720"},
	{"genio-350", case_no_device, "genio-350"},
	{"default", case_old_board, ""},
	{"conv-limits", case_conv_limits, "genio-1200"},
	{"unknown-profile", case_bad_settings, "genio-9", .says = "NEURONSIM_PROFILE=genio-9 is none of"},
	{"no-profile-file", case_bad_settings, "/nowhere/x.conf", .says = "profile /nowhere/x.conf can't be opened"},
	{"bad-key", case_bad_settings, NULL, "speed = 3\n", .says = "line 8: \"speed = 3\" makes no sense"},
	{"bad-number", case_bad_settings, NULL, "max_ops = -3\n", .says = "line 8: \"max_ops = -3\" makes no sense"},
	{"bad-operation", case_bad_settings, NULL, "operation = ADD : float17 : 4\n", .says = "line 8: \"operation = ADD : float17 : 4\" makes no sense"},
	{"bad-fault", case_bad_settings, "genio-700", NULL, "execute:0", "fault \"execute:0\" is none of"},
	{"unknown-fault", case_bad_settings, "genio-700", NULL, "slow,melt", "fault \"melt\" is none of"},
	{"borrowed", case_borrowed, "genio-700"},
	{"accounting", case_accounting, "genio-700"},
	{"in-place", case_in_place, NULL, "in_place = yes\n"},
	{"shared-outputs", case_shared_outputs, "genio-700"},
	{"random-graphs", case_random_graphs, "genio-700"},
	{"random-in-place", case_random_graphs, NULL, "in_place = yes\noperation = MUL TRANSPOSE : float16 : 2\n"},
	{"budget", case_budget, NULL, ""},
	{"allocations", case_allocations, NULL, "max_allocs = 4\n"},
	{"descriptors", case_descriptors, "genio-700"},
	{"operations", case_operations, NULL, "max_ops = 3\n"},
	{"fd-memory", case_fd_memory, "genio-700"},
	{"store", case_store, "genio-700"},
	{"store-for-others", case_store_for_others, "genio-700"},
	{"other-version", case_other_version, NULL, ""},
	{"runtime", case_runtime, "genio-1200"},
	{"fault-open", case_fault_open, "genio-720", NULL, "open"},
	{"fault-create", case_fault_create, "genio-720", NULL, "create"},
	{"fault-compile", case_fault_compile, "genio-720", NULL, "compile"},
	{"fault-of-profile", case_fault_compile, NULL, "fault = compile\n"},
	{"fault-execute", case_fault_execute, "genio-720", NULL, "execute:2,execute:4"},
	{"fault-nan", case_fault_nan, "genio-720", NULL, "nan:2"},
	{"fault-wrong", case_fault_wrong, "genio-720", NULL, "wrong"},
	{"fault-slow", case_fault_slow, "genio-720", NULL, "slow"},
	{"fault-hang", case_fault_end, "genio-720", NULL, "hang:2", .signal = SIGALRM},
	{"fault-crash", case_fault_end, "genio-720", NULL, "crash:2", .signal = SIGSEGV},
	{"report", case_report, "genio-700"},
	{"speed", case_speed, "genio-720"},
};

static void run_case(const char *library, size_t i)
{
	char path[64], text[1024];
	const char *profile = cases[i].profile;
	if (profile == NULL) {
		snprintf(text, sizeof text, "%s%s", small_board, cases[i].more);
		profile = write_file("profile.conf", text);
	}
	setenv("NEURONSIM_PROFILE", profile, 1);
	if (cases[i].fault != NULL)
		setenv("NEURONSIM_FAULT", cases[i].fault, 1);
	snprintf(path, sizeof path, "%s/network", folder);
	setenv("ABI_NETWORK", path, 1);
	setenv("ABI_SAYS", cases[i].says == NULL ? "" : cases[i].says, 1);
	if (cases[i].run == case_report) {
		snprintf(path, sizeof path, "%s/report", folder);
		setenv("NEURONSIM_REPORT", path, 1);
	}
	dup2(error_file, 2);
	open_library(library);
	cases[i].run();
	exit(bad > 0);
}

static bool passes(const char *library, size_t i)
{
	int status = 0;
	fflush(stdout);
	error_file = memfd_create("stderr", 0);
	pid_t child = fork();
	if (child == 0)
		run_case(library, i);
	waitpid(child, &status, 0);
	bool good = cases[i].signal != 0 ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal : WIFEXITED(status) && WEXITSTATUS(status) == 0;
	printf("%s %s\n", good ? "ok  " : "FAIL", cases[i].name);
	if (!good)
		printf("%s", errors());
	close(error_file);
	return good;
}

int main(int argc, char **argv)
{
	size_t failed = 0, run = 0;
	if (argc < 2 || argc > 3 || mkdtemp(folder) == NULL) {
		fprintf(stderr, "usage: abi LIBRARY [CASE]\n");
		return 2;
	}
	unsetenv("NEURONSIM_FAULT");
	unsetenv("NEURONSIM_REPORT");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool named = argc == 3 && strcmp(argv[2], cases[i].name) == 0;
		if (!named && (cases[i].run == case_speed || (argc == 3 && cases[i].run != case_store_for_others)))
			continue; // later cases need what that one writes
		run++;
		failed += !passes(argv[1], i);
	}
	static const char *const files[] = {"profile.conf", "network", "report"};
	for (size_t i = 0; i < 3; i++) {
		char path[64];
		snprintf(path, sizeof path, "%s/%s", folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
	printf("%zu of %zu cases passed\n", run - failed, run);
	return failed > 0;
}
