//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"earshot/npu/graph"
	"earshot/npu/neuron"
)

// lowering hands a graph to the library, one operation for each of the graph's. The first
// error is kept, and ends it. Operands are as facts/neuron-observed.md 5 has them.
type lowering struct {
	*built
	lib    *neuron.Library
	mapped bool // constants are outside Go's memory already, and stay
	index  map[*graph.Tensor]uint32
	count  uint32 // of operands
	err    error
}

// lower adds g to a model, and finishes the model. The constants of a graph that is mapped
// have to stay as long as the values in b.
func lower(lib *neuron.Library, b *built, g *graph.Graph, mapped, relax bool) error {
	l := &lowering{built: b, lib: lib, mapped: mapped, index: map[*graph.Tensor]uint32{}}
	if lib.Has("NeuronModel_setName") {
		l.err = lib.NeuronModel_setName(l.model, g.Name)
	}
	inputs := l.all(g.Inputs)
	for _, o := range g.Operations {
		l.operation(o)
	}
	var outputs []uint32
	for _, t := range g.Outputs {
		i, computed := l.index[t]
		if !computed || t.Constant() {
			return fmt.Errorf("graph %q: output %v is not computed", g.Name, t)
		}
		outputs = append(outputs, i)
	}
	l.do(func() error { return lib.NeuronModel_identifyInputsAndOutputs(l.model, inputs, outputs) })
	if relax {
		l.do(func() error { return lib.NeuronModel_relaxComputationFloat32toFloat16(l.model, true) })
	}
	l.do(func() error { return lib.NeuronModel_finish(l.model) })
	return l.err
}

// do calls f if all has gone well so far.
func (l *lowering) do(f func() error) {
	if l.err == nil {
		l.err = f()
	}
}

func (l *lowering) operation(o *graph.Operation) {
	code, in := l.inputs(o)
	out := []uint32{l.tensor(o.Out)}
	l.do(func() error { return l.lib.NeuronModel_addOperation(l.model, code, in, out) })
}

// inputs are the operands of an operation, in the library's order, and its code.
func (l *lowering) inputs(o *graph.Operation) (code int32, in []uint32) {
	in = l.all(o.In)
	add := func(more ...uint32) { in = append(in, more...) }
	last := len(o.In[0].Shape) - 1
	switch o.Kind {
	case graph.Add, graph.Sub, graph.Mul, graph.Div, graph.FullyConnected:
		add(l.int32(neuron.FUSED_NONE))
	case graph.Conv2D:
		add(l.int32(neuron.PADDING_VALID), l.int32(int32(o.Attr.StrideW)), l.int32(int32(o.Attr.StrideH)), l.int32(neuron.FUSED_NONE),
			l.bool(false), l.int32(1), l.int32(1)) // not NCHW; no dilation
	case graph.BatchMatMul:
		add(l.bool(false), l.bool(o.Attr.TransposeB))
	case graph.Softmax:
		add(l.float32(1))
	case graph.Mean:
		add(l.vector(last), l.int32(1))
	case graph.Gelu:
		add(l.scalar(neuron.UINT32, []byte{truth(o.Attr.Approximate), 0, 0, 0}))
	case graph.LayerNorm:
		x, rest := in[:1:1], in[1:]
		in = append(append(x, l.vector(last)), rest...)
		add(l.float32(o.Attr.Epsilon), l.extensionName(neuron.LAYER_NORMALIZATION))
		return l.extensionCode(), in
	case graph.Reshape:
		add(l.vector(o.Attr.Shape...))
	case graph.Transpose:
		add(l.vector(o.Attr.Permutation...))
	case graph.Slice:
		add(l.vector(o.Attr.Begin...), l.vector(o.Attr.Shape...))
	case graph.Concat:
		add(l.int32(int32(o.Attr.Axis)))
	case graph.Pad:
		var around []int
		for i := range o.Attr.Before {
			around = append(around, o.Attr.Before[i], o.Attr.After[i])
		}
		add(l.ints(around, len(o.Attr.Before), 2))
	}
	return codes[o.Kind], in
}

