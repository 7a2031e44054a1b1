// profile.c: which board this is. A profile is lines of `key = value`; # begins a
// comment. `operation = NAMES : TYPES : RANK` admits operations by the types of their
// first input and output, up to that many dimensions.
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct profile profile;

static const struct { const char *name, *text; } built_in[] = {
#include "profiles.inc"
};

static char *trim(char *s)
{
	s += strspn(s, " \t\r");
	for (size_t n = strlen(s); n > 0 && strchr(" \t\r", s[n - 1]) != NULL;)
		s[--n] = 0;
	return s;
}

static bool number(const char *text, uint32_t max, uint32_t *v)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != 0 || n > max)
		return false;
	*v = (uint32_t)n;
	return true;
}

static bool copy_name(char *to, size_t size, const char *from)
{
	if (*from == 0 || strlen(from) >= size)
		return false;
	strcpy(to, from);
	return true;
}

static bool read_version(const char *value)
{
	unsigned a, b, c;
	char rest;
	if (sscanf(value, "%3u.%3u.%3u%c", &a, &b, &c, &rest) != 3 || a > 255 || b > 255 || c > 255)
		return false;
	profile.version = (NeuronRuntimeVersion){(uint8_t)a, (uint8_t)b, (uint8_t)c};
	return true;
}

static bool read_devices(char *value)
{
	for (char *word; (word = strsep(&value, " \t")) != NULL;) {
		if (*word == 0)
			continue;
		if (profile.n_devices == sizeof profile.devices / sizeof *profile.devices ||
				!copy_name(profile.devices[profile.n_devices], sizeof *profile.devices, word))
			return false;
		profile.n_devices++;
	}
	return true;
}

static bool read_strides(char *value)
{
	for (char *word; (word = strsep(&value, " \t")) != NULL;) {
		uint32_t n;
		if (*word == 0)
			continue;
		if (!number(word, 31, &n))
			return false;
		profile.conv_strides |= 1u << n;
	}
	return true;
}

static bool read_types(char *value, uint32_t *types)
{
	static const char *const names[] = {
		[FLOAT16] = "float16", [FLOAT32] = "float32", [INT32] = "int32", [BOOL8] = "bool", [QUANT8] = "quant8", [QUANT16] = "quant16",
	};
	for (char *word; (word = strsep(&value, " \t")) != NULL;) {
		uint32_t i = 0;
		if (*word == 0)
			continue;
		while (i < OTHER_TYPE && strcmp(word, names[i]) != 0)
			i++;
		if (i == OTHER_TYPE)
			return false;
		*types |= 1u << i;
	}
	return *types != 0;
}

static bool read_operation(char *value)
{
	char *names = strsep(&value, ":"), *types = strsep(&value, ":");
	struct admitted a = {0};
	if (value == NULL || !read_types(types, &a.types) || !number(trim(value), MAX_RANK, &a.max_rank))
		return false;
	for (char *word; (word = strsep(&names, " \t")) != NULL;) {
		if (*word == 0)
			continue;
		if (profile.n_admitted == sizeof profile.admitted / sizeof *profile.admitted || !copy_name(a.name, sizeof a.name, word))
			return false;
		profile.admitted[profile.n_admitted++] = a;
	}
	return true;
}

static bool one_of(const char *value, const char *const words[], uint32_t *index)
{
	for (*index = 0; words[*index] != NULL; ++*index)
		if (strcmp(value, words[*index]) == 0)
			return true;
	return false;
}

static bool read_key(const char *key, char *value)
{
	struct { const char *key; uint32_t *to; } numbers[] = {
		{"l1_kb", &profile.l1_kb}, {"max_allocs", &profile.max_allocs}, {"max_ops", &profile.max_ops},
		{"max_dim", &profile.max_dim}, {"max_batch", &profile.max_batch},
		{"conv_in_channels", &profile.conv_in_channels}, {"conv_filter", &profile.conv_filter},
	};
	uint32_t n;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strcmp(key, numbers[i].key) == 0)
			return number(value, UINT32_MAX, numbers[i].to);
	if (strcmp(key, "name") == 0)
		return copy_name(profile.name, sizeof profile.name, value);
	if (strcmp(key, "version") == 0)
		return read_version(value);
	if (strcmp(key, "devices") == 0)
		return read_devices(value);
	if (strcmp(key, "budget_mib") == 0) {
		if (!number(value, 1 << 20, &n))
			return false;
		profile.budget_bytes = (uint64_t)n << 20;
		return true;
	}
	if (strcmp(key, "in_place") == 0) {
		if (!one_of(value, (const char *[]){"no", "yes", NULL}, &n))
			return false;
		profile.in_place = n == 1;
		return true;
	}
	if (strcmp(key, "computed_weights") == 0) {
		if (!one_of(value, (const char *[]){"no", "aligned", "free", NULL}, &n))
			return false;
		profile.computed_weights = (int)n;
		return true;
	}
	if (strcmp(key, "conv_strides") == 0)
		return read_strides(value);
	if (strcmp(key, "operation") == 0)
		return read_operation(value);
	if (strcmp(key, "fault") == 0)
		return parse_faults(value);
	return false;
}

static bool read_text(const char *from, char *text)
{
	int at = 0;
	for (char *line; (line = strsep(&text, "\n")) != NULL;) {
		at++;
		line[strcspn(line, "#")] = 0;
		char shown[80], *value = trim(line);
		if (*value == 0)
			continue;
		snprintf(shown, sizeof shown, "%s", value);
		char *key = trim(strsep(&value, "="));
		if (value == NULL || !read_key(key, trim(value))) {
			say("profile %s, line %d: \"%s\" makes no sense", from, at, shown);
			return false;
		}
	}
	if (profile.name[0] == 0 || profile.version.major == 0 ||
			(profile.n_devices > 0 && (profile.budget_bytes == 0 || profile.max_allocs == 0 || profile.max_ops == 0))) {
		say("profile %s lacks one of name, version, budget_mib, max_allocs, max_ops", from);
		return false;
	}
	return true;
}

static bool read_profile_file(const char *path)
{
	static char text[64 << 10];
	FILE *f = fopen(path, "re");
	if (f == NULL) {
		say("profile %s can't be opened", path);
		return false;
	}
	size_t n = fread(text, 1, sizeof text, f);
	bool whole = n < sizeof text && !ferror(f);
	fclose(f);
	if (!whole) {
		say("profile %s can't be read, or is too long", path);
		return false;
	}
	text[n] = 0;
	return read_text(path, text);
}

bool read_profile(const char *name)
{
	static char text[16 << 10];
	char known[512] = "";
	if (strchr(name, '/') != NULL)
		return read_profile_file(name);
	for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++) {
		if (strcmp(built_in[i].name, name) == 0 && strlen(built_in[i].text) < sizeof text)
			return read_text(name, strcpy(text, built_in[i].text));
		snprintf(known + strlen(known), sizeof known - strlen(known), " %s", built_in[i].name);
	}
	say("NEURONSIM_PROFILE=%s is none of%s, and no path of a file with a slash in it", name, known);
	return false;
}
