package oncpu

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"earshot/cpu"
	"earshot/whisper/weights"
)

// A packed file holds a network's parameters as they are computed with, so that
// loading is mapping: the matrices in int8, everything else in float32. It is a
// cache beside the model file and is made again whenever it does not fit: another
// model, another version, damaged.
//
//	offset 0   "earshot int8\n", version, SHA-256 of the model's header in hex, padded to
//	           128 bytes
//	offset 128 the parameters in the order in which the network reads them, each at a
//	           multiple of 64
//	at the end CRC-32C of all that is before, 4 bytes little-endian
//
// Numbers are little-endian, as on every machine that it is made for.
const (
	packedMagic   = "earshot int8\n"
	packedVersion = 3 // changes with the order, the layout or the rounding of parameters
	packedHead    = 128
	packedAlign   = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// packedHeader is the first packedHead bytes of the packed file of a model. The
// fingerprint alone would not do: it is the same for weights in float32 and in float16,
// of which other bytes are made, and for any number of heads, which queries are scaled
// by. The header has all tensors' types and checksums.
func packedHeader(m *weights.Model) []byte {
	of, err := json.Marshal(m.Header)
	if err != nil {
		panic("BUG: " + err.Error()) // it was JSON
	}
	head := fmt.Appendf(nil, "%s%d %x\n", packedMagic, packedVersion, sha256.Sum256(of))
	return append(head, make([]byte, packedHead-len(head))...)
}

// packedReader hands out the parameters of a mapped packed file in order.
type packedReader struct {
	mapped []byte
	at     int
	end    int
	err    error // the first one
}

// openPacked maps a packed file and checks that it belongs to the model and is
// whole. The file is only ever replaced by renaming, so a mapping stays as it is.
func openPacked(path string, m *weights.Model) (*packedReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() < packedHead+4 || info.Size() > 1<<36 {
		return nil, fmt.Errorf("%s: not a packed model", path)
	}
	size := int(info.Size())
	mapped, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	r := &packedReader{mapped: mapped, at: packedHead, end: size - 4}
	switch {
	case string(mapped[:packedHead]) != string(packedHeader(m)):
		err = fmt.Errorf("%s: packed for another model or version", path)
	case crc32.Checksum(mapped[:r.end], castagnoli) != binary.LittleEndian.Uint32(mapped[r.end:]):
		err = fmt.Errorf("%s: damaged", path)
	default:
		return r, nil
	}
	return nil, errors.Join(err, syscall.Munmap(mapped))
}

var (
	errPackedShort = errors.New("packed model ends too early")
	errPackedLong  = errors.New("packed model goes on behind its end")
)

// finish returns the first error when all parameters have been read.
func (r *packedReader) finish() error {
	if r.err == nil && r.at != r.end {
		r.err = errPackedLong
	}
	return r.err
}

// take returns the next n bytes; zeros where there are no more.
func (r *packedReader) take(n int) []byte {
	from := (r.at + packedAlign - 1) / packedAlign * packedAlign
	if n > r.end-from {
		r.err = errPackedShort
		return make([]byte, n)
	}
	r.at = from + n
	return r.mapped[from:r.at:r.at]
}

func (r *packedReader) floats(n int, _ func() []float32) []float32 {
	b := r.take(4 * n)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func (r *packedReader) matrix(n, k int, _ func() []float32) matrix {
	size, scales := cpu.SizesI8(n, k)
	p, err := cpu.ViewI8(n, k, r.bytes(size), r.floats(scales, nil))
	if err != nil && r.err == nil {
		r.err = err
	}
	return matrix{i8: p}
}

func (r *packedReader) vocabulary(n, k int, _ func() []float32) vocabulary {
	plane, scales := cpu.SizesSplitI8(n, k)
	v := vocabulary{size: n, width: k}
	var err error
	if v.i8, err = cpu.ViewSplitI8(n, k, r.bytes(plane), r.bytes(plane), r.floats(scales, nil)); err != nil && r.err == nil {
		r.err = err
	}
	return v
}

func (r *packedReader) bytes(n int) []int8 {
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(r.take(n)))), n)
}

// packedWriter writes a packed file beside its final place.
type packedWriter struct {
	file *os.File
	out  io.Writer // file and checksum
	crc  interface{ Sum32() uint32 }
	at   int
	err  error // the first one; a cache that can't be written is done without
}

func createPacked(path string, m *weights.Model) (*packedWriter, error) {
	f, err := os.CreateTemp(filepath.Dir(path), weights.PackedTemp)
	if err != nil {
		return nil, err
	}
	crc := crc32.New(castagnoli)
	w := &packedWriter{file: f, out: io.MultiWriter(f, crc), crc: crc}
	w.write(packedHeader(m))
	return w, nil
}

func (w *packedWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	w.at += len(b)
}

// put writes the next parameter.
func (w *packedWriter) put(b []byte) {
	w.write(make([]byte, -w.at&(packedAlign-1)))
	w.write(b)
}

func (w *packedWriter) floats(_ int, values func() []float32) []float32 {
	v := values()
	w.put(bytesOf(v))
	return v
}

// matrix returns nothing, so that only one matrix at a time is in memory.
func (w *packedWriter) matrix(n, k int, values func() []float32) matrix {
	p := cpu.PackI8(values(), n, k)
	w.put(bytesOf(p.Data()))
	w.put(bytesOf(p.Scales()))
	return matrix{}
}

func (w *packedWriter) vocabulary(n, k int, values func() []float32) vocabulary {
	v := inMemory{Int8}.vocabulary(n, k, values)
	w.put(bytesOf(v.i8.High()))
	w.put(bytesOf(v.i8.Low()))
	w.put(bytesOf(v.i8.Scales()))
	return vocabulary{}
}

func bytesOf[T int8 | float32](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// finish puts the file in place, or removes it where something went wrong.
func (w *packedWriter) finish(path string, err error) error {
	sum := binary.LittleEndian.AppendUint32(nil, w.crc.Sum32())
	if err = errors.Join(err, w.err); err == nil {
		_, err = w.file.Write(sum)
	}
	if err == nil {
		err = errors.Join(w.file.Chmod(0o644), w.file.Sync())
	}
	if err = errors.Join(err, w.file.Close()); err == nil {
		err = os.Rename(w.file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(w.file.Name()))
	}
	return nil
}
