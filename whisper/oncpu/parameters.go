package oncpu

import (
	"math"

	"earshot/cpu"
	"earshot/whisper/weights"
)

// parameters hands a network its parameters. They are asked for in one fixed order,
// which is the order of a packed file; values computes what is to be packed and is
// called at most once, and not where the parameter is there already.
type parameters interface {
	floats(n int, values func() []float32) []float32
	matrix(n, k int, values func() []float32) matrix
	vocabulary(n, k int, values func() []float32) vocabulary
}

// inMemory packs every parameter when it is asked for.
type inMemory struct{ precision Precision }

func (p inMemory) floats(n int, values func() []float32) []float32 { return values() }

func (p inMemory) matrix(n, k int, values func() []float32) matrix {
	if p.precision == Int8 {
		return matrix{i8: cpu.PackI8(values(), n, k)}
	}
	return matrix{f32: cpu.PackF32(values(), n, k, k, 1)}
}

func (p inMemory) vocabulary(n, k int, values func() []float32) vocabulary {
	if p.precision == Float32 {
		return vocabulary{f32: cpu.PackF32(values(), n, k, k, 1), size: n, width: k}
	}
	return vocabulary{i8: cpu.PackSplitI8(values(), n, k), size: n, width: k}
}

// reader takes tensors out of a model and keeps the first error, so that a network
// reads as a list of its tensors.
type reader struct {
	model *weights.Model
	to    parameters
	err   error
}

// tensor is the values of a tensor of the model; zeros after an error, so that
// what is done with them does not have to look.
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
	return make([]float32, size)
}

// floats is a tensor that stays in float32.
func (r *reader) floats(name string, shape ...int) []float32 {
	size := 1
	for _, n := range shape {
		size *= n
	}
	return r.to.floats(size, func() []float32 { return r.tensor(name, shape...) })
}

func (r *reader) norm(name string, width int) norm {
	return norm{r.floats(name+".weight", width), r.floats(name+".bias", width)}
}

func (r *reader) linear(name string, out, in int) linear {
	weight := r.to.matrix(out, in, func() []float32 { return r.tensor(name+".weight", out, in) })
	return linear{weight, r.floats(name+".bias", out), out, in}
}

func (r *reader) vocabulary(name string, size, width int) vocabulary {
	return r.to.vocabulary(size, width, func() []float32 { return r.tensor(name, size, width) })
}

// exact is linear in float32, whatever the precision.
func (r *reader) exact(name string, out, in int) linear {
	return r.packed(name, out, in, func() []float32 { return r.tensor(name+".weight", out, in) })
}

// conv reads a convolution's weight [out, in, 3] and lays it out as [out, 3, in],
// the order in which three consecutive frames lie in memory. Convolutions stay in
// float32: they are less than a tenth of the work, and all that is heard comes
// through them.
func (r *reader) conv(name string, out, in int) linear {
	return r.packed(name, out, 3*in, func() []float32 {
		w := r.tensor(name+".weight", out, in, 3)
		taps := make([]float32, len(w))
		for o := range out {
			for c := range in {
				for tap := range 3 {
					taps[(o*3+tap)*in+c] = w[(o*in+c)*3+tap]
				}
			}
		}
		return taps
	})
}

// packed is a linear of values [out, in] in float32.
func (r *reader) packed(name string, out, in int, values func() []float32) linear {
	weight := r.to.floats(cpu.SizeF32(out, in), func() []float32 { return cpu.PackF32(values(), out, in, in, 1).Data() })
	return linear{matrix{f32: cpu.ViewF32(out, in, weight)}, r.floats(name+".bias", out), out, in}
}

// stacked packs several square projections of width D below each other. The key
// projection has no bias in Whisper; its place is filled with zeros. The query is
// scaled by 1/√d (d: width of a head), a power of two for every published size.
func (r *reader) stacked(name string, width, heads int, parts ...string) linear {
	join := func(kind string, shape ...int) func() []float32 {
		return func() (all []float32) {
			for _, part := range parts {
				v := make([]float32, width)
				if part != "key" || kind != ".bias" {
					v = r.tensor(name+"."+part+kind, shape...)
				}
				if part == "query" {
					cpu.ScaleF32(v, float32(1/math.Sqrt(float64(width/heads))))
				}
				all = append(all, v...)
			}
			return all
		}
	}
	out := len(parts) * width
	weight := r.to.matrix(out, width, join(".weight", width, width))
	return linear{weight, r.to.floats(out, join(".bias", width)), out, width}
}

// selfAttention reads its output by `out`: linear or exact.
func (r *reader) selfAttention(name string, width, heads int, out func(name string, out, in int) linear) attention {
	return attention{r.stacked(name, width, heads, "query", "key", "value"), out(name+".out", width, width), heads}
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
