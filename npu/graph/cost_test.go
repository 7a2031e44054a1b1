package graph

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// Sizes of published models, as in facts/planner.md.
var published = []struct {
	name             string
	width, heads, ls int
}{{"tiny", 384, 6, 4}, {"base", 512, 8, 6}, {"small", 768, 12, 12}}

var seconds = []int{2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30}

func half(g *Graph, shape ...int) *Tensor {
	n := 2
	for _, d := range shape {
		n *= d
	}
	return g.Const("c", Float16, make([]byte, n), shape...)
}

func (g *Graph) dense(x *Tensor, out int) *Tensor {
	return g.FullyConnected(x, half(g, out, x.Shape[1]), half(g, out))
}

func (g *Graph) norm(x *Tensor) *Tensor {
	return g.LayerNorm(x, half(g, x.Shape[1]), half(g, x.Shape[1]), 1e-5)
}

// heads is x [n, D] as [H, n, D/H].
func (g *Graph) heads(x *Tensor, h int) *Tensor {
	return g.Transpose(g.Reshape(x, x.Shape[0], h, x.Shape[1]/h), 1, 0, 2)
}

// layer is an encoder layer in the plainest way.
func (g *Graph) layer(x *Tensor, h int) *Tensor {
	n, d := x.Shape[0], x.Shape[1]
	y := g.norm(x)
	q, k, v := g.heads(g.dense(y, d), h), g.heads(g.dense(y, d), h), g.heads(g.dense(y, d), h)
	c := g.BatchMatMul(g.Softmax(g.BatchMatMul(q, k, true)), v, false)
	x = g.Add(x, g.dense(g.Reshape(g.Transpose(c, 1, 0, 2), n, d), d))
	return g.Add(x, g.dense(g.Gelu(g.dense(g.norm(x), 4*d), false), d))
}

func (g *Graph) stem(n, d int) *Tensor {
	conv := func(x *Tensor, stride int) *Tensor {
		x = g.Pad(x, []int{0, 1, 0, 0}, []int{0, 1, 0, 0})
		return g.Gelu(g.Conv2D(x, half(g, d, 3, 1, x.Shape[3]), half(g, d), stride, 1), false)
	}
	x := conv(conv(g.Input("mel", Float16, 1, 2*n, 1, 80), 1), 2)
	return g.Add(g.Reshape(x, n, d), half(g, n, d))
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: %g, the formula says %g", what, got, want)
	}
}

// TestT1T2 compares weights and products with planner.md's formulas.
func TestT1T2(t *testing.T) {
	for _, m := range published {
		d, l := m.width, m.ls
		for _, s := range seconds {
			n := 50 * s
			g := New("encoder")
			x := g.stem(n, d)
			for range l {
				x = g.layer(x, m.heads)
			}
			g.Output(g.norm(x))
			c := g.Cost(AssumedMemory())
			what := fmt.Sprintf("%s, %d s", m.name, s)
			// The plain layer has a bias of zeros for keys, D more than Whisper; constants
			// begin at multiples of 128 bytes and end with a page.
			params := l*(12*d*d+13*d) + 3*80*d + d + 3*d*d + d + 2*d + n*d
			within(t, what+": weights", float64(c.Weights), 2*float64(params), 0.0005)
			within(t, what+": weights as in T1", float64(c.Weights), 2*float64(params-l*d), 0.002)
			macs := 2*n*d*240 + 3*n*d*d + l*(12*n*d*d+2*n*n*d)
			within(t, what+": FLOP", float64(c.FLOP), 2*float64(macs), 0)
		}
	}
}

// alive builds what T4's formulas count as alive at once in a layer: the residual, Q, K,
// V, the context and the scores of so many values, or the residual, the normalised
// residual and the hidden state.
func alive(n, d, scores int) (attention, feedForward *Graph) {
	a := New("attention")
	x := a.Input("x", Float16, n, d)
	r := a.Tanh(x)
	q, k, v := a.dense(x, d), a.dense(x, d), a.dense(x, d)
	c := a.Tanh(a.Input("c", Float16, n, d))
	s := a.Slice(a.Input("s", Float16, scores, 1), []int{0, 0}, []int{scores, 1})
	p := a.Softmax(s)
	for _, t := range []*Tensor{r, q, k, v, c, p} {
		a.Output(a.Mean(t))
	}
	f := New("feed forward")
	y := f.Tanh(f.Input("x", Float16, n, d))
	z := f.norm(y)
	h := f.Gelu(f.dense(z, 4*d), false)
	f.Output(f.Mean(z))
	f.Output(f.Add(y, f.dense(h, d)))
	return a, f
}

