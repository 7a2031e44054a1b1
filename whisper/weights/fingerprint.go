package weights

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
)

// fingerprint reads every tensor, checks its checksum, and returns the fingerprint
// of the values, as the package comment defines it. tensors are sorted by name;
// data begins at the data offset of the file.
func fingerprint(data io.ReaderAt, tensors []Tensor) (string, error) {
	sum := sha256.New()
	for _, t := range tensors {
		hashShape(sum, t)
		add := func(chunk []byte) { sum.Write(canonicalHalf(t.DType, chunk)) }
		if err := eachChunk(data, t.Section, add); err != nil {
			return "", fmt.Errorf("tensor %s %w", t.Name, err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func hashShape(sum hash.Hash, t Tensor) {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(len(t.Name)))
	b = append(b, t.Name...)
	b = le.AppendUint32(b, uint32(len(t.Shape)))
	for _, s := range t.Shape {
		b = le.AppendUint32(b, uint32(s))
	}
	sum.Write(b)
}

// canonicalHalf turns values into the float16 bytes that are hashed, in place.
func canonicalHalf(t DType, chunk []byte) []byte {
	if t == F32 {
		narrow(chunk, chunk)
		return chunk[:len(chunk)/2]
	}
	for i := 0; i+2 <= len(chunk); i += 2 {
		if binary.LittleEndian.Uint16(chunk[i:])&0x7fff > 0x7c00 {
			binary.LittleEndian.PutUint16(chunk[i:], halfNaN)
		}
	}
	return chunk
}

// chunkBytes is how much of a section is read at once: it stays in the
// second-level cache between checksum and conversion.
const chunkBytes = 256 << 10

// eachChunk reads a section in order, hands out its bytes in chunks of at most
// chunkBytes, which f may overwrite, and checks the checksum at the end.
func eachChunk(data io.ReaderAt, s Section, f func(chunk []byte)) error {
	buf := make([]byte, min(s.Bytes, chunkBytes))
	crc := uint32(0)
	for done := int64(0); done < s.Bytes; {
		n := min(int64(len(buf)), s.Bytes-done)
		if _, err := data.ReadAt(buf[:n], s.Offset+done); err != nil {
			return fmt.Errorf("unreadable at byte %d of its %d: %w", done, s.Bytes, noEOF(err))
		}
		crc = crc32.Update(crc, castagnoli, buf[:n])
		f(buf[:n])
		done += n
	}
	if crc != s.CRC32C {
		return fmt.Errorf("damaged: checksum %08x, want %08x", crc, s.CRC32C)
	}
	return nil
}

// noEOF names the end of a file as what it is inside of one.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
