package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestF16 goes through all float16 values: each is its own rounding, and so is what
// lies nearer to it than to its neighbour; half-way the even one is taken.
func TestF16(t *testing.T) {
	for h := range uint16(0x7c00) {
		low, high := fromF16(h), fromF16(h+1)
		if h == 0x7bff {
			high = 65536 // which a larger exponent would hold
		}
		middle := low + (high-low)/2 // exact
		even := h + h&1
		for x, want := range map[float32]uint16{
			low: h, middle: even,
			math.Nextafter32(middle, 0): h, math.Nextafter32(middle, inf): h + 1,
		} {
			if got := roundF16Generic(x); got != want {
				t.Fatalf("%v becomes %#x, want %#x", x, got, want)
			}
			if got := roundF16Generic(-x); got != want|0x8000 {
				t.Fatalf("%v becomes %#x, want %#x", -x, got, want|0x8000)
			}
		}
	}
	for h, want := range map[uint16]float32{0: 0, 1: 0x1p-24, 0x3ff: 0x1p-14 - 0x1p-24, 0x400: 0x1p-14, 0x3c00: 1, 0xc001: -2 - 0x1p-9, 0x7bff: 65504, 0x7c00: inf, 0xfc00: -inf} {
		if got := fromF16(h); got != want {
			t.Errorf("%#x is %v, want %v", h, got, want)
		}
	}
	if x := fromF16(roundF16Generic(math.Float32frombits(0x7f800001))); x == x {
		t.Errorf("a NaN of low bits becomes %v", x)
	}
}

// TestPutKV compares the memory of caches with what the generic tier leaves in them, to
// the last bit: special values, ties of float16, and positions in several parts.
func TestPutKV(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	special := []float32{0, nan, -nan, math.Float32frombits(0x7f812345), inf, -inf, denorm, 65504, 65519.9, 65520, -1e30,
		0x1p-24, 0x1p-25, 0x1.8p-24, -0x1.000002p-25, 0x1.ffcp-15, 0x1.ffep-15, 1 + 0x1p-11, 1 + 0x3p-11, 2 - 0x1p-12}
	eachCache(t, func(t *testing.T, newCache newCache) {
		for _, d := range []int{1, 16, 20, 64, 100} {
			const heads, positions = 3, 90
			p, ldk, ldv := newPool(t, 2), heads*d+3, heads*d+5
			k, v := make([]float32, positions*ldk), make([]float32, positions*ldv)
			for i := range v {
				v[i] = math.Float32frombits(r.Uint32())
			}
			for i := range k {
				k[i] = special[r.IntN(len(special))]
			}
			fill := func(parts ...int) *KVCache {
				c, from := newCache(heads, d, positions+9), 0
				c.fill(poison)
				for _, to := range parts {
					p.PutKV(c, from, to-from, k[from*ldk:], ldk, v[from*ldv:], ldv)
					from = to
				}
				return c
			}
			var want *KVCache
			withGeneric(func() { want = fill(positions) })
			for _, parts := range [][]int{{positions}, {1, 2, 3, 35, positions}, {64, positions}} {
				got := fill(parts...)
				same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }
				if !slices.EqualFunc(got.f32, want.f32, same) || !slices.Equal(got.f16, want.f16) {
					t.Errorf("d %d, parts up to %v: differs from the generic tier's", d, parts)
				}
			}
		}
	})
}
