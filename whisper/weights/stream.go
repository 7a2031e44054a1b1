package weights

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// input is a file that can be read from its beginning any number of times: on the
// disk, inside a zip archive, or in parts.
type input struct {
	name string
	// open returns the bytes and how many there are.
	open func() (io.ReadCloser, int64, error)
}

// stream reads an input once, little-endian, and knows where it is.
type stream struct {
	r    io.Reader
	pos  int64
	size int64
}

func (s *stream) left() int64 { return s.size - s.pos }

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.pos += int64(n)
	return n, err
}

// bytes reads the next n bytes. It allocates nothing that the input does not have.
func (s *stream) bytes(n int64) ([]byte, error) {
	if n > s.left() {
		return nil, s.cut(n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(s, b); err != nil {
		return nil, s.failed(err)
	}
	return b, nil
}

// skip moves ahead by n bytes, without reading them where the input can seek.
func (s *stream) skip(n int64) error {
	if n > s.left() {
		return s.cut(n)
	}
	if seeker, ok := s.r.(io.Seeker); ok {
		s.pos += n
		_, err := seeker.Seek(n, io.SeekCurrent)
		return err
	}
	if _, err := io.CopyN(io.Discard, s, n); err != nil {
		return s.failed(err)
	}
	return nil
}

// visit hands a variable's data, which comes next, to f, and moves behind it.
func (s *stream) visit(v variable, f func(v variable, data io.Reader) error) error {
	if v.bytes > s.left() {
		return fmt.Errorf("%s: %w", v.name, s.cut(v.bytes))
	}
	end := s.pos + v.bytes
	if err := f(v, io.LimitReader(s, v.bytes)); err != nil {
		return err
	}
	if err := s.skip(end - s.pos); err != nil {
		return fmt.Errorf("%s: %w", v.name, err)
	}
	return nil
}

func (s *stream) cut(n int64) error {
	return fmt.Errorf("cut at byte %d of at least %d", s.size, s.pos+n)
}

func (s *stream) failed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("cut at byte %d of %d", s.pos, s.size)
	}
	return fmt.Errorf("read at byte %d: %w", s.pos, err)
}

func (s *stream) uint8() (uint8, error) {
	b, err := s.bytes(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

func (s *stream) uint16() (uint16, error) {
	b, err := s.bytes(2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

func (s *stream) uint32() (uint32, error) {
	b, err := s.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (s *stream) uint64() (uint64, error) {
	b, err := s.bytes(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}
