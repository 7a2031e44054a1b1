package token

import (
	"encoding/binary"
	"fmt"
)

// AppendWords appends the words of a vocabulary in the compact form that
// ParseWords reads: their number, then each as its length in bytes and its bytes.
// Numbers are unsigned varints (encoding/binary).
func AppendWords(dst []byte, words [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(words)))
	for _, w := range words {
		dst = binary.AppendUvarint(dst, uint64(len(w)))
		dst = append(dst, w...)
	}
	return dst
}

// ParseWords reads what AppendWords wrote, and nothing more or less than that. The
// words are parts of data. It needs memory for at most one slice per byte of data,
// whatever the bytes say.
func ParseWords(data []byte) ([][]byte, error) {
	count, rest, err := uvarint(data)
	if err != nil {
		return nil, fmt.Errorf("read number of words: %w", err)
	}
	if count > len(rest) {
		return nil, fmt.Errorf("read words: %d words announced, %d bytes left", count, len(rest))
	}
	words := make([][]byte, count)
	for id := range words {
		var n int
		if n, rest, err = uvarint(rest); err != nil {
			return nil, fmt.Errorf("read length of word %d of %d: %w", id, count, err)
		}
		if n > len(rest) {
			return nil, fmt.Errorf("read word %d of %d: length %d, %d bytes left", id, count, n, len(rest))
		}
		words[id], rest = rest[:n:n], rest[n:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("read words: %d bytes behind the last of %d words", len(rest), count)
	}
	return words, nil
}

// uvarint reads one number that fits in 31 bits and returns what is behind it.
func uvarint(data []byte) (int, []byte, error) {
	v, n := binary.Uvarint(data)
	switch {
	case n == 0:
		return 0, nil, fmt.Errorf("cut off after %d bytes", len(data))
	case n < 0 || v > 1<<31-1:
		return 0, nil, fmt.Errorf("number too large")
	}
	return int(v), data[n:], nil
}
