package graph

import (
	"fmt"
	"slices"
)

// op appends an operation whose result has the type of its first input.
func (g *Graph) op(k Kind, a Attr, shape []int, in ...*Tensor) *Tensor {
	out := newTensor(fmt.Sprintf("%d", len(g.Operations)), in[0].Type, shape)
	g.Operations = append(g.Operations, &Operation{Kind: k, Attr: a, In: in, Out: out})
	return out
}

// refuse is for operands that do not go together.
func (g *Graph) refuse(k Kind, in ...*Tensor) {
	panic(fmt.Sprintf("BUG: graph %s: %v of %v", g.Name, k, in))
}

func (g *Graph) same(k Kind, in ...*Tensor) {
	for _, t := range in[1:] {
		if t.Type != in[0].Type {
			g.refuse(k, in...)
		}
	}
}

// Add, Sub, Mul and Div go element by element.
func (g *Graph) Add(a, b *Tensor) *Tensor { return g.elementwise(Add, a, b) }
func (g *Graph) Sub(a, b *Tensor) *Tensor { return g.elementwise(Sub, a, b) }
func (g *Graph) Mul(a, b *Tensor) *Tensor { return g.elementwise(Mul, a, b) }
func (g *Graph) Div(a, b *Tensor) *Tensor { return g.elementwise(Div, a, b) }

func (g *Graph) elementwise(k Kind, a, b *Tensor) *Tensor {
	g.same(k, a, b)
	long, short := slices.Clone(a.Shape), b.Shape
	if len(short) > len(long) {
		long, short = slices.Clone(b.Shape), a.Shape
	}
	for i := range short {
		l, s := &long[len(long)-1-i], short[len(short)-1-i]
		switch {
		case *l == s || s == 1:
		case *l == 1:
			*l = s
		default:
			g.refuse(k, a, b)
		}
	}
	return g.op(k, Attr{}, long, a, b)
}

// FullyConnected is x [M, K] · weights [N, K]ᵀ + bias [N].
func (g *Graph) FullyConnected(x, weights, bias *Tensor) *Tensor {
	g.same(FullyConnected, x, weights, bias)
	if len(x.Shape) != 2 || len(weights.Shape) != 2 || len(bias.Shape) != 1 || x.Shape[1] != weights.Shape[1] || bias.Shape[0] != weights.Shape[0] {
		g.refuse(FullyConnected, x, weights, bias)
	}
	return g.op(FullyConnected, Attr{}, []int{x.Shape[0], weights.Shape[0]}, x, weights, bias)
}

// Conv2D moves filter [O, FH, FW, I] over x [1, H, W, I].
func (g *Graph) Conv2D(x, filter, bias *Tensor, strideH, strideW int) *Tensor {
	g.same(Conv2D, x, filter, bias)
	if len(x.Shape) != 4 || len(filter.Shape) != 4 || len(bias.Shape) != 1 || x.Shape[0] != 1 || x.Shape[3] != filter.Shape[3] ||
		bias.Shape[0] != filter.Shape[0] || strideH < 1 || strideW < 1 || x.Shape[1] < filter.Shape[1] || x.Shape[2] < filter.Shape[2] {
		g.refuse(Conv2D, x, filter, bias)
	}
	h, w := (x.Shape[1]-filter.Shape[1])/strideH+1, (x.Shape[2]-filter.Shape[2])/strideW+1
	return g.op(Conv2D, Attr{StrideH: strideH, StrideW: strideW}, []int{1, h, w, filter.Shape[0]}, x, filter, bias)
}

// BatchMatMul is a·b, or a·bᵀ, for each of the leading dimensions, which are the same.
func (g *Graph) BatchMatMul(a, b *Tensor, transposeB bool) *Tensor {
	g.same(BatchMatMul, a, b)
	n := len(a.Shape)
	if n < 3 || len(b.Shape) != n || !slices.Equal(a.Shape[:n-2], b.Shape[:n-2]) {
		g.refuse(BatchMatMul, a, b)
	}
	k, columns := b.Shape[n-2], b.Shape[n-1]
	if transposeB {
		k, columns = columns, k
	}
	if a.Shape[n-1] != k {
		g.refuse(BatchMatMul, a, b)
	}
	shape := slices.Clone(a.Shape)
	shape[n-1] = columns
	return g.op(BatchMatMul, Attr{TransposeB: transposeB}, shape, a, b)
}

