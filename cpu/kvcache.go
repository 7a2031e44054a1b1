package cpu

import (
	"fmt"
	"unsafe"
)

// KVCache holds the keys and values of one attention layer for one sequence of
// positions: K and V [positions, H·d]. A decoder adds a position for each token, an
// encoder or a cross-attention fills it at once. It is packed for [Pool.AttendF32]:
// for each head the keys in panels of 16 positions, [P/16, d, 16], then the values in
// panels of 16 of the head's columns, [ceil(d/16), P, 16], P being the capacity.
//
// It is not safe for concurrent use.
type KVCache struct {
	heads, d, capacity int

	// One of the two.
	f32 []float32
	f16 []uint16
}

// NewKVCache returns a cache for H heads of width d with room for so many positions,
// rounded up to 16.
func NewKVCache(heads, d, positions int) *KVCache {
	c := newKVCache(heads, d, positions)
	c.f32 = alignedF32(heads * c.headSize())
	return c
}

// NewKVCacheF16 is [NewKVCache] for a cache that holds its values in float16 (IEEE 754
// binary16): half the memory, and half the bytes that attention reads. What is put in
// keeps 11 bits, an error of up to 2⁻¹¹, as long as its size lies between 6e-5 and 65504.
func NewKVCacheF16(heads, d, positions int) *KVCache {
	c := newKVCache(heads, d, positions)
	buf := alignedF32(heads * c.headSize() / 2)
	c.f16 = unsafe.Slice((*uint16)(unsafe.Pointer(&buf[0])), 2*len(buf))
	return c
}

func newKVCache(heads, d, positions int) *KVCache {
	if heads < 1 || d < 1 || positions < 1 {
		panic(fmt.Sprintf("BUG: cache of %d positions for %d heads of width %d", positions, heads, d))
	}
	return &KVCache{heads: heads, d: d, capacity: roundUp(positions, panelRows)}
}

// Capacity returns how many positions there is room for.
func (c *KVCache) Capacity() int { return c.capacity }

// CopyFrom copies the first n positions of a cache of the same heads and type, which
// may have another capacity.
func (c *KVCache) CopyFrom(src *KVCache, n int) {
	if c.heads != src.heads || c.d != src.d || (c.f16 == nil) != (src.f16 == nil) || n < 0 || n > c.capacity || n > src.capacity {
		panic(fmt.Sprintf("BUG: copy %d positions from %v to %v", n, src, c))
	}
	copyHeads(c, c.f32, src, src.f32, n)
	copyHeads(c, c.f16, src, src.f16, n)
}

// copyHeads is CopyFrom for one of the types; data and from are c's and src's values.
func copyHeads[T float32 | uint16](c *KVCache, data []T, src *KVCache, from []T, n int) {
	for ; len(data) > 0; data, from = data[c.headSize():], from[src.headSize():] {
		copy(data[:roundUp(n, panelRows)*c.d], from)
		for p := range panels(c.d) {
			values := data[c.capacity*(c.d+p*panelRows):][:n*panelRows]
			copy(values, from[src.capacity*(c.d+p*panelRows):])
		}
	}
}

// String describes the cache's size.
func (c *KVCache) String() string {
	kind := "float32"
	if c.f16 != nil {
		kind = "float16"
	}
	return fmt.Sprintf("cache of %d %s positions for %d heads of width %d", c.capacity, kind, c.heads, c.d)
}

func (c *KVCache) headSize() int { return c.capacity * (c.d + roundUp(c.d, panelRows)) }

// PutKV overwrites n positions of the cache from position at on. Row i of k and of v,
// H·d values each, is at i*ldk and i*ldv. A cache of float16 takes the nearest value,
// of two the even one; from 65520 on that is infinity, and NaN stays NaN.
func (p *Pool) PutKV(c *KVCache, at, n int, k []float32, ldk int, v []float32, ldv int) {
	width := c.heads * c.d
	switch {
	case at < 0 || n < 0 || at+n > c.capacity:
		panic(fmt.Sprintf("BUG: %d positions from %d on into %v", n, at, c))
	case n == 0:
		return
	case ldk < 0 || ldv < 0 || len(k) < (n-1)*ldk+width || len(v) < (n-1)*ldv+width:
		panic(fmt.Sprintf("BUG: %d positions of %d values, %d and %d apart, from %d and %d", n, width, ldk, ldv, len(k), len(v)))
	}
	defer p.lock().Unlock()
	active.jobs.putKV(p, c, at, n, k, ldk, v, ldv)
}
