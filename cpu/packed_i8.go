package cpu

import (
	"fmt"
	"math"
	"unsafe"
)

const (
	// groupI8 is the number of neighbouring columns of one row that lie together in
	// a PackedI8: what one lane of a dot product instruction takes.
	groupI8 = 4
	// strideI8 is what the number of columns is rounded up to: two groups, the
	// depth of Arm's matrix multiply instruction.
	strideI8 = 2 * groupI8
	// maxColumnsI8 keeps a sum of products, at most 127·128 each, within int32, and a
	// row of activations within what a kernel in C has room for.
	maxColumnsI8 = 1 << 16
)

// PackedI8 is a matrix W [N,K] of signed bytes with a scale per row:
//
//	(W·H)[j,c] ≈ q[j,c]·scale[j]   with scale[j] the largest of row j / 127
//
// H is orthogonal and symmetric (rotateI8 says which, and what for), so that a
// product with activations rotated by it is one with W. q is rounded to nearest, ties
// to even, and lies in −127…127. It is laid out in panels of 16 rows, a panel in groups
// of 4 columns, a group as 16 rows of 4 bytes: 64 bytes that are one AVX-512, two AVX2
// or four NEON registers of dot product operands. The columns are padded with zeros to a multiple of 8, the rows to a
// multiple of 16.
//
// A row with a NaN or an infinity has NaN for its scale, so that every product
// with it is NaN, as it would be in float32.
type PackedI8 struct {
	n, k   int
	data   []int8    // [ceil(n/16), StrideI8(k)/4, 16, 4]
	scales []float32 // [ceil(n/16)·16]
}

// StrideI8 is how far apart rows of k quantised activations lie: k rounded up to a
// multiple of 8.
func StrideI8(k int) int { return ceilDiv(k, strideI8) * strideI8 }

// SizesI8 returns the lengths of the two slices of a PackedI8 of n rows and k
// columns.
func SizesI8(n, k int) (data, scales int) {
	rows := panels(n) * panelRows
	return rows * StrideI8(k), rows
}

// NewPackedI8 returns a matrix of zeros.
func NewPackedI8(n, k int) *PackedI8 {
	if err := checkSizeI8(n, k); err != nil {
		panic("BUG: " + err.Error())
	}
	data, scales := SizesI8(n, k)
	return &PackedI8{n, k, bytesOf(alignedF32(data / 4)), alignedF32(scales)}
}

// PackI8 quantises W [n,k], row-major.
func PackI8(w []float32, n, k int) *PackedI8 {
	p := NewPackedI8(n, k)
	if len(w) != n*k {
		panic(fmt.Sprintf("BUG: pack %d×%d from %d values", n, k, len(w)))
	}
	for i := range n {
		p.SetRow(i, w[i*k:(i+1)*k])
	}
	return p
}

// ViewI8 returns the matrix of n rows and k columns whose slices [PackedI8.Data]
// and [PackedI8.Scales] returned; they may come from a file. Nothing is copied and
// nothing is written, so that they may be mapped read-only; a mapping must outlive
// the matrix. Any values are safe: a wrong file gives wrong products, no more.
func ViewI8(n, k int, data []int8, scales []float32) (*PackedI8, error) {
	if err := checkSizeI8(n, k); err != nil {
		return nil, err
	}
	wantData, wantScales := SizesI8(n, k)
	if len(data) != wantData || len(scales) != wantScales {
		return nil, fmt.Errorf("int8 matrix of %d×%d from %d bytes and %d scales, want %d and %d",
			n, k, len(data), len(scales), wantData, wantScales)
	}
	return &PackedI8{n, k, data, scales}, nil
}

func checkSizeI8(n, k int) error {
	if n < 0 || k < 0 || k > maxColumnsI8 || n > math.MaxInt32 {
		return fmt.Errorf("int8 matrix of %d×%d", n, k)
	}
	return nil
}

// Data returns the packed bytes, a multiple of 128 of them, which the caller must
// not change.
func (p *PackedI8) Data() []int8 { return p.data }

// Scales returns the scales of the rows, zeros for the padding, which the caller
// must not change.
func (p *PackedI8) Scales() []float32 { return p.scales }

// SetRow quantises v, of k values, into row i. The matrix must not be a view.
func (p *PackedI8) SetRow(i int, v []float32) {
	p.checkRow(i, len(v))
	row := make([]int8, StrideI8(p.k))
	QuantizeI8(row, p.scales[i:i+1], v, 0, 1, p.k)
	for out := p.lane(i); len(row) > 0; row = row[groupI8:] {
		*(*[groupI8]int8)(out) = *(*[groupI8]int8)(row)
		out = out[min(len(out), panelRows*groupI8):]
	}
}

// Row computes row i in float32, k values: the embedding of one token.
func (p *PackedI8) Row(i int, dst []float32) {
	p.checkRow(i, len(dst))
	lane, scale := p.lane(i), p.scales[i]
	for j := range dst {
		dst[j] = float32(lane[j/groupI8*panelRows*groupI8+j%groupI8]) * scale
	}
	rotateI8(dst)
}

// lane returns the bytes from row i's first group on; its groups are 64 bytes apart.
func (p *PackedI8) lane(i int) []int8 {
	panel := p.panel(i / panelRows)
	return panel[min(len(panel), i%panelRows*groupI8):]
}

// panel returns all columns of panel i.
func (p *PackedI8) panel(i int) []int8 {
	size := StrideI8(p.k) * panelRows
	return p.data[i*size : (i+1)*size]
}

func (p *PackedI8) checkRow(i, k int) {
	if i < 0 || i >= p.n || k != p.k {
		panic(fmt.Sprintf("BUG: row %d of %d values in an int8 matrix of %d×%d", i, k, p.n, p.k))
	}
}

// bytesOf is x as bytes: the memory of a float32 slice is as aligned as wished for.
func bytesOf(x []float32) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
