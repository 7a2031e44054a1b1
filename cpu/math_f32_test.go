package cpu

import (
	"math"
	"testing"
)

func TestLog10Error(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var row []float32
		for x := 0x1p-126; x < math.MaxFloat32; x *= 1.00007 {
			row = append(row, float32(x))
		}
		got := append([]float32(nil), row...)
		Log10F32(got, 0x1p-126)
		var worst, at float64
		for i, x := range row {
			want := math.Log10(float64(x))
			if e := math.Abs(float64(got[i])-want) / max(1, math.Abs(want)); e > worst {
				worst, at = e, float64(x)
			}
		}
		t.Logf("largest error %.3g at %v, in units of max(1,|log10 x|)", worst, at)
		if worst > 3e-7 {
			t.Errorf("error %v at %v", worst, at)
		}
	})
}

func TestLog10Floor(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for x, want := range map[float32]float32{
			0: -10, -1: -10, 1e-11: -10, 1e-10: -10, 1e-9: -9, 1: 0, 1e5: 5, inf: -10, -inf: -10, nan: -10, denorm: -10,
		} {
			row := []float32{x, 10, x}
			Log10F32(row, 1e-10)
			compare(t, "log10", row, []float32{want, 1, want}, 3e-7)
			if want == -10 && row[0] != -10 {
				t.Errorf("log10(%v) = %v, want the floor's logarithm to the bit", x, row[0])
			}
		}
	})
}

func TestSigmoidError(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var row []float32
		for x := float32(-100); x < 100; x += 0.0013 {
			row = append(row, x)
		}
		got := append([]float32(nil), row...)
		SigmoidF32(got)
		var worst, at float64
		for i, x := range row {
			want := 1 / (1 + math.Exp(-float64(x)))
			if e := math.Abs(float64(got[i]) - want); e > worst {
				worst, at = e, float64(x)
			}
		}
		t.Logf("largest error %.3g at %v", worst, at)
		if worst > 2e-7 {
			t.Errorf("error %v at %v", worst, at)
		}
	})
}
