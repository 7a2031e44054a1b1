package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestExpError measures exp, as softmax uses it, against float64: the row {0, x}
// gives exp(x)/(1+exp(x)), whose quotient by 1/(1+exp(x)) is exp(x) again.
func TestExpError(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var worst, at float64
		for x := float32(0); x > -87; x -= 0.00037 {
			row := [2]float32{0, x}
			SoftmaxF32(row[:])
			got := float64(row[1]) / float64(row[0])
			want := math.Exp(float64(x))
			if e := math.Abs(got-want) / want; e > worst {
				worst, at = e, float64(x)
			}
		}
		t.Logf("largest relative error %.3g at %v", worst, at)
		if worst > 3e-7 { // exp and two roundings of the scale
			t.Errorf("relative error %v at %v", worst, at)
		}
	})
}

func TestGeluError(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var worst, at float64
		row := make([]float32, 0, 1<<20)
		for x := float32(-12); x < 12; x += 0.00003 {
			row = append(row, x)
		}
		got := slices.Clone(row)
		GeluF32(got)
		for i, x := range row {
			d := float64(x)
			want := d / 2 * math.Erfc(-d/math.Sqrt2)
			if e := math.Abs(float64(got[i])-want) / max(1, math.Abs(d)); e > worst {
				worst, at = e, d
			}
		}
		t.Logf("largest error %.3g at %v, in units of max(1,|x|)", worst, at)
		if worst > 3e-7 {
			t.Errorf("error %v at %v", worst, at)
		}
	})
}

func TestGeluSaturates(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		got := []float32{5.5, 7, 1e30, inf, -5.5, -7, -1e30, -inf, nan}
		GeluF32(got)
		compare(t, "gelu", got, []float32{5.5, 7, 1e30, inf, 0, 0, 0, nan, nan}, 3e-7)
		if got[6] != 0 {
			t.Errorf("gelu(-1e30) = %v, want 0", got[6])
		}
	})
}

func TestSoftmaxMasked(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for n := 1; n < 70; n++ {
			row := make([]float32, n)
			normals(rand.New(rand.NewPCG(1, uint64(n))), row, 4)
			long := slices.Clone(row)
			for range 41 {
				long = append(long, -inf)
			}
			SoftmaxF32(row)
			SoftmaxF32(long)
			if !slices.Equal(row, long[:n]) {
				t.Fatalf("a mask behind %d values changes them", n)
			}
			if slices.Max(long[n:]) != 0 {
				t.Fatalf("masked entries are %v", long[n:])
			}
			for i := range long {
				long[i] = -inf
			}
			SoftmaxF32(long)
			if slices.Max(long) != 0 || slices.Min(long) != 0 {
				t.Fatalf("a row that is all masked gives %v", long)
			}
		}
	})
}

func TestSoftmaxSums(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		row := make([]float32, 1500)
		normals(rand.New(rand.NewPCG(1, 9)), row, 3)
		SoftmaxF32(row)
		var sum float64
		for _, v := range row {
			sum += float64(v)
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("sum %v, want 1", sum)
		}
	})
}

func TestLayerNormError(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		var worst float64
		r := rand.New(rand.NewPCG(5, 5))
		for _, n := range []int{384, 512, 1280} {
			x, gamma, beta, got := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
			normals(r, gamma, 1)
			for range 50 {
				normals(r, x, 2)
				x[7] = 60 // Whisper's residual has such dimensions
				want := slices.Clone(got)
				layerNormF32Generic(want, x, gamma, beta)
				LayerNormF32(got, x, gamma, beta)
				for i := range got {
					worst = max(worst, math.Abs(float64(got[i]-want[i]))/max(1, math.Abs(float64(want[i]))))
				}
			}
		}
		t.Logf("largest error %.3g, in units of max(1,|want|)", worst)
		if worst > 1e-6 {
			t.Errorf("error %v", worst)
		}
	})
}

func TestArgmaxNone(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for n := range 600 {
			row := make([]float32, n)
			for i := range row {
				row[i] = nan
			}
			if got := ArgmaxF32(row); got != -1 {
				t.Fatalf("%d NaN: %d, want -1", n, got)
			}
			if n == 0 {
				continue
			}
			row[n-1] = -inf
			if got := ArgmaxF32(row); got != n-1 {
				t.Fatalf("−Inf behind %d NaN: %d", n-1, got)
			}
		}
	})
}

// TestArgmaxPlaces has the maximum at all places of a row of several blocks, an
// equal at its end and NaN in between.
func TestArgmaxPlaces(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		row := make([]float32, 1111)
		normals(rand.New(rand.NewPCG(2, 5)), row, 1)
		for i := 0; i < len(row); i += 5 {
			row[i] = nan
		}
		for at := range row {
			before := row[at]
			row[at] = 50
			last := row[len(row)-1]
			row[len(row)-1] = 50
			if got := ArgmaxF32(row); got != at {
				t.Fatalf("maximum at %d: got %d", at, got)
			}
			row[len(row)-1] = last
			row[at] = before
		}
	})
}
