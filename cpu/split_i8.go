package cpu

import (
	"fmt"
	"math"
)

const (
	// pairRows is the number of rows of a SplitI8 that lie together.
	pairRows = 2 * panelRows
	// maxColumnsSplit keeps 32 times a sum of products of nibbles within int32.
	maxColumnsSplit = 1 << 15
)

// SplitI8 is the matrix of a [PackedI8] for a product of which only the largest values
// matter, as among the logits of a vocabulary: see [Pool.LargestI8]. The upper and the
// lower halves of its bytes lie apart, so that reading one half tells all products
// roughly, and reading the other tells the few that count exactly.
//
// A half of q[j,c]+128, a number from 0 to 15, is called a nibble. A plane of nibbles
// is laid out in pairs of panels, a pair in groups of 4 columns, a group as 16 rows of 4
// bytes; the lower half of a byte is a nibble of the first panel's row, and the
// upper half of the second's. Columns are padded to a multiple of 8, and rows to one of
// 32, with weights of 0 and scales of 0.
type SplitI8 struct {
	n, k      int
	high, low []int8    // [ceil(n/32), StrideI8(k)/4, 16, 4]
	scales    []float32 // [ceil(n/32)·32]
}

// SizesSplitI8 returns the lengths of a SplitI8's planes, each, and scales for n rows and
// k columns.
func SizesSplitI8(n, k int) (plane, scales int) {
	pairs := ceilDiv(n, pairRows)
	return pairs * panelRows * StrideI8(k), pairs * pairRows
}

// PackSplitI8 quantises W [n,k], row-major, as [PackI8] does.
func PackSplitI8(w []float32, n, k int) *SplitI8 {
	if err := checkSizeSplitI8(n, k); err != nil {
		panic("BUG: " + err.Error())
	}
	if len(w) != n*k {
		panic(fmt.Sprintf("BUG: pack %d×%d from %d values", n, k, len(w)))
	}
	plane, scales := SizesSplitI8(n, k)
	p := &SplitI8{n, k, bytesOf(alignedF32(plane / 4)), bytesOf(alignedF32(plane / 4)), alignedF32(scales)}
	row := make([]int8, StrideI8(k))
	for i := range scales {
		clear(row)
		if i < n {
			QuantizeI8(row, p.scales[i:i+1], w[i*k:(i+1)*k], 0, 1, k)
		}
		for c, q := range row {
			at, shift := p.place(i, c)
			u := uint8(q) ^ 0x80 // q+128
			p.high[at] |= int8(u >> 4 << shift)
			p.low[at] |= int8(u & 15 << shift)
		}
	}
	return p
}

// ViewSplitI8 is [ViewI8] for the slices that High, Low and Scales returned.
func ViewSplitI8(n, k int, high, low []int8, scales []float32) (*SplitI8, error) {
	if err := checkSizeSplitI8(n, k); err != nil {
		return nil, err
	}
	plane, wantScales := SizesSplitI8(n, k)
	if len(high) != plane || len(low) != plane || len(scales) != wantScales {
		return nil, fmt.Errorf("split int8 matrix of %d×%d from %d and %d bytes and %d scales, want %d, %d and %d",
			n, k, len(high), len(low), len(scales), plane, plane, wantScales)
	}
	return &SplitI8{n, k, high, low, scales}, nil
}

func checkSizeSplitI8(n, k int) error {
	if n < 0 || k < 0 || k > maxColumnsSplit || n > math.MaxInt32 {
		return fmt.Errorf("split int8 matrix of %d×%d", n, k)
	}
	return nil
}

// High returns the plane of the upper halves, which the caller must not change.
func (p *SplitI8) High() []int8 { return p.high }

// Low returns the plane of the lower halves, which the caller must not change.
func (p *SplitI8) Low() []int8 { return p.low }

// Scales returns the scales of the rows, which the caller must not change.
func (p *SplitI8) Scales() []float32 { return p.scales }

// Row computes row i in float32, k values: the embedding of one token.
func (p *SplitI8) Row(i int, dst []float32) {
	if i < 0 || i >= p.n || len(dst) != p.k {
		panic(fmt.Sprintf("BUG: row %d of %d values in a split int8 matrix of %d×%d", i, len(dst), p.n, p.k))
	}
	for c := range dst {
		at, shift := p.place(i, c)
		high, low := int(uint8(p.high[at])>>shift&15), int(uint8(p.low[at])>>shift&15)
		dst[c] = float32(high<<4+low-128) * p.scales[i]
	}
	rotateI8(dst)
}

// place is where the nibbles of row i, column c lie: the byte of a plane, and by how
// much it is shifted.
func (p *SplitI8) place(i, c int) (at, shift int) {
	pair := i / pairRows * panelRows * StrideI8(p.k)
	return pair + c/groupI8*panelRows*groupI8 + i%panelRows*groupI8 + c%groupI8, i / panelRows % 2 * 4
}

// LargestI8 computes dst = A·Wᵀ in two passes, on the threads of the pool, where only
// the largest values of each row matter. A is x, [m,k] with ldx values from row to row,
// quantised as by [QuantizeI8]; dst is [m,n] with ldd from row to row.
//
// The first pass takes every weight as 16·h − 120.5, h being its upper nibble:
//
//	dst[i,j] = float32(Σ_c a[i,c]·(32·h[j,c]−241)) · (scales[i]/2·scale[j])
//
// That is right to within ±7.5 steps of 127 and reads half of the bytes. Where
// one of 32 neighbouring values (of rows 32·t to 32·t+31 of W) is within margin of the
// largest, the second pass replaces all 32 by what [GemmI8] computes, to the last bit.
// The others stay as they are: rough, and below the largest by more than the margin.
func (p *Pool) LargestI8(dst []float32, ldd int, x []float32, ldx, m int, w *SplitI8, margin float32) {
	defer p.lock().Unlock()
	p.growA(m, w.k)
	pairs := ceilDiv(w.n, pairRows)
	if len(p.tops) < m*pairs {
		p.tops, p.exact = make([]float32, m*pairs), make([]uint32, m*pairs)
	}
	checkQuantizeI8(p.a, p.aScales, x, ldx, m, w.k)
	checkResultI8(dst, ldd, m, w.n)
	if m > 0 && w.n > 0 {
		active.jobs.largestI8(p, dst, ldd, x, ldx, m, w, margin)
	}
}
