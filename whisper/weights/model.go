package weights

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"earshot/whisper/token"
)

// Model is an open model file. It is safe for concurrent use.
type Model struct {
	Header // read only

	preamble preamble
	path     string
	file     io.ReaderAt
	close    func() error
	mapped   []byte // the whole file
}

// Open opens a model file, checks its header and maps the file read-only. The
// tensors' checksums are checked where they are read: by F32 and Verify.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	m, err := openFile(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open model %s: %w", path, err)
	}
	return m, nil
}

func openFile(f *os.File) (*Model, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file")
	}
	m, err := newModel(f.Name(), f, info.Size())
	if err != nil {
		return nil, err
	}
	m.close = f.Close
	m.mapped, err = syscall.Mmap(int(f.Fd()), 0, int(m.preamble.fileBytes), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", m.preamble.fileBytes, err)
	}
	return m, nil
}

// newModel reads the header of a model of size bytes.
func newModel(path string, r io.ReaderAt, size int64) (*Model, error) {
	p, err := readPreamble(r, size)
	if err != nil {
		return nil, err
	}
	h, err := readHeader(r, p)
	if err != nil {
		return nil, err
	}
	return &Model{Header: *h, preamble: p, path: path, file: r}, nil
}

// Close unmaps and closes the file; what Tensor returned must no longer be used.
func (m *Model) Close() error {
	if m.mapped != nil {
		if err := syscall.Munmap(m.mapped); err != nil {
			return fmt.Errorf("close model %s: %w", m.path, err)
		}
		m.mapped = nil
	}
	if m.close == nil {
		return nil
	}
	f := m.close
	m.close = nil
	return f()
}

// Path is where the model was opened.
func (m *Model) Path() string { return m.path }

// PackedPath is the file beside the model in which a backend may keep the weights in
// a form of its own. It is written under a name that os.CreateTemp makes of PackedTemp
// and renamed. Store.Remove removes it too.
func (m *Model) PackedPath() string { return packedPath(m.path) }

func packedPath(model string) string { return strings.TrimSuffix(model, extension) + ".packed" }

// data is the file from the data offset on.
func (m *Model) data() io.ReaderAt {
	return io.NewSectionReader(m.file, m.preamble.dataOffset, m.preamble.fileBytes-m.preamble.dataOffset)
}

func (m *Model) find(name string) (Tensor, error) {
	i, ok := m.tensor(name)
	if !ok {
		return Tensor{}, fmt.Errorf("model %s: no tensor %q", m.path, name)
	}
	return m.Tensors[i], nil
}

// F32 returns a fresh float32 copy of a tensor, row-major, with its checksum
// verified; shape is what the caller expects.
//
// It reads the file and does not touch the mapping, so that a file which someone
// cuts while it is open gives an error and not a SIGBUS.
func (m *Model) F32(name string, shape ...int) ([]float32, error) {
	t, err := m.find(name)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(t.Shape, shape) {
		return nil, fmt.Errorf("model %s: tensor %s has shape %v, want %v", m.path, name, t.Shape, shape)
	}
	values := make([]float32, t.values())
	rest := values
	err = eachChunk(m.data(), t.Section, func(chunk []byte) {
		n := len(chunk) / int(t.DType.size())
		decode(t.DType, rest[:n], chunk)
		rest = rest[n:]
	})
	if err != nil {
		return nil, fmt.Errorf("model %s: tensor %s %w", m.path, name, err)
	}
	return values, nil
}

// decode writes src's values to dst. Two goroutines share the work, most of which is
// waiting for fresh pages of dst.
func decode(t DType, dst []float32, src []byte) {
	half := len(dst) / 2
	convert := widen
	if t == F32 {
		convert = copyF32
	}
	var other sync.WaitGroup
	other.Go(func() { convert(dst[half:], src[half*int(t.size()):]) })
	convert(dst[:half], src)
	other.Wait()
}

func copyF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// Tensor returns a tensor's description and its stored bytes inside the mapping,
// at an address that is a multiple of 64. They may be read until Close. The
// checksum is not verified (see Verify), and reading them raises SIGBUS if someone
// cuts the file meanwhile; Store never does: it replaces files by renaming.
func (m *Model) Tensor(name string) (Tensor, []byte, error) {
	t, err := m.find(name)
	if err != nil {
		return Tensor{}, nil, err
	}
	begin := m.preamble.dataOffset + t.Offset
	return t, m.mapped[begin : begin+t.Bytes : begin+t.Bytes], nil
}

// Tokenizer returns the model's tokenizer.
func (m *Model) Tokenizer() (*token.Tokenizer, error) {
	words, err := m.words()
	if err == nil {
		var t *token.Tokenizer
		if t, err = token.New(words, m.Dims.Vocab); err == nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("model %s: tokenizer words: %w", m.path, err)
}

func (m *Model) words() ([][]byte, error) {
	data := make([]byte, 0, m.Words.Bytes)
	err := eachChunk(m.data(), m.Words, func(chunk []byte) { data = append(data, chunk...) })
	if err != nil {
		return nil, err
	}
	return token.ParseWords(data)
}
