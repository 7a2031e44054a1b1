package whisper

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAddMedian compares with the plain definition: the middle of seven sorted values.
func TestAddMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for n := 1; n <= 40; n++ {
		x, got := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(random.IntN(6)) // many are equal
		}
		addMedian(got, x)
		for i := range x {
			var window []float64
			for at := i - 3; at <= i+3; at++ {
				mirrored := max(at, -at)
				if mirrored >= n {
					mirrored = 2*(n-1) - mirrored
				}
				window = append(window, x[min(max(mirrored, 0), n-1)])
			}
			slices.Sort(window)
			if got[i] != window[3] {
				t.Fatalf("median %d of %v is %g, want %g", i, x, got[i], window[3])
			}
		}
	}
}

func BenchmarkAlignTokens(b *testing.B) {
	const tokens, positions, heads = 80, 1500, 8 // of a window of 30 s
	rows := make([][]float32, tokens+1)
	for i := range rows {
		rows[i] = make([]float32, heads*positions)
		for j := range rows[i] {
			rows[i][j] = 1 / float32(1+(i*positions/tokens-j%positions)*(i*positions/tokens-j%positions))
		}
	}
	for b.Loop() {
		alignTokens(rows, positions)
	}
}
