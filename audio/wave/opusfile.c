//go:build cgo

#include "opusfile.h"

#include <dlfcn.h>
#include <stddef.h>

// Written in Go: reads up to n bytes for handle; 0 at the end, below 0 on errors.
extern int goOpusRead(uintptr_t handle, unsigned char *p, int n);

typedef struct {
	int (*read)(void *stream, unsigned char *p, int n);
	int (*seek)(void *stream, int64_t offset, int whence);
	int64_t (*tell)(void *stream);
	int (*close)(void *stream);
} callbacks;

static struct {
	void *(*open_callbacks)(void *stream, const callbacks *cb, const unsigned char *initial, size_t n, int *error);
	int (*read_float)(void *file, float *pcm, int n, int *link);
	int (*channel_count)(const void *file, int link);
	int64_t (*pcm_tell)(const void *file);
	void (*free)(void *file);
} op;

const char *opusfile_load(void)
{
	void *lib = dlopen("libopusfile.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return dlerror();
	*(void **)&op.open_callbacks = dlsym(lib, "op_open_callbacks");
	*(void **)&op.read_float = dlsym(lib, "op_read_float");
	*(void **)&op.channel_count = dlsym(lib, "op_channel_count");
	*(void **)&op.pcm_tell = dlsym(lib, "op_pcm_tell");
	*(void **)&op.free = dlsym(lib, "op_free");
	if (!op.open_callbacks || !op.read_float || !op.channel_count || !op.pcm_tell || !op.free)
		return "libopusfile.so.0 lacks a function";
	return NULL;
}

static int read_stream(void *stream, unsigned char *p, int n)
{
	return goOpusRead((uintptr_t)stream, p, n);
}

void *opusfile_open(uintptr_t handle, int *error)
{
	// Without seek and tell the stream is read once, from start to end.
	static const callbacks cb = {read_stream, NULL, NULL, NULL};
	return op.open_callbacks((void *)handle, &cb, NULL, 0, error);
}

int opusfile_channels(void *file) { return op.channel_count(file, -1); }

int64_t opusfile_tell(void *file) { return op.pcm_tell(file); }

int opusfile_read(void *file, float *pcm, int n) { return op.read_float(file, pcm, n, NULL); }

void opusfile_close(void *file) { op.free(file); }
