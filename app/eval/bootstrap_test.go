package eval

import (
	"math"
	"testing"
)

func TestPairedBootstrap(t *testing.T) {
	const n = 200
	words, a, same, better := make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		words[i] = 20
		a[i], same[i] = i%5, (i+1)%5 // equal sums, different clips
		better[i] = a[i] / 2
	}
	low, high := PairedBootstrap(a, same, words, 4000, 7)
	if !(low < 0 && 0 < high) {
		t.Errorf("equal systems: [%.4f, %.4f] does not hold 0", low, high)
	}
	// a − same is −1 four times in five and 4 once: variance 4, so the mean of 200 has
	// deviation √(4/200) = 0.141 errors, of 20 words 0.00707; ±1.96 of it.
	if want := 1.96 * math.Sqrt(4.0/n) / 20; math.Abs(low+want) > 0.1*want || math.Abs(high-want) > 0.1*want {
		t.Errorf("equal systems: [%.4f, %.4f], theory ±%.4f", low, high, want)
	}
	if low, high = PairedBootstrap(a, better, words, 1000, 7); low <= 0 || high > 0.2 {
		t.Errorf("A worse: [%.4f, %.4f], want above 0", low, high)
	}
	low2, high2 := PairedBootstrap(a, better, words, 1000, 7)
	if low2 != low || high2 != high {
		t.Error("same seed, other interval")
	}
	if low, high = PairedBootstrap(a, a, words, 100, 1); low != 0 || high != 0 {
		t.Errorf("same system: [%v, %v]", low, high)
	}
	for _, words := range [][]int{nil, {0, 0}} {
		e := make([]int, len(words))
		if low, high := PairedBootstrap(e, e, words, 100, 1); low != 0 || high != 0 {
			t.Errorf("no words: [%v, %v]", low, high)
		}
	}
}
