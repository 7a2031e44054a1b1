// The cache of one attention layer (KVCache in Go): for each of the heads, keys in
// panels of 16 positions, [capacity/16][d][16], then values in panels of 16 of a
// head's d columns, [ceil(d/16)][capacity][16]. capacity is a multiple of 16.

#ifndef EARSHOT_KV_H
#define EARSHOT_KV_H

#include <stddef.h>
#include <stdint.h>

// It holds either of the two types; the other pointer is null.
struct kv {
	float *f32;
	uint16_t *f16;
	size_t heads, d, capacity;
};

#define PANEL 16

static inline size_t panels(size_t n) { return (n + PANEL - 1) / PANEL; }

// Elements of one head's keys, and of keys and values.
static inline size_t keys_size(size_t capacity, size_t d) { return capacity * d; }
static inline size_t head_size(size_t capacity, size_t d) { return capacity * (d + panels(d) * PANEL); }

#endif
