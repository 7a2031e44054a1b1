package cpu

import (
	"fmt"
	"unsafe"
)

// panelRows is the number of rows of W that lie side by side in a panel: two
// AVX2 or four NEON registers of float32.
const panelRows = 16

// PackedF32 is a matrix W [N,K] in panels of 16 rows: panel p holds, for column
// k, the 16 values W[16p…16p+15, k] next to each other, so that a kernel reads
// memory front to back. Every column has its 16 values aligned to 64 bytes.
//
// N and K are capacities: [GemmF32] may use less of both, so a cache that grows
// by a position at a time is a PackedF32 too. It is not safe for concurrent
// writing.
type PackedF32 struct {
	n, k int
	data []float32 // [ceil(n/16), k, 16]
}

// NewPackedF32 returns a matrix of zeros with room for n rows and k columns.
func NewPackedF32(n, k int) *PackedF32 {
	if n < 0 || k < 0 {
		panic(fmt.Sprintf("BUG: packed matrix of %d×%d", n, k))
	}
	return &PackedF32{n: n, k: k, data: alignedF32(SizeF32(n, k))}
}

// PackF32 returns a packed copy of W [n,k], whose element (i,j) is
// w[i*rowStride+j*colStride].
func PackF32(w []float32, n, k, rowStride, colStride int) *PackedF32 {
	p := NewPackedF32(n, k)
	p.Pack(w, n, k, rowStride, colStride)
	return p
}

// SizeF32 returns the length of the slice of a PackedF32 with room for n rows and k
// columns.
func SizeF32(n, k int) int { return panels(n) * k * panelRows }

// ViewF32 returns the matrix of n rows and k columns whose slice [PackedF32.Data]
// returned; it may come from a file, and must begin at a multiple of 64 bytes. Nothing is
// copied, so that it may be mapped read-only, and then must not be written to; a mapping
// must outlive the matrix.
func ViewF32(n, k int, data []float32) *PackedF32 {
	if n < 0 || k < 0 || len(data) != SizeF32(n, k) {
		panic(fmt.Sprintf("BUG: packed matrix of %d×%d from %d values", n, k, len(data)))
	}
	return &PackedF32{n: n, k: k, data: data}
}

// Data returns the packed values.
func (p *PackedF32) Data() []float32 { return p.data }

// Pack overwrites rows 0…n-1, columns 0…k-1 with a matrix whose element (i,j) is
// w[i*rowStride+j*colStride]. Nothing is allocated; n and k must not exceed the
// capacity. Whatever lay beyond n and k may be overwritten or stay.
func (p *PackedF32) Pack(w []float32, n, k, rowStride, colStride int) {
	p.check(n, k)
	if n == 0 || k == 0 {
		return
	}
	if rowStride < 0 || colStride < 0 || (n-1)*rowStride+(k-1)*colStride >= len(w) {
		panic(fmt.Sprintf("BUG: pack %d×%d with strides %d, %d from %d values", n, k, rowStride, colStride, len(w)))
	}
	for row := 0; row < n; row += panelRows {
		out := p.panel(row / panelRows)[:k*panelRows]
		src := w[row*rowStride:]
		if rows := n - row; rows < panelRows {
			packEdge(out, src, rows, rowStride, colStride)
		} else if rowStride == 1 {
			packColumns(out, src, colStride)
		} else {
			packRows(out, src, rowStride, colStride)
		}
	}
}

// packColumns fills a whole panel from a source whose columns are contiguous.
func packColumns(out, src []float32, colStride int) {
	for at := 0; len(out) > 0; at += colStride {
		*(*[panelRows]float32)(out) = *(*[panelRows]float32)(src[at:])
		out = out[panelRows:]
	}
}

// packRows fills a whole panel four rows at a time, so that the reads are few
// streams and the writes stay within a line of the cache.
func packRows(out, src []float32, rowStride, colStride int) {
	for lane := 0; lane < panelRows; lane += 4 {
		r0, r1 := src[lane*rowStride:], src[(lane+1)*rowStride:]
		r2, r3 := src[(lane+2)*rowStride:], src[(lane+3)*rowStride:]
		at := 0
		for o := out[lane:]; ; o = o[panelRows:] {
			q := (*[4]float32)(o)
			q[0], q[1], q[2], q[3] = r0[at], r1[at], r2[at], r3[at]
			if len(o) <= panelRows {
				break
			}
			at += colStride
		}
	}
}

// packEdge fills the first rows lanes of the last panel and zeroes the others.
func packEdge(out, src []float32, rows, rowStride, colStride int) {
	clear(out)
	for lane := range rows {
		at := lane * rowStride
		for i := lane; i < len(out); i += panelRows {
			out[i] = src[at]
			at += colStride
		}
	}
}

// SetRow overwrites columns 0…len(v)-1 of row i: one position of a cache of keys.
func (p *PackedF32) SetRow(i int, v []float32) {
	if i < 0 {
		panic(fmt.Sprintf("BUG: set row %d", i))
	}
	p.check(i+1, len(v))
	out := p.panel(i / panelRows)
	at := i % panelRows
	for _, x := range v {
		out[at] = x
		at += panelRows
	}
}

// SetCol overwrites rows 0…len(v)-1 of column j: one position of a cache of values.
func (p *PackedF32) SetCol(j int, v []float32) {
	if j < 0 {
		panic(fmt.Sprintf("BUG: set column %d", j))
	}
	p.check(len(v), j+1)
	for at := j * panelRows; len(v) > 0; at += p.k * panelRows {
		n := min(panelRows, len(v))
		copy(p.data[at:], v[:n])
		v = v[n:]
	}
}

// Row copies columns 0…len(dst)-1 of row i into dst: the embedding of one token.
func (p *PackedF32) Row(i int, dst []float32) {
	if i < 0 {
		panic(fmt.Sprintf("BUG: row %d", i))
	}
	p.check(i+1, len(dst))
	panel := p.panel(i / panelRows)
	at := i % panelRows
	for j := range dst {
		dst[j] = panel[at]
		at += panelRows
	}
}

// CopyFrom copies rows 0…n-1, columns 0…k-1 of src, which may have another
// capacity: a beam takes over another one's cache.
func (p *PackedF32) CopyFrom(src *PackedF32, n, k int) {
	p.check(n, k)
	src.check(n, k)
	for i := range panels(n) {
		copy(p.panel(i)[:k*panelRows], src.panel(i))
	}
}

// panel returns all columns of panel i.
func (p *PackedF32) panel(i int) []float32 {
	size := p.k * panelRows
	return p.data[i*size : (i+1)*size]
}

func (p *PackedF32) check(n, k int) {
	if n < 0 || k < 0 || n > p.n || k > p.k {
		panic(fmt.Sprintf("BUG: %d×%d of a packed matrix with room for %d×%d", n, k, p.n, p.k))
	}
}

func panels(rows int) int { return ceilDiv(rows, panelRows) }

// alignedF32 returns n zeros that start at a multiple of 64 bytes. Heap objects
// do not move, so the alignment lasts.
func alignedF32(n int) []float32 {
	const lanes = 16
	if n == 0 {
		return nil
	}
	buf := make([]float32, n+lanes-1)
	skip := int(-uintptr(unsafe.Pointer(&buf[0])) % 64 / 4)
	return buf[skip : skip+n : skip+n]
}
