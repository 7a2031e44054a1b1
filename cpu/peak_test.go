package cpu

import "testing"

func TestPeak(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		f32, i8 := Peak()
		t.Logf("%.1f GFLOP/s in float32, %.1f GOP/s in int8", f32/1e9, i8/1e9)
		if none := Tier() == "generic"; none != (f32 == 0) || none != (i8 == 0) {
			t.Errorf("got %v and %v", f32, i8)
		}
	})
}

// BenchmarkPeak is what the figures of the products are to be compared with.
func BenchmarkPeak(b *testing.B) {
	var f32, i8 float64
	for b.Loop() {
		x, y := Peak()
		f32, i8 = max(f32, x), max(i8, y)
	}
	b.ReportMetric(f32/1e9, "GFLOP/s")
	b.ReportMetric(i8/1e9, "GOP/s")
	b.ReportMetric(0, "ns/op")
}
