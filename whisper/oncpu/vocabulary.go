package oncpu

import "earshot/cpu"

// vocabulary is the matrix [V, D] of the tokens: its rows are what they are embedded as,
// and the products with it are the logits.
//
// In int8 it is most of what a token reads: 20 of tiny.en's 28 MB. Since logits matter
// only where they are large, it is split: a first pass reads the upper half of every
// byte, and only the rest of what may count (see cpu.SplitI8).
type vocabulary struct {
	f32         *cpu.PackedF32
	i8          *cpu.SplitI8
	size, width int // V, D
}

// logitMargin is how far below the largest a logit may be rough: e⁻⁸ of its
// probability. In 515 steps of tiny.en and base the largest was always among the first 3 of
// the first pass, whose error is 0.5 for tiny.en and 0.8 for base (a standard deviation);
// some 36 logits are within the margin.
const logitMargin = 8

// embed is row `token` in float32.
func (v *vocabulary) embed(token int, dst []float32) {
	if v.i8 == nil {
		v.f32.Row(token, dst)
		return
	}
	v.i8.Row(token, dst)
}

// logits is y[r] = W·x[r] for rows of x [rows, D], y [rows, V].
func (v *vocabulary) logits(pool *cpu.Pool, y, x []float32, rows int) {
	if v.i8 == nil {
		pool.GemmF32(y, v.size, x, v.width, rows, v.f32, v.size, v.width, nil)
		return
	}
	pool.LargestI8(y, v.size, x, v.width, rows, v.i8, logitMargin)
}