// TestT3T4 compares live bytes with the formulas. Whole pages are the only difference:
// under 1 % from 10 s on, and below at most a page for each of the tensors.
func TestT3T4(t *testing.T) {
	for _, m := range published {
		for _, s := range seconds {
			n, d := 50*s, m.width
			for name, scores := range map[string]int{"full": m.heads * n * n, "head": n * n, "query": m.heads * min(n, 128) * n} {
				a, f := alive(n, d, scores)
				for _, inPlace := range []bool{true, false} {
					memory := AssumedMemory()
					memory.InPlace = inPlace
					twice, hidden := 2, 8
					if inPlace {
						twice, hidden = 1, 4
					}
					what := fmt.Sprintf("%s, %d s, %s, in place %v", m.name, s, name, inPlace)
					largest := 5*n*d + twice*scores
					share := 0.01 + 7*4096/float64(2*largest)
					if s >= 10 {
						share = 0.01
					}
					within(t, what+": attention", float64(a.Cost(memory).Activations), 2*float64(largest), share)
					within(t, what+": feed forward", float64(f.Cost(memory).Activations), 2*float64((2+hidden)*n*d), share)
				}
			}
		}
	}
}

// TestLifetimes reads them off a small graph.
func TestLifetimes(t *testing.T) {
	g := New("test")
	x := g.Input("x", Float16, 64, 64)
	a := g.Mul(x, half(g, 64)) // 0
	b := g.Reshape(a, 4096)    // 1: where a is
	c := g.Tanh(b)             // 2: in place over a
	d := g.Reshape(c, 64, 64)  // 3
	e := g.Add(d, x)           // 4
	f := g.Tanh(d)             // 5: in place over c
	h := g.Add(e, f)           // 6
	o := g.Reshape(h, 64, 64)  // 7: h is written to the output
	g.Output(o)
	g.Output(g.Reshape(x, 4096)) // 8: a copy
	type life struct {
		tensors  []*Tensor
		from, to int
	}
	for inPlace, want := range map[bool][]life{
		false: {{[]*Tensor{a, b}, 0, 2}, {[]*Tensor{c, d}, 2, 5}, {[]*Tensor{e}, 4, 6}, {[]*Tensor{f}, 5, 6}},
		true:  {{[]*Tensor{a, b, c, d, f}, 0, 6}, {[]*Tensor{e}, 4, 6}},
	} {
		m := AssumedMemory()
		m.InPlace = inPlace
		got := g.Lifetimes(m)
		if len(got) != len(want) {
			t.Errorf("in place %v: %d lifetimes, want %d: %+v", inPlace, len(got), len(want), got)
			continue
		}
		for i, w := range want {
			if !slices.Equal(got[i].Tensors, w.tensors) || got[i].From != w.from || got[i].To != w.to || got[i].Bytes != 8192 {
				t.Errorf("in place %v: lifetime %d is %+v, want %+v", inPlace, i, got[i], w)
			}
		}
		c := g.Cost(m)
		if live := map[bool]int{false: 3, true: 2}[inPlace]; c.Live != live || c.Activations != live*8192 {
			t.Errorf("in place %v: %+v, want %d alive", inPlace, c, live)
		}
	}
}

func TestCost(t *testing.T) {
	g := New("test")
	x := g.Input("x", Float16, 10, 100) // 2000 bytes
	y := g.Input("y", Float16, 1, 1100) // at 2048, 4248 with it
	w := half(g, 60, 100)               // 12000
	z := g.FullyConnected(x, w, half(g, 60))
	g.Output(g.Tanh(z))
	g.Output(g.Tanh(y))
	want := Cost{Weights: 12288, Commands: 4096, Execution: 4096, Activations: 4096, Live: 1, Inputs: 8192, Outputs: 4096, Operations: 3,
		FLOP: 2 * 10 * 60 * 100, Moved: 2000 + 12000 + 120 + 1200 + 2*1200 + 2*2200}
	got := g.Cost(AssumedMemory())
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.Loaded() != 28672 || got.Running() != 8192 || got.RunningAllocations() != 2 {
		t.Errorf("%d bytes loaded, %d more and %d allocations while it runs", got.Loaded(), got.Running(), got.RunningAllocations())
	}
}
