// Package oncpu is Whisper's network on the kernels and threads of package cpu: the
// backend that users run. Matrices are signed bytes with a scale per row, with
// activations quantised row by row as they come, or float32.
//
// It computes what whisper/ref defines, in float32 to the tolerance in
// whisper/backendtest. Neither Encoder nor Decoder is safe for concurrent use, but one
// goroutine may encode while another decodes, on one pool too: they take turns, matrix
// product by matrix product.
package oncpu

import (
	"earshot/cpu"
)

// linear is y = W·x + b, with W packed [out, in] and b [out] or nil.
type linear struct {
	weight  matrix
	bias    []float32
	out, in int
}

// matrix is a packed matrix in one of the two precisions.
type matrix struct {
	f32 *cpu.PackedF32
	i8  *cpu.PackedI8
}

// norm is a layer normalisation's gain and offset, both [D].
type norm struct{ gamma, beta []float32 }

// attention holds Q, K and V as one matrix [3D, D] where all come from the same
// input (self-attention), so that they are one multiplication. Q is scaled by
// 1/√d on the way in, so that no score has to be.
type attention struct {
	qkv, out linear
	heads    int
}

// crossAttention takes Q from the text and K and V, stacked [2D, D], from the audio.
type crossAttention struct {
	query, kv, out linear
	heads          int
}

type mlp struct {
	norm     norm
	up, down linear // [4D, D] and [D, 4D]
}

// apply is y[r] = W·x[r] + b for rows of x [rows, in], y [rows, out].
func (l *linear) apply(pool *cpu.Pool, y, x []float32, rows int) {
	l.applyTo(pool, y, l.out, x, l.in, rows)
}

// applyTo is apply with ldy and ldx values from row to row; ldx may be less than in.
func (l *linear) applyTo(pool *cpu.Pool, y []float32, ldy int, x []float32, ldx, rows int) {
	if l.weight.i8 != nil {
		pool.GemmI8(y, ldy, x, ldx, rows, l.weight.i8, l.bias)
		return
	}
	pool.GemmF32(y, ldy, x, ldx, rows, l.weight.f32, l.out, l.in, l.bias)
}

// apply normalises each row of x [rows, D] into y, which may be x.
func (n *norm) apply(pool *cpu.Pool, y, x []float32) {
	pool.LayerNormF32(y, x, n.gamma, n.beta)
}

// add is x += W₂·gelu(W₁·norm(x)) for x [rows, D]; y [rows, D] and hidden
// [rows, 4D] are scratch.
func (m *mlp) add(pool *cpu.Pool, x, y, hidden []float32, rows int) {
	m.norm.apply(pool, y, x)
	m.up.apply(pool, hidden, y, rows)
	pool.GeluF32(hidden)
	m.down.apply(pool, y, hidden, rows)
	pool.AddF32(x, y)
}
