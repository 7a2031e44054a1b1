package token

import "fmt"

// GPT-2 writes byte strings as text in an alphabet of 256 printable characters
// (bytes_to_unicode in GPT-2's encoder.py): a byte that is printable in Latin-1 is
// that character, the others in ascending order are U+0100, U+0101, …

// printable says whether a byte stands for itself in the alphabet.
func printable(b int) bool {
	return '!' <= b && b <= '~' || '¡' <= b && b <= '¬' || '®' <= b && b <= 'ÿ'
}

// alphabet maps the characters to bytes.
var alphabet = makeAlphabet()

func makeAlphabet() map[rune]byte {
	a := make(map[rune]byte, 256)
	next := rune(0x100)
	for b := range 256 {
		if printable(b) {
			a[rune(b)] = byte(b)
			continue
		}
		a[next] = byte(b)
		next++
	}
	return a
}

// fromAlphabet returns the bytes that a token of a tokenizer.json stands for, never
// nil.
func fromAlphabet(s string) ([]byte, error) {
	word := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := alphabet[r]
		if !ok {
			return nil, fmt.Errorf("%q holds %q, which is not in GPT-2's byte alphabet", s, r)
		}
		word = append(word, b)
	}
	return word, nil
}
