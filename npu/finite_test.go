package npu

import (
	"encoding/binary"
	"math"
	"testing"

	"earshot/npu/graph"
)

// TestFinite16 tries every half, alone and at every place of a tensor.
func TestFinite16(t *testing.T) {
	for h := range 1 << 16 {
		b := binary.LittleEndian.AppendUint16(nil, uint16(h))
		want := h>>10&31 != 31
		if finite(b, graph.Float16) != want {
			t.Fatalf("%#04x: want %v", h, want)
		}
	}
	for n := range 14 {
		for i := range n {
			b := make([]byte, 2*n)
			for j := range n {
				binary.LittleEndian.PutUint16(b[2*j:], 0xfbff) // -65504, the largest
			}
			if !finite(b, graph.Float16) {
				t.Fatalf("%d times the largest", n)
			}
			binary.LittleEndian.PutUint16(b[2*i:], 0x7c00)
			if finite(b, graph.Float16) {
				t.Fatalf("an infinity at %d of %d", i, n)
			}
		}
	}
}

func TestFinite32(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want bool
	}{{0, true}, {-1, true}, {math.MaxFloat32, true}, {math.SmallestNonzeroFloat32, true}, {math.Inf(1), false}, {math.Inf(-1), false}, {math.NaN(), false}} {
		for i := range 3 {
			b := make([]byte, 12)
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(c.v)))
			if finite(b, graph.Float32) != c.want {
				t.Errorf("%v at %d: want %v", c.v, i, c.want)
			}
		}
	}
	if !finite([]byte{0xff, 0xff, 0xff, 0xff}, graph.Int32) {
		t.Error("an integer is always finite")
	}
}
