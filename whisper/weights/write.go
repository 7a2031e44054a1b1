package weights

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strings"

	"earshot/whisper/token"
)

// Write writes a model file to path, replacing what is there, from values in
// memory: for made-up models in tests and for weights that a program computes. The
// caller sets Name and Dims and whatever else it wants of the header; the tensors
// are h.Tensors (name, type and shape as from Tensors), all of them float32 if it
// is nil. words are the tokenizer's (token.New). values returns the row-major values
// of a tensor.
//
// The file is not written in place of a good one safely; Store does that.
func Write(path string, h Header, words [][]byte, values func(name string, shape []int) []float32) error {
	if h.Tensors == nil {
		h.Tensors = Tensors(h.Dims, F32)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	if err := writeValues(f, h, words, values); err != nil {
		f.Close()
		return fmt.Errorf("write model %s: %w", path, err)
	}
	return f.Close()
}

func writeValues(f *os.File, h Header, words [][]byte, values func(string, []int) []float32) error {
	w, err := newWriter(f, h, words)
	if err != nil {
		return err
	}
	for _, t := range w.header.Tensors {
		v := values(t.Name, t.Shape)
		if int64(len(v)) != t.values() {
			return fmt.Errorf("tensor %s: %d values for shape %v", t.Name, len(v), t.Shape)
		}
		if err := w.put(t.Name, strings.NewReader(storedValues(t.DType, v))); err != nil {
			return err
		}
	}
	if err := w.checkValues(); err != nil {
		return err
	}
	return w.finish()
}

func storedValues(t DType, values []float32) string {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	if t == F16 {
		narrow(b, b)
		b = b[:len(b)/2]
	}
	return string(b)
}

// writer fills a model file section by section, in any order; the header is
// written last, so that an unfinished file is never taken for a model.
type writer struct {
	header     Header
	file       *os.File
	dataOffset int64
	fileBytes  int64
	missing    map[string]bool // tensors that have not been put
}

// newWriter lays the file out and writes the words. What finish may still
// change in the header is Name, Licence, Source.SHA256 and Fingerprint.
func newWriter(f *os.File, h Header, words [][]byte) (*writer, error) {
	packed := token.AppendWords(nil, words)
	w := &writer{header: h, file: f, missing: map[string]bool{}}
	w.header.Words = Section{Bytes: int64(len(packed)), CRC32C: crc32.Checksum(packed, castagnoli)}
	end := w.header.Words.Bytes
	w.header.Tensors = append([]Tensor(nil), h.Tensors...)
	for i := range w.header.Tensors {
		t := &w.header.Tensors[i]
		t.Section = Section{Offset: roundUp(end, alignBytes), Bytes: t.values() * t.DType.size(), CRC32C: math.MaxUint32}
		end = t.Offset + t.Bytes
		w.missing[t.Name] = true
	}
	if err := w.header.check(end); err != nil {
		return nil, err
	}
	head, err := w.header.encode(maxHeaderBytes+preambleBytes, 0)
	if err != nil {
		return nil, err
	}
	w.dataOffset = roundUp(int64(len(head))+headerSlack, pageBytes)
	w.fileBytes = w.dataOffset + end
	if _, err := f.WriteAt(packed, w.dataOffset); err != nil {
		return nil, err
	}
	return w, nil
}

// headerSlack is room for what finish may still put into the header: a name, a
// licence and two SHA-256.
const headerSlack = 512

// put writes a tensor's bytes, which are already in the type the header gives.
func (w *writer) put(name string, r io.Reader) error {
	i, ok := w.header.tensor(name)
	if !ok || !w.missing[name] {
		return fmt.Errorf("tensor %s is not expected, or for the second time", name)
	}
	delete(w.missing, name)
	t := &w.header.Tensors[i]
	crc := crc32.New(castagnoli)
	at := io.NewOffsetWriter(w.file, w.dataOffset+t.Offset)
	n, err := io.CopyBuffer(onlyWriter{io.MultiWriter(at, crc)}, io.LimitReader(r, t.Bytes), make([]byte, min(max(t.Bytes, 1), chunkBytes)))
	if err == nil && n < t.Bytes {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("tensor %s, byte %d of %d: %w", name, n, t.Bytes, err)
	}
	t.CRC32C = crc.Sum32()
	return nil
}

// onlyWriter hides ReadFrom, which would bypass the buffer.
type onlyWriter struct{ io.Writer }

// checkValues reads all tensors back, compares their checksums and sets the
// fingerprint.
func (w *writer) checkValues() (err error) {
	for name := range w.missing {
		return fmt.Errorf("tensor %s was not written", name)
	}
	if err := w.file.Truncate(w.fileBytes); err != nil {
		return err
	}
	data := io.NewSectionReader(w.file, w.dataOffset, w.fileBytes-w.dataOffset)
	w.header.Fingerprint, err = fingerprint(data, w.header.Tensors)
	return err
}

// finish writes the header.
func (w *writer) finish() error {
	if err := w.header.check(w.fileBytes - w.dataOffset); err != nil {
		return err
	}
	head, err := w.header.encode(w.dataOffset, w.fileBytes)
	if err != nil {
		return err
	}
	_, err = w.file.WriteAt(head, 0)
	return err
}
