package onnpu

import (
	"fmt"
	"strconv"

	"earshot/npu/graph"
)

// cutter builds the graphs of a window.
type cutter struct {
	*net
	strategy  Strategy
	positions int // of the window
	padded    int // positions with those that only fill up; nobody attends to them
}

// stem runs both convolutions and adds the position table, for mel [1, 2n+2, 1, M] with a
// frame of zeros on either side. Position p sees conv1's frames 2p-1 to 2p+1; before the
// window conv1's frames are zeros too.
func (c *cutter) stem(mel *graph.Tensor) *graph.Tensor {
	d, bands := c.parameters.dims.AudioState, c.parameters.dims.Mels
	conv := func(x *graph.Tensor, name string, in, stride int) *graph.Tensor {
		w := c.constant(name+".weight", c.parameters.bytes(name+".weight", 0, d*3*in), d, 3, 1, in)
		return c.gelu(c.Conv2D(x, w, c.vector(name+".bias", d), stride, 1))
	}
	return c.inBlocks(c.padded, c.strategy.Rows, func(from, to int) *graph.Tensor {
		first := max(0, 2*from-1)
		x := mel
		if from > 0 || to < c.padded {
			x = c.Slice(mel, []int{0, first, 0, 0}, []int{1, 2*to + 2 - first, 1, bands})
		}
		x = conv(x, "encoder.conv1", bands, 1)
		if from == 0 {
			x = c.Pad(x, []int{0, 1, 0, 0}, []int{0, 0, 0, 0})
		}
		x = conv(x, "encoder.conv2", d, 2)
		name := "encoder.positional_embedding"
		table := c.constant(name+"["+strconv.Itoa(from)+":]", c.parameters.bytes(name, from*d, to*d), c.rows(to-from, d)...)
		return c.Add(c.as(x, c.rows(to-from, d)...), table)
	})
}

func block(layer int) string { return fmt.Sprintf("encoder.blocks.%d", layer) }

// attend is x + attention(norm(x)).
func (c *cutter) attend(x *graph.Tensor, layer int) *graph.Tensor {
	name := block(layer) + ".attn"
	y := c.norm(x, name+"_ln")
	if c.strategy.AllHeads {
		return c.output(x, c.allHeads(y, name), layer)
	}
	var contexts []*graph.Tensor
	for h := range c.parameters.dims.AudioHeads {
		contexts = append(contexts, c.head(y, name, h))
	}
	return c.output(x, c.join(len(x.Shape)-1, contexts), layer)
}

// output is x + attention's output projection of context.
func (c *cutter) output(x, context *graph.Tensor, layer int) *graph.Tensor {
	return c.Add(x, c.linear(context, block(layer)+".attn.out", 0, columnsOf(x)))
}

// head is softmax(Q·Kᵀ)·V of one head.
func (c *cutter) head(y *graph.Tensor, name string, h int) *graph.Tensor {
	width := columnsOf(y) / c.parameters.dims.AudioHeads
	project := func(what string) *graph.Tensor { return c.linear(y, name+"."+what, h*width, (h+1)*width) }
	q, k, v := project("query"), project("key"), project("value")
	if c.strategy.Attention != BatchMatMul {
		v = c.Transpose(c.as2(v), 1, 0)
	}
	return c.inBlocks(c.padded, c.strategy.QueryRows, func(from, to int) *graph.Tensor {
		return c.context(c.Softmax(c.scores(c.part(q, from, to), k)), v)
	})
}

func (c *cutter) as2(x *graph.Tensor) *graph.Tensor { return c.as(x, rowsOf(x), columnsOf(x)) }

// scores is q [r, d]·kᵀ with k [n, d], where nobody attends to the positions that fill up.
func (c *cutter) scores(q, k *graph.Tensor) *graph.Tensor {
	if c.strategy.Attention == BatchMatMul {
		return c.batch(q, k, true)
	}
	mask := c.filled("mask", c.padded, func(i int) float32 {
		if i < c.positions {
			return 0
		}
		return masked
	})
	return c.computed(q, k, mask)
}

// masked is what is added to scores that do not count: e to its power is 0.
const masked = -3e4

// context is p [r, n]·v with v [n, d], or [d, n] for computed weights.
func (c *cutter) context(p, v *graph.Tensor) *graph.Tensor {
	if c.strategy.Attention == BatchMatMul {
		return c.batch(p, v, false)
	}
	return c.computed(p, v, c.filled("no bias", rowsOf(v), func(int) float32 { return 0 }))
}

func (c *cutter) batch(a, b *graph.Tensor, transpose bool) *graph.Tensor {
	three := func(x *graph.Tensor) *graph.Tensor { return c.as(x, 1, rowsOf(x), columnsOf(x)) }
	out := c.BatchMatMul(three(a), three(b), transpose)
	return c.as(out, c.rows(rowsOf(out), columnsOf(out))...)
}

// computed is x·wᵀ + bias for computed w.
func (c *cutter) computed(x, w, bias *graph.Tensor) *graph.Tensor {
	var y *graph.Tensor
	if c.strategy.Attention == FullyConnected {
		y = c.FullyConnected(c.as2(x), c.as2(w), bias)
	} else {
		filter := c.Reshape(w, rowsOf(w), 1, 1, columnsOf(w))
		y = c.Conv2D(c.as(x, 1, rowsOf(x), 1, columnsOf(x)), filter, bias, 1, 1)
	}
	return c.as(y, c.rows(rowsOf(x), rowsOf(w))...)
}

// allHeads is softmax(Q·Kᵀ)·V of all heads at once.
func (c *cutter) allHeads(y *graph.Tensor, name string) *graph.Tensor {
	d, heads := columnsOf(y), c.parameters.dims.AudioHeads
	project := func(what string) *graph.Tensor {
		x := c.linear(y, name+"."+what, 0, d)
		return c.Transpose(c.Reshape(x, c.padded, heads, d/heads), 1, 0, 2)
	}
	q, k, v := project("query"), project("key"), project("value")
	var parts []*graph.Tensor
	rows := c.strategy.QueryRows
	if rows == 0 {
		rows = c.padded
	}
	for from := 0; from < c.padded; from += rows {
		part, r := q, min(rows, c.padded-from)
		if r < c.padded {
			part = c.Slice(q, []int{0, from, 0}, []int{heads, r, d / heads})
		}
		parts = append(parts, c.BatchMatMul(c.Softmax(c.BatchMatMul(part, k, true)), v, false))
	}
	x := c.Transpose(c.join(1, parts), 1, 0, 2)
	return c.Reshape(x, c.rows(c.padded, d)...)
}

// feedForward is x + W₂·gelu(W₁·norm(x)), and behind the last layer the norm of that.
func (c *cutter) feedForward(x *graph.Tensor, layer int) *graph.Tensor {
	d := columnsOf(x)
	return c.inBlocks(c.padded, c.strategy.Rows, func(from, to int) *graph.Tensor {
		p := c.part(x, from, to)
		hidden := c.gelu(c.linear(c.norm(p, block(layer)+".mlp_ln"), block(layer)+".mlp.0", 0, 4*d))
		p = c.Add(p, c.linear(hidden, block(layer)+".mlp.2", 0, d))
		if layer == c.parameters.dims.AudioLayers-1 {
			p = c.norm(p, "encoder.ln_post")
		}
		return p
	})
}
