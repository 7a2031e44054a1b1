package onnpu

import (
	"fmt"

	"earshot/npu/graph"
)

// Cut builds the graphs of the encoder for a window of so many positions, in the order in
// which they run. Each takes what the one before it returned; with attention on the CPU a
// graph takes the stream and what was attended to, and returns the stream, Q, K and V.
// The first takes mel [1, 2n+2, 1, M], with a frame of zeros before and behind it and n
// rounded up where the strategy needs that, or the stem's result. The last returns the
// encoder's states, and cross-attention keys and values where they are asked for.
func Cut(p *Parameters, f Form, s Strategy, positions int) []*graph.Graph {
	if s.AllHeads && s.Attention != BatchMatMul {
		panic("BUG: all heads at once without BATCH_MATMUL")
	}
	w := windowCutter{parameters: p, form: f, strategy: s, positions: positions}
	if s.Stem == StemApart {
		c := w.begin()
		c.Output(c.stem(c.input()))
	}
	if s.Attention == OnCPU {
		w.aroundAttention()
	} else {
		w.inGroups()
	}
	return w.graphs
}

type windowCutter struct {
	parameters *Parameters
	form       Form
	strategy   Strategy
	positions  int
	graphs     []*graph.Graph
}

// begin starts the next graph.
func (w *windowCutter) begin() *cutter {
	name := fmt.Sprintf("%s encoder, %d positions, %+v, %+v, graph %d", w.parameters.name, w.positions, w.form, w.strategy, len(w.graphs))
	g := graph.New(name)
	w.graphs = append(w.graphs, g)
	return &cutter{
		net:       &net{Graph: g, parameters: w.parameters, form: w.form, constants: map[string]*graph.Tensor{}},
		strategy:  w.strategy,
		positions: w.positions,
		padded:    roundUp(w.positions, w.strategy.Attention.align()),
	}
}

// input is what the stem takes.
func (c *cutter) input() *graph.Tensor {
	return c.Input("mel", graph.Float16, 1, 2*c.padded+2, 1, c.parameters.dims.Mels)
}

// stream is rows that come from another graph or from the CPU.
func (c *cutter) stream(name string) *graph.Tensor {
	return c.Input(name, graph.Float16, c.rows(c.padded, c.parameters.dims.AudioState)...)
}

// first is what the first layer gets.
func (c *cutter) first() *graph.Tensor {
	if c.strategy.Stem == StemInside {
		return c.stem(c.input())
	}
	return c.stream("x")
}

func (w *windowCutter) inGroups() {
	layers, each := w.parameters.dims.AudioLayers, w.strategy.Layers
	if each == 0 {
		each = layers
	}
	c := w.begin()
	x := c.first()
	next := func() {
		c.Output(x)
		c = w.begin()
		x = c.stream("x")
	}
	for layer := range layers {
		if layer > 0 && (layer%each == 0 || w.strategy.Parts) {
			next()
		}
		if x = c.attend(x, layer); w.strategy.Parts {
			next()
		}
		x = c.feedForward(x, layer)
	}
	c.finish(x)
}

// aroundAttention has a graph before the first layer's attention, one between each two,
// and one behind the last.
func (w *windowCutter) aroundAttention() {
	c := w.begin()
	x := c.first()
	if w.strategy.Stem == StemInside {
		c.Output(x) // otherwise it came in
	}
	c.project(x, 0)
	for layer := range w.parameters.dims.AudioLayers {
		c := w.begin()
		x, context := c.stream("x"), c.stream("context")
		x = c.feedForward(c.output(x, context, layer), layer)
		if next := layer + 1; next < w.parameters.dims.AudioLayers {
			c.Output(x)
			c.project(x, next)
			continue
		}
		c.finish(x)
	}
}

// project returns Q, K and V.
func (c *cutter) project(x *graph.Tensor, layer int) {
	name := block(layer) + ".attn"
	y := c.norm(x, name+"_ln")
	for _, what := range []string{"query", "key", "value"} {
		c.Output(c.linear(y, name+"."+what, 0, columnsOf(x)))
	}
}

// finish returns the encoder's states, and what the decoder attends to.
func (c *cutter) finish(x *graph.Tensor) {
	c.Output(x)
	if !c.strategy.CrossKV {
		return
	}
	for layer := range c.parameters.dims.TextLayers {
		name := fmt.Sprintf("decoder.blocks.%d.cross_attn.", layer)
		c.Output(c.linear(x, name+"key", 0, columnsOf(x)))
		c.Output(c.linear(x, name+"value", 0, columnsOf(x)))
	}
}
