package cpu

import (
	"math"
	"slices"
	"testing"
)

// TestRotateI8 compares with the matrix, a product over what c and d are in the
// number system of the steps: 1 − 2/n where a digit is the same, and −2/n where it
// differs.
func TestRotateI8(t *testing.T) {
	for k, steps := range map[int][]int{
		0: nil, 1: nil, 8: nil, 12: nil, 31: nil, mostRotatedI8 + 16: nil,
		16: {4, 4}, 32: {4, 4}, 48: {4, 4, 3}, 64: {4, 4, 4}, 80: {4, 4}, 96: {4, 4, 3},
		144: {4, 4, 3}, 160: {4, 4}, 192: {4, 4, 4, 3}, 384: {4, 4, 4, 3}, 512: {4, 4, 4, 4},
		768: {4, 4, 4, 4, 3}, 1024: {4, 4, 4, 4, 4}, 1536: {4, 4, 4, 4, 3}, 2048: {4, 4, 4, 4, 4},
		mostRotatedI8: {4, 4, 4, 4, 4, 4},
	} {
		x := make([]float32, k)
		for i := range x {
			x[i] = float32(i*i%97 - 48)
		}
		r := slices.Clone(x)
		rotateI8(r)
		for c := 0; c < k; c += 1 + k/128 {
			var want float64
			for d := range k {
				want += entry(steps, c, d) * float64(x[d])
			}
			if math.Abs(float64(r[c])-want) > 1e-3 {
				t.Fatalf("%d: %d is %v, want %v", k, c, r[c], want)
			}
		}
		rotateI8(r)
		for i := range r {
			if math.Abs(float64(r[i]-x[i])) > 1e-4 {
				t.Fatalf("%d: twice, %d is %v, want %v", k, i, r[i], x[i])
			}
		}
	}
}

// entry is the element of the matrix in row c and column d.
func entry(steps []int, c, d int) float64 {
	product := 1.0
	for _, n := range steps {
		same := c%n == d%n
		c, d = c/n, d/n
		product *= -2 / float64(n)
		if same {
			product *= 1 - float64(n)/2 // to 1 − 2/n
		}
	}
	if c != d {
		return 0
	}
	return product
}
