// Access to libopusfile, loaded at run time. The declarations restate what the
// functions in opus.go need of that library's documented interface (opus-codec.org,
// opusfile 0.12); its headers are not needed to build.

#include <stdint.h>

// opusfile_load loads the library, once. It returns NULL, or what was wrong.
const char *opusfile_load(void);

// opusfile_open starts to decode the stream that goOpusRead reads for handle. It
// returns NULL and an error code where the headers cannot be read.
void *opusfile_open(uintptr_t handle, int *error);

// opusfile_channels returns the channel count of the current link of a chained stream.
int opusfile_channels(void *file);

// opusfile_tell returns the position of the next sample, or an error code below 0.
int64_t opusfile_tell(void *file);

// opusfile_read decodes into pcm, which has room for n floats. It returns how many
// samples per channel, 0 at the end, or an error code below 0.
int opusfile_read(void *file, float *pcm, int n);

void opusfile_close(void *file);