// codes are the library's operations; layer norm has none.
var codes = map[graph.Kind]int32{
	graph.Add: neuron.ADD, graph.Sub: neuron.SUB, graph.Mul: neuron.MUL, graph.Div: neuron.DIV,
	graph.FullyConnected: neuron.FULLY_CONNECTED, graph.Conv2D: neuron.CONV_2D, graph.BatchMatMul: neuron.BATCH_MATMUL,
	graph.Softmax: neuron.SOFTMAX, graph.Mean: neuron.MEAN, graph.Sqrt: neuron.SQRT, graph.Tanh: neuron.TANH,
	graph.Logistic: neuron.LOGISTIC, graph.Gelu: neuron.GELU, graph.Reshape: neuron.RESHAPE, graph.Transpose: neuron.TRANSPOSE,
	graph.Slice: neuron.SLICE, graph.Concat: neuron.CONCATENATION, graph.Pad: neuron.PAD,
}

var operandTypes = map[graph.Type]int32{
	graph.Float16: neuron.TENSOR_FLOAT16, graph.Float32: neuron.TENSOR_FLOAT32, graph.Int32: neuron.TENSOR_INT32,
}

func (l *lowering) all(tensors []*graph.Tensor) []uint32 {
	var indices []uint32
	for _, t := range tensors {
		indices = append(indices, l.tensor(t))
	}
	return indices
}

// tensor is the operand of a tensor, which is added, with its value, the first time.
func (l *lowering) tensor(t *graph.Tensor) uint32 {
	if i, there := l.index[t]; there {
		return i
	}
	i := l.operand(operandTypes[t.Type], t.Shape...)
	l.index[t] = i
	if t.Constant() {
		l.value(i, t.Data, l.mapped)
	}
	return i
}

func (l *lowering) operand(kind int32, shape ...int) uint32 {
	l.do(func() error {
		dimensions, err := l.dimensions(shape)
		if err != nil {
			return err
		}
		return l.lib.NeuronModel_addOperand(l.model, neuron.OperandType{Type: kind, Dimensions: dimensions})
	})
	l.count++
	return l.count - 1
}

func (l *lowering) value(operand uint32, value []byte, stays bool) {
	l.do(func() error {
		if !stays {
			kept, err := l.values.get(len(value))
			if err != nil {
				return err
			}
			copy(kept, value)
			value = kept
		}
		return l.lib.NeuronModel_setOperandValue(l.model, int(operand), value)
	})
}

func (l *lowering) scalar(kind int32, value []byte) uint32 {
	i := l.operand(kind)
	l.value(i, value, false)
	return i
}

func (l *lowering) int32(v int32) uint32 {
	return l.scalar(neuron.INT32, binary.LittleEndian.AppendUint32(nil, uint32(v)))
}

func (l *lowering) float32(v float32) uint32 {
	return l.scalar(neuron.FLOAT32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

func (l *lowering) bool(v bool) uint32 { return l.scalar(neuron.BOOL, []byte{truth(v)}) }

// vector is a constant of rank 1 of type int32.
func (l *lowering) vector(values ...int) uint32 { return l.ints(values, len(values)) }

// ints is a constant of type int32.
func (l *lowering) ints(values []int, shape ...int) uint32 {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	i := l.operand(neuron.TENSOR_INT32, shape...)
	l.value(i, b, false)
	return i
}

// extensionName is the operand that names an operation of the extension: a packed string
// (facts/npu.md 5.4).
func (l *lowering) extensionName(name string) uint32 {
	const kind = "string"
	b := append([]byte{byte(len(kind))}, kind...)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(name))), name...)
	packed := make([]byte, len(kind)+len(name)+16)
	copy(packed, b)
	var operandType int32
	l.do(func() (err error) {
		operandType, err = l.lib.NeuronModel_getExtensionOperandType(l.model, neuron.GeneralOperation, neuron.ExtensionOperandCode)
		return err
	})
	i := l.operand(operandType, len(packed))
	l.value(i, packed, false)
	return i
}

func (l *lowering) extensionCode() (code int32) {
	l.do(func() (err error) {
		code, err = l.lib.NeuronModel_getExtensionOperationType(l.model, neuron.GeneralOperation, neuron.ExtensionOperationCode)
		return err
	})
	return code
}

// dimensions puts a shape where the library may keep a pointer to it; a scalar has none.
func (l *lowering) dimensions(shape []int) ([]uint32, error) {
	if len(shape) == 0 {
		return nil, nil
	}
	b, err := l.keep.get(4 * len(shape))
	if err != nil {
		return nil, err
	}
	d := unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), len(shape))
	for i, n := range shape {
		d[i] = uint32(n)
	}
	return d, nil
}

func truth(v bool) byte {
	if v {
		return 1
	}
	return 0
}
