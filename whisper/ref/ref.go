// Package ref is Whisper's network in plain Go: one loop per equation, no kernels,
// no threads. It is slow and meant to be read. It is the definition that the fast
// backends are compared to (whisper/backendtest).
//
// Values are float32; sums run in float64, so that its own rounding is out of the
// comparison. The equations are those of Radford et al. 2022 (arXiv:2212.04356)
// and of model.py in the reference implementation.
package ref

import (
	"fmt"

	"earshot/whisper"
	"earshot/whisper/weights"
)

// Network holds a model's tensors. It is an Encoder and a Decoder. It is not
// written to after New, but follows the contracts: not for concurrent use.
type Network struct {
	dims    whisper.Dims
	encoder encoder
	decoder decoder
}

// linear is y = W·x + b with W [out, in] row-major and b [out], or nil.
type linear struct {
	weight, bias []float32
	out, in      int
}

// norm is a layer normalisation's gain and offset, both [D].
type norm struct{ gamma, beta []float32 }

// attention is multi-head attention over states of width D.
type attention struct {
	query, key, value, out linear
	heads                  int
}

type block struct {
	attnNorm  norm
	attn      attention
	crossNorm norm      // decoder only
	cross     attention // decoder only
	mlpNorm   norm
	mlp0      linear // [4D, D]
	mlp2      linear // [D, 4D]
}

// encoder holds conv weights as [D, in, 3]: output, input channel, tap.
type encoder struct {
	conv1, conv1Bias []float32
	conv2, conv2Bias []float32
	positions        []float32 // [AudioCtx, D]
	blocks           []block
	post             norm
}

type decoder struct {
	tokens    []float32 // [V, D]
	positions []float32 // [TextCtx, D]
	blocks    []block
	post      norm
}

// New copies the tensors out of m. It returns an error when one is missing,
// damaged or of another shape.
func New(m *weights.Model) (*Network, error) {
	d := whisper.Dims(m.Header.Dims)
	r := reader{model: m}
	n := &Network{dims: d}
	n.encoder = encoder{
		conv1:     r.tensor("encoder.conv1.weight", d.AudioState, d.Mels, 3),
		conv1Bias: r.tensor("encoder.conv1.bias", d.AudioState),
		conv2:     r.tensor("encoder.conv2.weight", d.AudioState, d.AudioState, 3),
		conv2Bias: r.tensor("encoder.conv2.bias", d.AudioState),
		positions: r.tensor("encoder.positional_embedding", d.AudioCtx, d.AudioState),
		post:      r.norm("encoder.ln_post", d.AudioState),
	}
	for i := range d.AudioLayers {
		n.encoder.blocks = append(n.encoder.blocks, r.block(fmt.Sprintf("encoder.blocks.%d.", i), d.AudioState, d.AudioHeads, false))
	}
	n.decoder = decoder{
		tokens:    r.tensor("decoder.token_embedding.weight", d.Vocab, d.TextState),
		positions: r.tensor("decoder.positional_embedding", d.TextCtx, d.TextState),
		post:      r.norm("decoder.ln", d.TextState),
	}
	for i := range d.TextLayers {
		n.decoder.blocks = append(n.decoder.blocks, r.block(fmt.Sprintf("decoder.blocks.%d.", i), d.TextState, d.TextHeads, true))
	}
	if r.err != nil {
		return nil, r.err
	}
	return n, nil
}

// reader keeps the first error, so that a network reads as a list of its tensors.
type reader struct {
	model *weights.Model
	err   error
}

func (r *reader) tensor(name string, shape ...int) []float32 {
	if r.err != nil {
		return nil
	}
	v, err := r.model.F32(name, shape...)
	r.err = err
	return v
}

func (r *reader) norm(name string, width int) norm {
	return norm{r.tensor(name+".weight", width), r.tensor(name+".bias", width)}
}

func (r *reader) linear(name string, out, in int, bias bool) linear {
	l := linear{weight: r.tensor(name+".weight", out, in), out: out, in: in}
	if bias {
		l.bias = r.tensor(name+".bias", out)
	}
	return l
}

func (r *reader) attention(name string, width, heads int) attention {
	return attention{
		query: r.linear(name+".query", width, width, true),
		key:   r.linear(name+".key", width, width, false), // a key bias cancels out in the softmax; Whisper has none
		value: r.linear(name+".value", width, width, true),
		out:   r.linear(name+".out", width, width, true),
		heads: heads,
	}
}

func (r *reader) block(name string, width, heads int, cross bool) block {
	b := block{
		attnNorm: r.norm(name+"attn_ln", width),
		attn:     r.attention(name+"attn", width, heads),
		mlpNorm:  r.norm(name+"mlp_ln", width),
		mlp0:     r.linear(name+"mlp.0", 4*width, width, true),
		mlp2:     r.linear(name+"mlp.2", width, 4*width, true),
	}
	if cross {
		b.crossNorm = r.norm(name+"cross_attn_ln", width)
		b.cross = r.attention(name+"cross_attn", width, heads)
	}
	return b
}
