package oncpu

import (
	"math"

	"earshot/cpu"
)

// vocabulary is the matrix [V, D] of the tokens: its rows are what they are embedded as,
// and the products with it are the logits.
//
// In int8 it is most of what a token reads: 20 of tiny.en's 28 MB. Since logits matter
// only where they are large, it is split: a first pass reads the upper half of every
// byte, and only the rest of what may count (see cpu.SplitI8).
//
// Some columns are much larger than others (tiny.en's largest 33 times its median), and
// a row's scale is that of its largest value. They are balanced: column c is multiplied
// by balance[c] and what it is multiplied with is divided by it, ahead of time (see
// newDecoder). These are powers of two, so that nothing is rounded. It halves the
// error of tiny.en's logits; the first pass is wrong by 0.6 (a standard deviation) instead of 2.8.
type vocabulary struct {
	f32     *cpu.PackedF32
	i8      *cpu.SplitI8
	balance []float32 // [D]; nil in float32
	size    int       // V
	width   int       // D
}

// logitMargin is how far below the largest a logit may be rough: e⁻⁸ of its
// probability. In 585 steps of tiny.en and base the largest was always among the first 5 of
// the first pass, and less than 2 below its first; some 30 logits are within the margin.
const logitMargin = 8

// embed is row `token` in float32.
func (v *vocabulary) embed(token int, dst []float32) {
	if v.i8 == nil {
		v.f32.Row(token, dst)
		return
	}
	v.i8.Row(token, dst)
	for c, b := range v.balance {
		dst[c] /= b
	}
}

// logits is y[r] = W·x[r] for rows of x [rows, D], y [rows, V].
func (v *vocabulary) logits(pool *cpu.Pool, y, x []float32, rows int) {
	if v.i8 == nil {
		pool.GemmF32(y, v.size, x, v.width, rows, v.f32, v.size, v.width, nil)
		return
	}
	pool.LargestI8(y, v.size, x, v.width, rows, v.i8, logitMargin)
}

// balanceOf is one over the root of each column's root mean square, to the nearest power
// of two.
func balanceOf(w []float32, width int) []float32 {
	squares, balance := make([]float64, width), make([]float32, width)
	for i, v := range w {
		squares[i%width] += float64(v) * float64(v)
	}
	for c, s := range squares {
		balance[c] = 1
		if mean := s * float64(width) / float64(len(w)); mean > 1e-20 && mean < 1e20 {
			balance[c] = float32(math.Exp2(-math.Round(math.Log2(mean) / 4)))
		}
	}
	return balance
}

// balanced is W with its columns multiplied.
func balanced(w, balance []float32) []float32 {
	for i := range w {
		w[i] *= balance[i%len(balance)]
	}
	return w
}

// unbalanced is a normalisation whose results are divided by the balance.
func (n norm) unbalanced(balance []float32) norm {
	if balance == nil {
		return n
	}
	to := norm{make([]float32, len(balance)), make([]float32, len(balance))}
	for c, b := range balance {
		to.gamma[c], to.beta[c] = n.gamma[c]/b, n.beta[c]/b
	}
	return to
}
