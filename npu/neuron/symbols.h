// A table of functions of a shared library, made from a list such as ADAPTER: a struct of
// pointers, a call_ function for each, and their names. A function that the library lacks
// is a null pointer; calling it does nothing and returns MISSING.

#ifndef EARSHOT_NEURON_SYMBOLS_H
#define EARSHOT_NEURON_SYMBOLS_H

#include <dlfcn.h>
#include <limits.h>

#include "adapter.h"
#include "runtime.h"

#define MISSING INT_MIN // no result code: those count up from 0

#define FIELD(name, parameters, arguments) int(*name) parameters;
#define FIELD_VOID(name, parameters, arguments) void(*name) parameters;

struct adapter {
	void *handle;
	ADAPTER(FIELD, FIELD_VOID)
};

struct runtime {
	void *handle;
	RUNTIME(FIELD, FIELD_VOID)
};

#define FROM_ADAPTER(...) (const struct adapter *t, __VA_ARGS__)
#define FROM_RUNTIME(...) (const struct runtime *t, __VA_ARGS__)
#define CALL_ADAPTER(name, parameters, arguments) \
	static inline int call_##name FROM_ADAPTER parameters { return t->name ? t->name arguments : MISSING; }
#define CALL_ADAPTER_VOID(name, parameters, arguments) \
	static inline void call_##name FROM_ADAPTER parameters { if (t->name) t->name arguments; }
#define CALL_RUNTIME(name, parameters, arguments) \
	static inline int call_##name FROM_RUNTIME parameters { return t->name ? t->name arguments : MISSING; }
#define CALL_RUNTIME_VOID(name, parameters, arguments) \
	static inline void call_##name FROM_RUNTIME parameters { if (t->name) t->name arguments; }

ADAPTER(CALL_ADAPTER, CALL_ADAPTER_VOID)
RUNTIME(CALL_RUNTIME, CALL_RUNTIME_VOID)

// A symbol is where in the struct a function is kept. The lists end with a null name.
struct symbol {
	const char *name;
	size_t at;
};

#define SYMBOL_ADAPTER(name, parameters, arguments) {#name, offsetof(struct adapter, name)},
#define SYMBOL_RUNTIME(name, parameters, arguments) {#name, offsetof(struct runtime, name)},

static inline const struct symbol *adapter_symbols(void) {
	static const struct symbol list[] = {ADAPTER(SYMBOL_ADAPTER, SYMBOL_ADAPTER){0}};
	return list;
}

static inline const struct symbol *runtime_symbols(void) {
	static const struct symbol list[] = {RUNTIME(SYMBOL_RUNTIME, SYMBOL_RUNTIME){0}};
	return list;
}

// find looks up a list in a library that is loaded.
static inline void find(void *handle, const struct symbol *list, void *table) {
	for (; list->name; list++)
		*(void **)((char *)table + list->at) = dlsym(handle, list->name);
}

#endif
