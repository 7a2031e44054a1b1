// faults.c: what goes wrong on request.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct faults faults;

static bool add_count(struct at *at, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != 0 || n < 1 || n > UINT32_MAX || at->n == sizeof at->when / sizeof *at->when)
		return false;
	at->when[at->n++] = (uint32_t)n;
	return true;
}

static bool parse_fault(const char *word)
{
	struct { const char *name; bool *on; } plain[] = {
		{"open", &faults.open}, {"create", &faults.create}, {"compile", &faults.compile},
		{"wrong", &faults.wrong}, {"slow", &faults.slow},
	};
	struct { const char *name; struct at *at; } counted[] = {
		{"execute:", &faults.execute}, {"nan:", &faults.nan}, {"hang:", &faults.hang}, {"crash:", &faults.crash},
	};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(word, plain[i].name) == 0)
			return *plain[i].on = true;
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
		if (strncmp(word, counted[i].name, strlen(counted[i].name)) == 0)
			return add_count(counted[i].at, word + strlen(counted[i].name));
	return false;
}

bool parse_faults(const char *list)
{
	char copy[512];
	if (strlen(list) >= sizeof copy) {
		say("the list of faults is longer than %zu bytes", sizeof copy - 1);
		return false;
	}
	strcpy(copy, list);
	for (char *rest = copy, *word; (word = strsep(&rest, ", ")) != NULL;) {
		if (*word == 0 || parse_fault(word))
			continue;
		say("fault \"%s\" is none of open, create, compile, execute:N, nan:N, wrong, hang:N, crash:N, slow with N from 1", word);
		return false;
	}
	return true;
}

bool is_due(const struct at *at, uint32_t execution)
{
	for (uint32_t i = 0; i < at->n; i++)
		if (at->when[i] == execution)
			return true;
	return false;
}
