package ref

import (
	"context"

	"earshot/whisper"
)

// Encode implements whisper.Encoder (AudioEncoder.forward in model.py).
func (n *Network) Encode(ctx context.Context, mel whisper.Mel) (whisper.Encoded, error) {
	if err := mel.Check(n.dims); err != nil {
		return whisper.Encoded{}, err
	}
	e, d := &n.encoder, n.dims
	x := make([]float32, mel.Frames*mel.Bands) // [T, M]
	for t := range mel.Frames {
		for b := range mel.Bands {
			x[t*mel.Bands+b] = mel.Data[b*mel.Frames+t]
		}
	}
	x = conv3(x, mel.Bands, e.conv1, e.conv1Bias, 1)
	x = conv3(x, d.AudioState, e.conv2, e.conv2Bias, 2)
	add(x, e.positions[:len(x)])
	for i := range e.blocks {
		if err := ctx.Err(); err != nil {
			return whisper.Encoded{}, err
		}
		b := &e.blocks[i]
		add(x, b.attn.over(b.attnNorm.apply(x)))
		b.addMLP(x)
	}
	return whisper.Encoded{Positions: mel.Frames / 2, Data: e.post.apply(x)}, nil
}

// conv3 is a convolution over time with 3 taps and one frame of zeros on either
// side, followed by GELU: x [T, in], weight [out, in, 3] → [⌈T/stride⌉, out].
func conv3(x []float32, in int, weight, bias []float32, stride int) []float32 {
	frames, out := len(x)/in, len(bias)
	steps := (frames + stride - 1) / stride
	y := make([]float32, steps*out)
	for s := range steps {
		for o := range out {
			sum := float64(bias[o])
			for tap := range 3 {
				t := s*stride + tap - 1
				if t < 0 || t >= frames {
					continue
				}
				for c := range in {
					sum += float64(x[t*in+c]) * float64(weight[(o*in+c)*3+tap])
				}
			}
			y[s*out+o] = float32(sum)
		}
	}
	gelu(y)
	return y
}

// over is self-attention of all rows over all rows, for x [n, D].
func (a *attention) over(x []float32) []float32 {
	width := a.query.out
	n, head := len(x)/width, width/a.heads
	q, k, v := a.query.apply(x), a.key.apply(x), a.value.apply(x)
	mixed := make([]float32, len(x))
	for r := range n {
		for h := range a.heads {
			at := r*width + h*head
			attend(mixed[at:at+head], q[at:at+head], k, v, n, width, h*head)
		}
	}
	return a.out.apply(mixed)
}

// addMLP is x += W₂·gelu(W₀·norm(x)), in place.
func (b *block) addMLP(x []float32) {
	hidden := b.mlp0.apply(b.mlpNorm.apply(x))
	gelu(hidden)
	add(x, b.mlp2.apply(hidden))
}
