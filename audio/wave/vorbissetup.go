package wave

import (
	"errors"
	"math"
	"math/bits"
)

// checkVorbisSetup walks over the setup header (Vorbis I, section 4.2.4) as far as its
// residues and rejects what would make the library allocate gigabytes or loop without
// end: it takes counts of up to 24 bits in there at their word. What the header says
// wrong besides makes it index out of range, which can be recovered from.
func checkVorbisSetup(header []byte) error {
	r := bitReader{b: header}
	values := 0
	for range r.read(8) + 1 {
		n, err := checkCodebook(&r)
		if err != nil {
			return err
		}
		if values += n; values > maxCodebookValues {
			return errors.New("the codebooks are too large")
		}
	}
	r.skip(int(r.read(6)+1) * 16) // the time domain transforms, which were never used
	for range r.read(6) + 1 {
		if err := skipFloor(&r); err != nil {
			return err
		}
	}
	for range r.read(6) + 1 {
		if err := checkResidue(&r); err != nil {
			return err
		}
	}
	if r.over {
		return errors.New("it is cut off")
	}
	return nil
}

const (
	// maxCodebookValues bounds entries times dimensions of all codebooks together.
	// libvorbis's largest setups have about 50 000.
	maxCodebookValues     = 1 << 19
	maxCodebookDimensions = 256
)

// checkCodebook returns how many values the codebook at r holds, and leaves r behind it.
func checkCodebook(r *bitReader) (int, error) {
	const pattern = 0x564342 // "BCV"
	if r.read(24) != pattern {
		return 0, errors.New("a codebook does not start where it should")
	}
	dimensions, entries := int(r.read(16)), int(r.read(24))
	size := entries * dimensions
	if dimensions < 1 || dimensions > maxCodebookDimensions || entries < 2 || size > maxCodebookValues {
		return 0, errors.New("a codebook has an absurd size")
	}
	if err := skipCodeLengths(r, entries); err != nil {
		return 0, err
	}
	switch lookup := r.read(4); lookup {
	case 0:
	case 1, 2:
		r.skip(64) // minimum and delta
		width := int(r.read(4)) + 1
		r.skip(1)
		if lookup == 1 {
			size = int(math.Floor(math.Pow(float64(entries), 1/float64(dimensions))))
		}
		r.skip(size * width)
	default:
		return 0, errors.New("a codebook has an unknown lookup type")
	}
	return entries * dimensions, nil
}

// skipCodeLengths passes over the lengths of the code words. At least one entry must
// be in use: the library would look for the first leaf of an empty tree for ever.
func skipCodeLengths(r *bitReader, entries int) error {
	used := 0
	if ordered := r.read(1) == 1; ordered {
		length := int(r.read(5)) + 1
		for ; used < entries; length++ {
			n := int(r.read(bits.Len(uint(entries - used))))
			if n > entries-used || length > 32 {
				return errors.New("a codebook has more code words than entries")
			}
			used += n
		}
	} else {
		sparse := r.read(1) == 1
		for range entries {
			if !sparse || r.read(1) == 1 {
				r.skip(5)
				used++
			}
		}
	}
	if used == 0 || r.over {
		return errors.New("a codebook has no code words")
	}
	return nil
}

// skipFloor passes over a floor (sections 6.2.1 and 7.2.2).
func skipFloor(r *bitReader) error {
	switch r.read(16) {
	case 0:
		r.skip(8 + 16 + 16 + 6 + 8)
		r.skip(int(r.read(4)+1) * 8)
		return nil
	case 1:
	default:
		return errors.New("a floor is of an unknown type")
	}
	partitions := make([]int, r.read(5)) // the class of each
	classes := 1                         // the library reads one even where none is used
	for i := range partitions {
		partitions[i] = int(r.read(4))
		classes = max(classes, partitions[i]+1)
	}
	dimensions := make([]int, classes)
	for i := range dimensions {
		dimensions[i] = int(r.read(3)) + 1
		subclasses := int(r.read(2))
		if subclasses > 0 {
			r.skip(8)
		}
		r.skip(8 << subclasses)
	}
	r.skip(2)
	width := int(r.read(4))
	for _, class := range partitions {
		r.skip(dimensions[class] * width)
	}
	return nil
}

// checkResidue leaves r behind the residue (section 8.6.1). The library subtracts its
// limits without comparing them.
func checkResidue(r *bitReader) error {
	r.skip(16)
	begin, end := r.read(24), r.read(24)
	if begin > end {
		return errors.New("a residue ends before it begins")
	}
	r.skip(24)
	classes := int(r.read(6)) + 1
	r.skip(8)
	books := 0
	for range classes {
		books += bits.OnesCount32(r.read(3))
		if r.read(1) == 1 {
			books += bits.OnesCount32(r.read(5))
		}
	}
	r.skip(books * 8)
	return nil
}

// bitReader reads bits, the least significant of each byte first.
type bitReader struct {
	b    []byte
	at   int // bits
	over bool
}

// read returns the next n ≤ 32 bits, zeros behind the end.
func (r *bitReader) read(n int) (v uint32) {
	for i := range n {
		byteAt := (r.at + i) / 8
		if byteAt >= len(r.b) {
			r.over = true
			break
		}
		v |= uint32(r.b[byteAt]>>((r.at+i)%8)&1) << i
	}
	r.at += n
	return v
}

func (r *bitReader) skip(n int) {
	r.at += n
	r.over = r.over || r.at > 8*len(r.b)
}
