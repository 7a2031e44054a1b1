package graph

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// refused says whether f panics as the builder does, and fails on any other panic.
func refused(t *testing.T, f func()) (yes bool) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			if yes = true; !strings.HasPrefix(fmt.Sprint(p), "BUG: ") {
				t.Errorf("panic: %v", p)
			}
		}
	}()
	f()
	return false
}

func TestRefusals(t *testing.T) {
	for name, f := range map[string]func(g *Graph){
		"no dimensions":          func(g *Graph) { g.Input("x", Float16) },
		"five dimensions":        func(g *Graph) { g.Input("x", Float16, 1, 1, 1, 1, 1) },
		"empty dimension":        func(g *Graph) { g.Input("x", Float16, 2, 0) },
		"constant of other size": func(g *Graph) { g.Const("x", Float16, make([]byte, 3), 2) },
		"types":                  func(g *Graph) { g.Add(g.Input("x", Float16, 2), g.Input("y", Float32, 2)) },
		"shapes":                 func(g *Graph) { g.Add(g.Input("x", Float16, 2), g.Input("y", Float16, 3)) },
		"weights": func(g *Graph) {
			g.FullyConnected(g.Input("x", Float16, 2, 3), g.Input("w", Float16, 3, 2), g.Input("b", Float16, 3))
		},
		"bias": func(g *Graph) {
			g.FullyConnected(g.Input("x", Float16, 2, 3), g.Input("w", Float16, 2, 3), g.Input("b", Float16, 3))
		},
		"filter larger": func(g *Graph) {
			g.Conv2D(g.Input("x", Float16, 1, 2, 1, 3), g.Input("f", Float16, 1, 3, 1, 3), g.Input("b", Float16, 1), 1, 1)
		},
		"no stride": func(g *Graph) {
			g.Conv2D(g.Input("x", Float16, 1, 3, 1, 3), g.Input("f", Float16, 1, 3, 1, 3), g.Input("b", Float16, 1), 0, 1)
		},
		"batch of two": func(g *Graph) { g.BatchMatMul(g.Input("a", Float16, 2, 3), g.Input("b", Float16, 3, 2), false) },
		"batches":      func(g *Graph) { g.BatchMatMul(g.Input("a", Float16, 2, 2, 3), g.Input("b", Float16, 1, 3, 2), false) },
		"inner":        func(g *Graph) { g.BatchMatMul(g.Input("a", Float16, 2, 2, 3), g.Input("b", Float16, 2, 3, 2), true) },
		"gamma": func(g *Graph) {
			g.LayerNorm(g.Input("x", Float16, 2, 3), g.Input("g", Float16, 2), g.Input("b", Float16, 3), 0)
		},
		"reshape":        func(g *Graph) { g.Reshape(g.Input("x", Float16, 2, 3), 5) },
		"reshape to 0":   func(g *Graph) { g.Reshape(g.Input("x", Float16, 2, 3), 0) },
		"permutation":    func(g *Graph) { g.Transpose(g.Input("x", Float16, 2, 3), 1, 1) },
		"permutation of": func(g *Graph) { g.Transpose(g.Input("x", Float16, 2, 3), 0, 2) },
		"slice outside":  func(g *Graph) { g.Slice(g.Input("x", Float16, 2, 3), []int{0, 2}, []int{2, 2}) },
		"slice before":   func(g *Graph) { g.Slice(g.Input("x", Float16, 2, 3), []int{0, -1}, []int{2, 2}) },
		"slice rank":     func(g *Graph) { g.Slice(g.Input("x", Float16, 2, 3), []int{0}, []int{2}) },
		"concat shapes":  func(g *Graph) { g.Concat(0, g.Input("x", Float16, 2, 3), g.Input("y", Float16, 2, 2)) },
		"concat ranks":   func(g *Graph) { g.Concat(0, g.Input("x", Float16, 2, 3), g.Input("y", Float16, 6)) },
		"concat axis":    func(g *Graph) { g.Concat(2, g.Input("x", Float16, 2, 3)) },
		"negative axis":  func(g *Graph) { g.Concat(-1, g.Input("x", Float16, 2, 3)) },
		"negative pad":   func(g *Graph) { g.Pad(g.Input("x", Float16, 2, 3), []int{-1, 0}, []int{0, 0}) },
		"pad rank":       func(g *Graph) { g.Pad(g.Input("x", Float16, 2, 3), []int{0}, []int{0}) },
	} {
		if !refused(t, func() { f(New("test")) }) {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestRandomGraphs builds from random shapes, right and wrong: a builder either refuses or
// the graph can be computed, has finite costs and no lifetime outside its operations.
func TestRandomGraphs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	shape := func() []int {
		s := make([]int, 1+random.IntN(4))
		for i := range s {
			s[i] = 1 + random.IntN(3)
		}
		return s
	}
	taken := map[Kind]int{}
	for range 3000 {
		g := New("random")
		all := []*Tensor{g.Input("a", Float16, shape()...), g.Input("b", Float16, shape()...)}
		c := g.Input("c", Float32, shape()...)
		all = append(all, g.Const("d", Float16, make([]byte, 2*c.Elements()), c.Shape...), c)
		for range 12 {
			pick := func() *Tensor { return all[random.IntN(len(all))] }
			x, y, z := pick(), pick(), pick()
			refused(t, func() {
				var out *Tensor
				switch k := Kind(random.IntN(int(Pad) + 1)); k {
				case Add, Sub, Mul, Div:
					out = g.elementwise(k, x, y)
				case FullyConnected:
					out = g.FullyConnected(x, y, z)
				case Conv2D:
					out = g.Conv2D(x, y, z, random.IntN(3), 1)
				case BatchMatMul:
					out = g.BatchMatMul(x, y, random.IntN(2) == 0)
				case Softmax:
					out = g.Softmax(x)
				case Mean:
					out = g.Mean(x)
				case Sqrt:
					out = g.Sqrt(x)
				case Tanh:
					out = g.Tanh(x)
				case Logistic:
					out = g.Logistic(x)
				case Gelu:
					out = g.Gelu(x, true)
				case LayerNorm:
					out = g.LayerNorm(x, y, z, 1)
				case Reshape:
					out = g.Reshape(x, shape()...)
				case Transpose:
					out = g.Transpose(x, random.Perm(1+random.IntN(4))...)
				case Slice:
					out = g.Slice(x, make([]int, len(x.Shape)), shape())
				case Concat:
					out = g.Concat(random.IntN(3)-1, x, y)
				case Pad:
					out = g.Pad(x, make([]int, len(x.Shape)), shape())
				}
				if out.Elements() < 10_000 {
					all = append(all, out)
				}
			})
		}
		if len(g.Operations) == 0 {
			continue
		}
		g.Output(g.Operations[random.IntN(len(g.Operations))].Out)
		var in [][]byte
		for _, x := range g.Inputs {
			in = append(in, make([]byte, x.Bytes()))
		}
		if _, err := Eval(g, in); err != nil {
			t.Fatal(err)
		}
		m := AssumedMemory()
		apart := g.Cost(m)
		m.InPlace = true
		if over := g.Cost(m); over.Activations > apart.Activations || over.Live > apart.Live {
			t.Errorf("%v: %+v in place, %+v out of place", g.Operations, over, apart)
		}
		for _, l := range g.Lifetimes(m) {
			if l.From < 0 || l.To < l.From || l.To >= len(g.Operations) || len(l.Tensors) == 0 || l.Bytes%m.Page != 0 || l.Bytes == 0 {
				t.Errorf("lifetime %+v", l)
			}
		}
		for _, o := range g.Operations {
			taken[o.Kind]++
		}
	}
	for k := range Pad + 1 {
		if taken[k] == 0 {
			t.Errorf("no %v was ever built", k)
		}
	}
}
