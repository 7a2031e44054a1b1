package graph

import (
	"fmt"
	"slices"
)

// Type is the type of a tensor's elements.
type Type uint8

const (
	Float16 Type = iota // IEEE 754 binary16
	Float32
	Int32
)

// Size is the number of bytes of an element.
func (t Type) Size() int {
	if t == Float16 {
		return 2
	}
	return 4
}

func (t Type) String() string { return [...]string{"float16", "float32", "int32"}[t] }

// Tensor is a value of a graph: an input, a constant, or what an operation computes. It
// is dense and row-major.
type Tensor struct {
	Name  string
	Type  Type
	Shape []int  // 1 to 4 dimensions, each at least 1
	Data  []byte // of a constant, little-endian, Bytes() of them; else nil
}

// Elements is the product of the dimensions.
func (t *Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Bytes is the size of the tensor without any padding.
func (t *Tensor) Bytes() int { return t.Elements() * t.Type.Size() }

// Constant says whether the value is known when the graph is built.
func (t *Tensor) Constant() bool { return t.Data != nil }

func (t *Tensor) String() string { return fmt.Sprintf("%s %v %v", t.Name, t.Type, t.Shape) }

// Kind is what an operation does; the names are those of Android's NNAPI.
type Kind uint8

const (
	Add            Kind = iota // a + b; shapes broadcast from the right, as in NumPy
	Sub                        // a - b
	Mul                        // a · b
	Div                        // a / b
	FullyConnected             // x [M, K], weights [N, K], bias [N] → [M, N]: x·weightsᵀ + bias; the weights may be computed
	Conv2D                     // x [1, H, W, I], filter [O, FH, FW, I], bias [O] → [1, H', W', O], padding VALID; the filter may be computed
	BatchMatMul                // a […, M, K], b […, K, N] (Attr.TransposeB: […, N, K]) → […, M, N]; 3 or 4 dimensions
	Softmax                    // over the last dimension
	Mean                       // over the last dimension, which is kept as 1
	Sqrt                       //
	Tanh                       //
	Logistic                   // 1/(1 + e^-x)
	Gelu                       // x·Φ(x), Attr.Approximate: the tanh form
	LayerNorm                  // x, gamma [C], beta [C]: over the last dimension, Attr.Epsilon
	Reshape                    // the same elements in Attr.Shape
	Transpose                  // dimension i of the result is dimension Attr.Permutation[i] of x
	Slice                      // Attr.Begin, Attr.Shape: the part of x that begins there
	Concat                     // along dimension Attr.Axis
	Pad                        // zeros around x: Attr.Before, Attr.After, by dimension
)

var kindNames = [...]string{
	"ADD", "SUB", "MUL", "DIV", "FULLY_CONNECTED", "CONV_2D", "BATCH_MATMUL", "SOFTMAX", "MEAN", "SQRT", "TANH", "LOGISTIC",
	"GELU", "LAYER_NORMALIZATION", "RESHAPE", "TRANSPOSE", "SLICE", "CONCATENATION", "PAD",
}

func (k Kind) String() string { return kindNames[k] }

// Attr are the fixed parameters of an operation; which of them count says its Kind.
type Attr struct {
	TransposeB       bool
	Approximate      bool
	Epsilon          float32
	Shape            []int
	Begin            []int
	Permutation      []int
	Axis             int
	Before, After    []int
	StrideH, StrideW int // of Conv2D
}

// Operation computes one tensor from others.
type Operation struct {
	Kind Kind
	Attr Attr
	In   []*Tensor
	Out  *Tensor
}

func (o *Operation) String() string { return fmt.Sprintf("%v → %v", o.Kind, o.Out) }

// Graph is a list of operations, each behind those that it needs. The builder methods
// append an operation and return its result; what does not fit panics, since graphs come
// from our own code only.
type Graph struct {
	Name       string
	Inputs     []*Tensor
	Outputs    []*Tensor
	Constants  []*Tensor // in the order in which they were made
	Operations []*Operation
}

// New returns an empty graph; the name is for people.
func New(name string) *Graph { return &Graph{Name: name} }

// Input adds an input.
func (g *Graph) Input(name string, t Type, shape ...int) *Tensor {
	in := newTensor(name, t, shape)
	g.Inputs = append(g.Inputs, in)
	return in
}

// Const adds a constant, whose data is kept, not copied.
func (g *Graph) Const(name string, t Type, data []byte, shape ...int) *Tensor {
	c := newTensor(name, t, shape)
	if len(data) != c.Bytes() {
		panic(fmt.Sprintf("BUG: graph %s: %d bytes for constant %v", g.Name, len(data), c))
	}
	c.Data = data
	g.Constants = append(g.Constants, c)
	return c
}

// Output says that a computed tensor is a result.
func (g *Graph) Output(t *Tensor) { g.Outputs = append(g.Outputs, t) }

func newTensor(name string, t Type, shape []int) *Tensor {
	if len(shape) < 1 || len(shape) > 4 || slices.Min(shape) < 1 {
		panic(fmt.Sprintf("BUG: tensor %s of shape %v", name, shape))
	}
	return &Tensor{Name: name, Type: t, Shape: slices.Clone(shape)}
}
