package wave

import (
	"bufio"
	"errors"
	"io"
)

// inputBuffer is the size of the read buffer and so the farthest look ahead, in
// bytes. The longest MP3 frame has 1441 bytes, the longest Ogg page 65 307.
const inputBuffer = 1 << 16

// input is the byte stream under a decoder, with its position and, where it can be
// known, its size.
type input struct {
	*bufio.Reader
	count *counter
	size  int64 // bytes in all; -1 when unknown
}

type counter struct {
	r   io.Reader
	n   int64
	err error // why reading failed, if it did
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !ended(err) {
		c.err = err
	}
	return n, err
}

func newInput(src io.Reader) *input {
	c := &counter{r: src}
	return &input{Reader: bufio.NewReaderSize(c, inputBuffer), count: c, size: sizeOf(src)}
}

// pos is the number of bytes consumed.
func (in *input) pos() int64 { return in.count.n - int64(in.Buffered()) }

// failed is the error of the reader itself, if it had one. Decoding libraries hand
// it on in many shapes; it must not be taken for damage, which is passed over.
func (in *input) failed() error { return in.count.err }

// skip discards n bytes without holding them. It returns io.ErrUnexpectedEOF where
// fewer follow.
func (in *input) skip(n int64) error {
	_, err := io.CopyN(io.Discard, in.Reader, n)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skipID3 skips ID3v2 tags, which stand in front of MP3 and at times of FLAC. The
// size is a "synchsafe" integer, 7 bits a byte (id3.org, ID3v2.4 section 3.1).
func (in *input) skipID3() error {
	for {
		head, err := in.Peek(10)
		if err != nil || string(head[:3]) != "ID3" {
			return nil // too short for a tag: sniffing says what it is
		}
		size := int64(head[6]&0x7f)<<21 | int64(head[7]&0x7f)<<14 | int64(head[8]&0x7f)<<7 | int64(head[9]&0x7f)
		const footer = 0x10
		if head[5]&footer != 0 {
			size += 10
		}
		if err := in.skip(10 + size); err != nil {
			return damagedf("the ID3 tag of %d bytes is cut off", size)
		}
	}
}

// sizeOf returns how many bytes src still holds, -1 when it cannot tell.
func sizeOf(src io.Reader) int64 {
	s, ok := src.(io.Seeker)
	if !ok {
		return -1
	}
	here, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return -1
	}
	end, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return -1
	}
	if _, err := s.Seek(here, io.SeekStart); err != nil {
		return -1
	}
	return end - here
}

// ended reports whether err means that the bytes ran out, and not that reading
// them failed.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
