package oncpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"earshot/cpu"
)

// TestVocabulary has a column that is far larger than the others, as tiny.en's has.
// Embeddings come back and the largest logits are right all the same.
func TestVocabulary(t *testing.T) {
	const size, width, rows = 1000, 128, 2
	r := rand.New(rand.NewPCG(1, 1))
	w, x := make([]float32, size*width), make([]float32, rows*width)
	for i := range w {
		if w[i] = float32(r.NormFloat64()) * 0.01; i%width == 7 {
			w[i] = 0.3 + w[i]
		}
	}
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	pool := cpu.NewPool(1)
	defer pool.Close()
	v := inMemory{Int8}.vocabulary(size, width, func() []float32 { return w })
	row := make([]float32, width)
	for i := range size {
		v.embed(i, row)
		for c, got := range row {
			if want := w[i*width+c]; math.Abs(float64(got-want)) > 0.002 { // the column is shared out among 8, with steps of 0.001
				t.Fatalf("row %d column %d is %v, want %v", i, c, got, want)
			}
		}
	}
	y := make([]float32, rows*size)
	v.logits(pool, y, x, rows)
	for i := range y {
		var want float64
		for c := range width {
			want += float64(w[i%size*width+c]) * float64(x[i/size*width+c])
		}
		if math.Abs(float64(y[i])-want) > 0.03 { // all are within the margin
			t.Fatalf("logit %d is %v, want %v", i, y[i], want)
		}
	}
}