// Softmax, Sqrt, Tanh and Logistic keep the shape.
func (g *Graph) Softmax(x *Tensor) *Tensor  { return g.op(Softmax, Attr{}, x.Shape, x) }
func (g *Graph) Sqrt(x *Tensor) *Tensor     { return g.op(Sqrt, Attr{}, x.Shape, x) }
func (g *Graph) Tanh(x *Tensor) *Tensor     { return g.op(Tanh, Attr{}, x.Shape, x) }
func (g *Graph) Logistic(x *Tensor) *Tensor { return g.op(Logistic, Attr{}, x.Shape, x) }

// Gelu is GELU as one operation; approximate asks for the tanh form.
func (g *Graph) Gelu(x *Tensor, approximate bool) *Tensor {
	return g.op(Gelu, Attr{Approximate: approximate}, x.Shape, x)
}

// Mean is the mean over the last dimension, [… , 1].
func (g *Graph) Mean(x *Tensor) *Tensor {
	shape := slices.Clone(x.Shape)
	shape[len(shape)-1] = 1
	return g.op(Mean, Attr{}, shape, x)
}

// LayerNorm normalises the last dimension as one operation.
func (g *Graph) LayerNorm(x, gamma, beta *Tensor, epsilon float32) *Tensor {
	g.same(LayerNorm, x, gamma, beta)
	last := x.Shape[len(x.Shape)-1:]
	if !slices.Equal(gamma.Shape, last) || !slices.Equal(beta.Shape, last) {
		g.refuse(LayerNorm, x, gamma, beta)
	}
	return g.op(LayerNorm, Attr{Epsilon: epsilon}, x.Shape, x, gamma, beta)
}

// Reshape gives the same elements another shape.
func (g *Graph) Reshape(x *Tensor, shape ...int) *Tensor {
	if newTensor(x.Name, x.Type, shape).Elements() != x.Elements() {
		g.refuse(Reshape, x)
	}
	return g.op(Reshape, Attr{Shape: slices.Clone(shape)}, shape, x)
}

// Transpose reorders the dimensions.
func (g *Graph) Transpose(x *Tensor, permutation ...int) *Tensor {
	shape := make([]int, len(x.Shape))
	if len(permutation) != len(shape) {
		g.refuse(Transpose, x)
	}
	for i, p := range permutation {
		if p < 0 || p >= len(shape) || slices.Contains(permutation[:i], p) {
			g.refuse(Transpose, x)
		}
		shape[i] = x.Shape[p]
	}
	return g.op(Transpose, Attr{Permutation: slices.Clone(permutation)}, shape, x)
}

// Slice is the part of x of a shape that starts at begin.
func (g *Graph) Slice(x *Tensor, begin, shape []int) *Tensor {
	if len(begin) != len(x.Shape) || len(shape) != len(x.Shape) {
		g.refuse(Slice, x)
	}
	for i := range begin {
		if begin[i] < 0 || shape[i] < 1 || begin[i]+shape[i] > x.Shape[i] {
			g.refuse(Slice, x)
		}
	}
	return g.op(Slice, Attr{Begin: slices.Clone(begin), Shape: slices.Clone(shape)}, shape, x)
}

// Concat puts tensors side by side along a dimension.
func (g *Graph) Concat(axis int, parts ...*Tensor) *Tensor {
	g.same(Concat, parts...)
	if axis < 0 || axis >= len(parts[0].Shape) {
		g.refuse(Concat, parts...)
	}
	shape := slices.Clone(parts[0].Shape)
	for _, p := range parts[1:] {
		same := slices.Clone(p.Shape)
		if len(same) != len(shape) {
			g.refuse(Concat, parts...)
		}
		if same[axis] = shape[axis]; !slices.Equal(same, shape) {
			g.refuse(Concat, parts...)
		}
		shape[axis] += p.Shape[axis]
	}
	return g.op(Concat, Attr{Axis: axis}, shape, parts...)
}

// Pad puts zeros before and after x in each dimension.
func (g *Graph) Pad(x *Tensor, before, after []int) *Tensor {
	if len(before) != len(x.Shape) || len(after) != len(x.Shape) {
		g.refuse(Pad, x)
	}
	shape := slices.Clone(x.Shape)
	for i := range shape {
		if before[i] < 0 || after[i] < 0 {
			g.refuse(Pad, x)
		}
		shape[i] += before[i] + after[i]
	}
	return g.op(Pad, Attr{Before: slices.Clone(before), After: slices.Clone(after)}, shape, x)
}
