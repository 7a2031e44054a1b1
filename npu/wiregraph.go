//go:build linux

package npu

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"

	"earshot/npu/graph"
)

// wireGraph is a graph in shared memory: this description, and behind it the constants.
// Tensors are named by their place in the list.
type wireGraph struct {
	Name            string
	Tensors         []wireTensor
	Inputs, Outputs []int
	Operations      []wireOperation
}

type wireTensor struct {
	Name  string
	Type  graph.Type
	Shape []int
	At    int // where a constant's data is in the memory behind the description; -1: no constant
}

type wireOperation struct {
	Kind graph.Kind
	Attr graph.Attr
	In   []int
	Out  int
}

// writeGraph puts a graph into shared memory, which is the caller's. description is the
// size of the first part, bytes.
func writeGraph(g *graph.Graph) (fd, description int, err error) {
	w := wireGraph{Name: g.Name}
	index := map[*graph.Tensor]int{}
	size := 0
	number := func(t *graph.Tensor) int {
		i, there := index[t]
		if !there {
			i = len(w.Tensors)
			index[t] = i
			at := -1
			if t.Constant() {
				at, size = size, size+aligned(len(t.Data))
			}
			w.Tensors = append(w.Tensors, wireTensor{t.Name, t.Type, t.Shape, at})
		}
		return i
	}
	numbers := func(all []*graph.Tensor) (list []int) {
		for _, t := range all {
			list = append(list, number(t))
		}
		return list
	}
	w.Inputs = numbers(g.Inputs)
	for _, o := range g.Operations {
		w.Operations = append(w.Operations, wireOperation{o.Kind, o.Attr, numbers(o.In), number(o.Out)})
	}
	w.Outputs = numbers(g.Outputs)
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(w); err != nil {
		return -1, 0, err
	}
	fd, err = fill("earshot-graph", aligned(b.Len())+size, func(mem []byte) {
		copy(mem, b.Bytes())
		values := mem[aligned(b.Len()):]
		for t, i := range index {
			if t.Constant() {
				copy(values[w.Tensors[i].At:], t.Data)
			}
		}
	})
	return fd, b.Len(), err
}

// readGraph is the way back. The graph's constants are parts of mem.
func readGraph(mem []byte, description int) (*graph.Graph, error) {
	g, err := parseGraph(mem, description)
	if err != nil {
		return nil, fmt.Errorf("a graph for the NPU worker: %w", err)
	}
	return g, nil
}

func parseGraph(mem []byte, description int) (*graph.Graph, error) {
	if description < 0 || description > len(mem) {
		return nil, fmt.Errorf("a description of %d bytes in %d", description, len(mem))
	}
	var w wireGraph
	if err := gob.NewDecoder(bytes.NewReader(mem[:description])).Decode(&w); err != nil {
		return nil, err
	}
	values := mem[min(aligned(description), len(mem)):]
	tensors := make([]*graph.Tensor, len(w.Tensors))
	g := &graph.Graph{Name: w.Name}
	for i, t := range w.Tensors {
		var err error
		if tensors[i], err = t.tensor(values); err != nil {
			return nil, err
		}
		if tensors[i].Constant() {
			g.Constants = append(g.Constants, tensors[i])
		}
	}
	pick := func(numbers ...int) (list []*graph.Tensor, err error) {
		for _, n := range numbers {
			if n < 0 || n >= len(tensors) {
				return nil, fmt.Errorf("tensor %d of %d", n, len(tensors))
			}
			list = append(list, tensors[n])
		}
		return list, nil
	}
	var err error
	if g.Inputs, err = pick(w.Inputs...); err != nil {
		return nil, err
	}
	if g.Outputs, err = pick(w.Outputs...); err != nil {
		return nil, err
	}
	for _, o := range w.Operations {
		in, err := pick(o.In...)
		if err != nil {
			return nil, err
		}
		out, err := pick(o.Out)
		if err != nil {
			return nil, err
		}
		operation := &graph.Operation{Kind: o.Kind, Attr: o.Attr, In: in, Out: out[0]}
		if err := checkOperation(operation); err != nil {
			return nil, err
		}
		g.Operations = append(g.Operations, operation)
	}
	return g, checkTensors(tensorsOf(g.Inputs), tensorsOf(g.Outputs))
}

func (w wireTensor) tensor(values []byte) (*graph.Tensor, error) {
	if w.Type > graph.Int32 || len(w.Shape) < 1 || len(w.Shape) > 4 {
		return nil, errors.New("a tensor that there can't be")
	}
	bytes := w.Type.Size()
	for _, d := range w.Shape {
		if d < 1 || d > maxTransfer/bytes {
			return nil, fmt.Errorf("a tensor of shape %v", w.Shape)
		}
		bytes *= d
	}
	t := &graph.Tensor{Name: w.Name, Type: w.Type, Shape: w.Shape}
	if w.At >= 0 {
		if w.At > len(values) || bytes > len(values)-w.At || w.At%alignment != 0 {
			return nil, fmt.Errorf("a constant outside of the %d bytes", len(values))
		}
		t.Data = values[w.At : w.At+bytes : w.At+bytes]
	}
	return t, nil
}

// checkOperation makes sure of what lowering relies on; whether shapes go together is for
// the library to see.
func checkOperation(o *graph.Operation) error {
	if o.Kind > graph.Pad {
		return fmt.Errorf("operation %d", uint8(o.Kind))
	}
	operands := len(o.In)
	switch o.Kind {
	case graph.Add, graph.Sub, graph.Mul, graph.Div, graph.BatchMatMul:
		operands = 2
	case graph.FullyConnected, graph.Conv2D, graph.LayerNorm:
		operands = 3
	case graph.Concat:
		operands = max(1, operands)
	default:
		operands = 1
	}
	if len(o.In) != operands {
		return fmt.Errorf("%v of %d tensors", o.Kind, len(o.In))
	}
	a, rank := o.Attr, len(o.In[0].Shape)
	ok := true
	switch o.Kind {
	case graph.Reshape:
		ok = len(a.Shape) == len(o.Out.Shape)
	case graph.Transpose:
		ok = len(a.Permutation) == rank
	case graph.Slice:
		ok = len(a.Begin) == rank && len(a.Shape) == rank
	case graph.Pad:
		ok = len(a.Before) == rank && len(a.After) == rank
	}
	if !ok {
		return fmt.Errorf("%v of a tensor of rank %d with %+v", o.Kind, rank, a)
	}
	return nil
}
