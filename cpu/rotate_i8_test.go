package cpu

import (
	"math/bits"
	"slices"
	"testing"
)

// TestRotateI8 compares with the matrix, by integers, whose sums are exact: H[c,d] is −1
// to the number of bits that the places of c and d among the runs of 16 have in common,
// below the odd part of how many runs there are.
func TestRotateI8(t *testing.T) {
	for k, gain := range map[int]int{
		0: 1, 1: 1, 16: 1, 31: 1, 32: 2, 48: 1, 64: 4, 96: 2, 160: 2, 384: 8, 512: 32, 1536: 32,
		mostRotatedI8: 512, mostRotatedI8 + 32: 1,
	} {
		if got := gainI8(k); got != float32(gain) {
			t.Errorf("%d: gain %v, want %d", k, got, gain)
		}
		x := make([]float32, k)
		for i := range x {
			x[i] = float32(i*i%97 - 48)
		}
		r := slices.Clone(x)
		rotateI8(r)
		for c := range r {
			var want float32
			for d := c % 16; d < k; d += 16 {
				switch a, b := c/16, d/16; {
				case a/gain != b/gain:
				case bits.OnesCount(uint(a%gain&(b%gain)))%2 == 1:
					want -= x[d]
				default:
					want += x[d]
				}
			}
			if k < 1<<12 && r[c] != want {
				t.Fatalf("%d: %d is %v, want %v", k, c, r[c], want)
			}
		}
		rotateI8(r)
		for i := range r {
			if r[i] != x[i]*float32(gain) {
				t.Fatalf("%d: twice, %d is %v, want %d times %v", k, i, r[i], gain, x[i])
			}
		}
	}
}
