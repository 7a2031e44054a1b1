package cpu

import "testing"

// TestPeak holds the measured limits against the kernels, which may not be above
// them, and against what any machine has.
func TestPeak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f32, i8, read := MeasurePeakF32(1), MeasurePeakI8(1), MeasurePeakRead(1)
	t.Logf("%s, 1 thread: %.1f GFLOP/s, %.1f GOP/s in int8, reads %.1f GB/s", Tier(), f32/1e9, i8/1e9, read/1e9)
	for name, got := range map[string]float64{"float32": f32, "int8": i8, "read": read} {
		if got < 1e7 || got > 1e13 {
			t.Errorf("%s: %g a second", name, got)
		}
	}
}

// TestPeakWork sees that the loops do what they count.
func TestPeakWork(t *testing.T) {
	for _, tier := range tiers {
		if once, twice := tier.peakF32(100), tier.peakF32(200); once < 100*2 || twice != 2*once {
			t.Errorf("%s: %d float32 operations in 100 turns, %d in 200", tier.name, once, twice)
		}
		if once, twice := tier.peakI8(100), tier.peakI8(200); once < 100*2 || twice != 2*once {
			t.Errorf("%s: %d int8 operations in 100 turns, %d in 200", tier.name, once, twice)
		}
		x := make([]float32, 3*readStep)
		for i := range x {
			x[i] = float32(i)
		}
		if got, want := tier.peakRead(x), float32(len(x)*(len(x)-1)/2); got != want {
			t.Errorf("%s: read sums to %g, want %g", tier.name, got, want)
		}
	}
}
