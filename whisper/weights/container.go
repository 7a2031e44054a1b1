package weights

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// format reads one kind of container. It never keeps a value in memory.
type format interface {
	// name is Source.Container.
	name() string
	// walk goes through the weights from the beginning. visit may read data, which
	// ends with the variable; the rest is skipped.
	walk(in *stream, visit func(v variable, data io.Reader) error) error
	// parts says which tensors a variable holds, row after row; none if we do not
	// need it, a part with no name for rows that we drop.
	parts(v variable) []part
	// describe fills in Dims, and of AlignmentHeads, Suppress and SuppressAtBegin
	// what the container says (the others stay nil); it returns the tokenizer's words.
	describe(h *Header, vars map[string]variable, b *bundle) ([][]byte, error)
}

// variable is a tensor as the container has it.
type variable struct {
	name   string
	shape  []int
	stored string // f32, f16, bf16, or another type's name
	bytes  int64
	scalar int64 // the value of an integer without dimensions
}

type part struct {
	name string
	rows int // of the first dimension; 0 for the whole variable
}

// maxVariables is ten times what large-v3 has.
const maxVariables = 20000

// maxElements bounds the product of a variable's dimensions.
const maxElements = math.MaxInt32

// elements is the product of the dimensions, or an error if it is beyond reason.
func elements(shape []int) (int64, error) {
	n := int64(1)
	for _, s := range shape {
		if s < 0 || int64(s) > maxElements/max(n, 1) {
			return 0, fmt.Errorf("shape %v is too large", shape)
		}
		n *= int64(s)
	}
	return n, nil
}

// dtype is the type we store a variable in; float types keep their precision.
func (v variable) dtype() (DType, error) {
	switch v.stored {
	case "f16":
		return F16, nil
	case "f32", "bf16":
		return F32, nil
	}
	return "", fmt.Errorf("%s holds %s values: quantised and other weights cannot be imported, only float32, float16 and bfloat16", v.name, v.stored)
}

// tensors are the parts of a variable as our tensors, and the bytes each has in
// the container.
func (v variable) tensors(parts []part) ([]Tensor, []int64, error) {
	if len(parts) == 0 {
		return nil, nil, nil
	}
	t, err := v.dtype()
	if err != nil {
		return nil, nil, err
	}
	var tensors []Tensor
	var bytes []int64
	rows := 0
	for _, p := range parts {
		shape, n := slices.Clone(v.shape), v.bytes
		if p.rows > 0 {
			shape[0], n = p.rows, v.bytes/int64(v.shape[0])*int64(p.rows)
			rows += p.rows
		}
		tensors, bytes = append(tensors, Tensor{Name: p.name, DType: t, Shape: shape}), append(bytes, n)
	}
	if rows > 0 && rows != v.shape[0] {
		return nil, nil, fmt.Errorf("%s has shape %v, want %d rows", v.name, v.shape, rows)
	}
	return tensors, bytes, nil
}

// bfloatReader widens bfloat16 to float32: the upper half of its bits.
type bfloatReader struct {
	r   io.Reader
	buf [4096]byte
	out []byte
}

// Read implements io.Reader.
func (b *bfloatReader) Read(p []byte) (int, error) {
	if len(b.out) == 0 {
		half := b.buf[:len(b.buf)/2]
		n, err := io.ReadFull(b.r, half)
		if n < 2 {
			return 0, err
		}
		for i := n/2 - 1; i >= 0; i-- {
			copy(b.buf[4*i:], []byte{0, 0, b.buf[2*i], b.buf[2*i+1]})
		}
		b.out = b.buf[:n/2*4]
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// headsOf turns [[layer, head], …] into heads.
func headsOf(pairs [][2]int) []Head {
	var heads []Head
	for _, p := range pairs {
		heads = append(heads, Head{Layer: p[0], Head: p[1]})
	}
	return heads
}

// block splits "decoder/layer_3/ffn" or "model.decoder.layers.3.fc1" style names:
// behind the prefix stand a number and the rest.
func block(name, prefix, sep string) (number, rest string, ok bool) {
	name, ok = strings.CutPrefix(name, prefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(name, sep)
}
