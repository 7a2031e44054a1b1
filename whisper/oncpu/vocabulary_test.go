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
	const size, width, rows = 1000, 96, 2
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
	v := inMemory{Int8}.vocabulary(size, width, func() []float32 { return append([]float32(nil), w...) })
	post := norm{x[:width], x[width:]}.unbalanced(v.balance)
	for c, b := range v.balance {
		if fraction, _ := math.Frexp(float64(b)); fraction != 0.5 || post.gamma[c]*b != x[c] || post.beta[c]*b != x[width+c] {
			t.Fatalf("column %d is balanced by %v", c, b)
		}
	}
	row := make([]float32, width)
	for i := range size {
		v.embed(i, row)
		for c, got := range row {
			if want := w[i*width+c]; math.Abs(float64(got-want)) > 0.001 && math.Abs(float64(got-want)) > 0.01*math.Abs(float64(want)) {
				t.Fatalf("row %d column %d is %v, want %v", i, c, got, want)
			}
		}
	}
	scaled := append([]float32(nil), x...)
	for i := range scaled {
		scaled[i] /= v.balance[i%width]
	}
	y := make([]float32, rows*size)
	v.logits(pool, y, scaled, rows)
	for i := range y {
		var want float64
		for c := range width {
			want += float64(w[i%size*width+c]) * float64(x[i/size*width+c])
		}
		if math.Abs(float64(y[i])-want) > 0.01 { // all are within the margin
			t.Fatalf("logit %d is %v, want %v", i, y[i], want)
		}
	}
}
