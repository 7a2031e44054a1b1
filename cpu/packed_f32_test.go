package cpu

import (
	"testing"
	"unsafe"
)

// at is W[i,j].
func (p *PackedF32) at(i, j int) float32 {
	return p.data[(i/panelRows*p.k+j)*panelRows+i%panelRows]
}

func TestPack(t *testing.T) {
	src := make([]float32, 60*60)
	for i := range src {
		src[i] = float32(i)
	}
	for _, strides := range [][2]int{{60, 1}, {1, 60}, {58, 1}, {1, 40}, {3, 40}, {30, 2}} {
		for _, n := range []int{1, 7, 15, 16, 17, 32, 37} {
			for _, k := range []int{1, 2, 3, 8, 29} {
				p := NewPackedF32(50, 31)
				p.Pack(src, n, k, strides[0], strides[1])
				for i := range n {
					for j := range k {
						if got, want := p.at(i, j), float32(i*strides[0]+j*strides[1]); got != want {
							t.Fatalf("%d×%d, strides %v: (%d,%d) is %v, want %v", n, k, strides, i, j, got, want)
						}
					}
				}
				if v := ViewF32(50, 31, p.Data()); len(p.Data()) != SizeF32(50, 31) || v.at(n-1, k-1) != p.at(n-1, k-1) {
					t.Fatalf("%d×%d: a view of it differs", n, k)
				}
				if p.at(49, 30) != 0 || p.at(0, 30) != 0 {
					t.Fatalf("%d×%d, strides %v: wrote beyond", n, k, strides)
				}
			}
		}
	}
	PackF32(nil, 0, 0, 0, 0)
	PackF32(nil, 0, 5, 5, 1)
}

// TestCache fills a cache of keys by rows and one of values by columns, as a
// decoder does, and copies a part.
func TestCache(t *testing.T) {
	const positions, width = 35, 21
	keys, values := NewPackedF32(positions, width), NewPackedF32(width, positions)
	v := make([]float32, width)
	for p := range positions {
		for i := range v {
			v[i] = float32(100*p + i)
		}
		keys.SetRow(p, v)
		values.SetCol(p, v)
	}
	beam := NewPackedF32(positions+20, width+3)
	beam.CopyFrom(keys, 33, width)
	for p := range positions {
		for i := range width {
			want := float32(100*p + i)
			if keys.at(p, i) != want || values.at(i, p) != want || p < 33 && beam.at(p, i) != want {
				t.Fatalf("(%d,%d): keys %v, values %v, copy %v, want %v",
					p, i, keys.at(p, i), values.at(i, p), beam.at(p, i), want)
			}
		}
	}
}

func TestPackedAligned(t *testing.T) {
	for n := 1; n < 200; n += 7 {
		p := NewPackedF32(n, n)
		if uintptr(unsafe.Pointer(&p.data[0]))%64 != 0 {
			t.Fatalf("%d×%d is not aligned to 64 bytes", n, n)
		}
	}
}
