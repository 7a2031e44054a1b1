package onnpu

import (
	"math"
	"strconv"

	"earshot/npu/graph"
)

// net adds parts of the network to a graph. Rows are [n, columns], or [1, n, 1, columns]
// where the board's form says so.
type net struct {
	*graph.Graph
	parameters *Parameters
	form       Form
	constants  map[string]*graph.Tensor // of this graph, by what they are
}

func (n *net) rows(rows, columns int) []int {
	if n.form.Rank4 {
		return []int{1, rows, 1, columns}
	}
	return []int{rows, columns}
}

// rowAxis is the dimension that counts rows.
func (n *net) rowAxis() int {
	if n.form.Rank4 {
		return 1
	}
	return 0
}

func rowsOf(x *graph.Tensor) int { return x.Elements() / columnsOf(x) }

func columnsOf(x *graph.Tensor) int { return x.Shape[len(x.Shape)-1] }

// as is x in another shape.
func (n *net) as(x *graph.Tensor, shape ...int) *graph.Tensor {
	if len(x.Shape) == len(shape) {
		return x // a number of elements has one shape of each kind here
	}
	return n.Reshape(x, shape...)
}

// part is rows from to to-1.
func (n *net) part(x *graph.Tensor, from, to int) *graph.Tensor {
	if from == 0 && to == rowsOf(x) {
		return x
	}
	begin := make([]int, len(x.Shape))
	begin[n.rowAxis()] = from
	return n.Slice(x, begin, n.rows(to-from, columnsOf(x)))
}

// inBlocks puts together what f returns for blocks of so many rows; 0 means all at once.
func (n *net) inBlocks(rows, block int, f func(from, to int) *graph.Tensor) *graph.Tensor {
	if block == 0 {
		block = rows
	}
	var parts []*graph.Tensor
	for from := 0; from < rows; from += block {
		parts = append(parts, f(from, min(rows, from+block)))
	}
	return n.join(n.rowAxis(), parts)
}

func (n *net) join(axis int, parts []*graph.Tensor) *graph.Tensor {
	if len(parts) == 1 {
		return parts[0]
	}
	return n.Concat(axis, parts...)
}

// constant is a constant of the graph, made once.
func (n *net) constant(key string, data []byte, shape ...int) *graph.Tensor {
	if n.constants[key] == nil {
		n.constants[key] = n.Const(key, graph.Float16, data, shape...)
	}
	return n.constants[key]
}

// filled is a constant of n values that are no parameters.
func (n *net) filled(key string, size int, value func(i int) float32) *graph.Tensor {
	if n.constants[key] == nil {
		values, data := make([]float32, size), make([]byte, 2*size)
		for i := range values {
			values[i] = value(i)
		}
		graph.PutFloats(data, graph.Float16, values)
		n.constants[key] = n.Const(key, graph.Float16, data, size)
	}
	return n.constants[key]
}

// scalar is a constant of one element.
func (n *net) scalar(key string, v float32) *graph.Tensor {
	return n.filled(key, 1, func(int) float32 { return v })
}

// vector is a parameter of one dimension.
func (n *net) vector(name string, size int) *graph.Tensor {
	return n.constant(name, n.parameters.bytes(name, 0, size), size)
}

// linear is x·Wᵀ + b with rows from to to-1 of W and b, which are the outputs.
func (n *net) linear(x *graph.Tensor, name string, from, to int) *graph.Tensor {
	in, out := columnsOf(x), to-from
	key := func(s string) string {
		if from == 0 {
			return name + s
		}
		return name + s + "[" + strconv.Itoa(from) + ":]"
	}
	w := n.parameters.bytes(name+".weight", from*in, to*in)
	b := n.constant(key(".bias"), n.parameters.bytes(name+".bias", from, to), out)
	if n.form.Rank4 {
		return n.Conv2D(x, n.constant(key(".weight"), w, out, 1, 1, in), b, 1, 1)
	}
	return n.FullyConnected(x, n.constant(key(".weight"), w, out, in), b)
}

// normScale keeps the squares of a row's differences from its mean inside float16: single
// channels of Whisper's stream reach some hundreds, whose squares it does not hold. With a
// sixteenth differences up to 4094 pass.
const normScale = 1.0 / 16

// normEpsilon is that of PyTorch's LayerNorm, which the reference uses.
const normEpsilon = 1e-5

// norm is layer normalisation.
func (n *net) norm(x *graph.Tensor, name string) *graph.Tensor {
	gamma, beta := n.vector(name+".weight", columnsOf(x)), n.vector(name+".bias", columnsOf(x))
	if n.form.LayerNorm {
		return n.LayerNorm(x, gamma, beta, normEpsilon)
	}
	c := n.Mul(n.Sub(x, n.Mean(x)), n.scalar("norm scale", normScale))
	variance := n.Mean(n.Mul(c, c))
	// The smallest float16 above zero stands for epsilon, which is less once it is scaled.
	deviation := n.Sqrt(n.Add(variance, n.scalar("norm epsilon", 0x1p-24)))
	return n.Add(n.Mul(n.Div(c, deviation), gamma), beta)
}

// gelu is GELU. Without an operation it is the tanh form, x/2·(1 + tanh(√(2/π)·(x +
// 0.044715·x³))) (Hendrycks and Gimpel, arXiv:1606.08415), written as x·σ(x·(a + b·x²)),
// which is the same since (1 + tanh(z))/2 = σ(2z): fewer operations, and for negative x
// nothing is lost to 1 + tanh near zero. x is scaled by √b before it is squared. Beyond
// |x| = 95 σ's argument is infinite, or as large as the chip has it; σ is 0 or 1 long before.
func (n *net) gelu(x *graph.Tensor) *graph.Tensor {
	if n.form.Gelu {
		return n.Gelu(x, true)
	}
	a := 2 * math.Sqrt(2/math.Pi)
	scaled := n.Mul(x, n.scalar("gelu √b", float32(math.Sqrt(a*0.044715))))
	slope := n.Add(n.Mul(scaled, scaled), n.scalar("gelu a", float32(a)))
	return n.Mul(x, n.Logistic(n.Mul(x, slope)))
}
