// Package oncpu is Whisper's network on the kernels and threads of package cpu: the
// backend that users run. Weights are packed once when the model is loaded, then
// the model file is no longer needed.
//
// It computes what whisper/ref defines, to the tolerance in whisper/backendtest.
// Neither Encoder nor Decoder is safe for concurrent use, but one goroutine may
// encode while another decodes, on one pool too: they take turns, matrix product by
// matrix product.
package oncpu

import (
	"math"

	"earshot/cpu"
	"earshot/whisper/weights"
)

// linear is y = W·x + b, with W packed [out, in] and b [out] or nil.
type linear struct {
	weight  *cpu.PackedF32
	bias    []float32
	out, in int
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

// reader packs tensors and keeps the first error, so that a network reads as a
// list of its tensors.
type reader struct {
	model *weights.Model
	err   error
}

func (r *reader) tensor(name string, shape ...int) []float32 {
	size := 1
	for _, n := range shape {
		size *= n
	}
	if r.err == nil {
		var v []float32
		if v, r.err = r.model.F32(name, shape...); r.err == nil {
			return v
		}
	}
	return make([]float32, size) // keeps the packing below from having to look at errors
}

func (r *reader) norm(name string, width int) norm {
	return norm{r.tensor(name+".weight", width), r.tensor(name+".bias", width)}
}

func (r *reader) linear(name string, out, in int) linear {
	w := r.tensor(name+".weight", out, in)
	return linear{cpu.PackF32(w, out, in, in, 1), r.tensor(name+".bias", out), out, in}
}

// stacked packs several square projections of width D below each other. The key
// projection has no bias in Whisper; its place is filled with zeros. The query is
// scaled by 1/√d (d: width of a head), a power of two for every published size.
func (r *reader) stacked(name string, width, heads int, parts ...string) linear {
	l := linear{out: len(parts) * width, in: width}
	l.bias = make([]float32, l.out)
	all := make([]float32, 0, l.out*width)
	for i, part := range parts {
		w := r.tensor(name+"."+part+".weight", width, width)
		bias := l.bias[i*width : (i+1)*width]
		if part != "key" {
			copy(bias, r.tensor(name+"."+part+".bias", width))
		}
		if part == "query" {
			scale := float32(1 / math.Sqrt(float64(width/heads)))
			cpu.ScaleF32(w, scale)
			cpu.ScaleF32(bias, scale)
		}
		all = append(all, w...)
	}
	l.weight = cpu.PackF32(all, l.out, width, width, 1)
	return l
}

func (r *reader) selfAttention(name string, width, heads int) attention {
	return attention{r.stacked(name, width, heads, "query", "key", "value"), r.linear(name+".out", width, width), heads}
}

func (r *reader) crossAttention(name string, width, heads int) crossAttention {
	return crossAttention{
		query: r.stacked(name, width, heads, "query"),
		kv:    r.stacked(name, width, heads, "key", "value"),
		out:   r.linear(name+".out", width, width),
		heads: heads,
	}
}

func (r *reader) mlp(name string, width int) mlp {
	return mlp{
		norm: r.norm(name+"mlp_ln", width),
		up:   r.linear(name+"mlp.0", 4*width, width),
		down: r.linear(name+"mlp.2", width, 4*width),
	}
}

// apply is y[r] = W·x[r] + b for rows of x [rows, in], y [rows, out].
func (l *linear) apply(pool *cpu.Pool, y, x []float32, rows int) {
	pool.GemmF32(y, l.out, x, l.in, rows, l.weight, l.out, l.in, l.bias)
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
