package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is what the pre-tokeniser tells characters apart by.
type class int

const (
	other  class = iota // punctuation, symbols, marks, bytes that are not UTF-8
	letter              // Unicode category L
	number              // Unicode category N
	space               // Unicode property White_Space
)

// classify returns the class and the length in bytes of the first character of
// text, which must not be empty.
func classify(text string) (class, int) {
	r, n := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsLetter(r):
		return letter, n
	case unicode.In(r, unicode.N):
		return number, n
	case unicode.IsSpace(r):
		return space, n
	}
	return other, n
}

// contractions are the English endings that are pieces of their own.
var contractions = []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}

// nextPiece returns the length in bytes of the first piece of text, which must not
// be empty. No token reaches over the border of a piece. It is GPT-2's pattern
// (whisper/tokenizer.py, get_encoding)
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// by hand, since Go's regexp has no look-ahead: a contraction; or characters of
// one class with one blank in front of them; or white space, without the last
// character of it if something else follows, so that the blank can go to that.
func nextPiece(text string) int {
	for _, c := range contractions {
		if strings.HasPrefix(text, c) {
			return len(c)
		}
	}
	blank := 0
	if text[0] == ' ' && len(text) > 1 {
		blank = 1
	}
	if kind, _ := classify(text[blank:]); kind != space {
		return blank + run(text[blank:], kind)
	}
	all := run(text, space)
	if all == len(text) {
		return all
	}
	_, last := utf8.DecodeLastRuneInString(text[:all])
	if last == all {
		return all
	}
	return all - last
}

// run returns the length in bytes of the characters at the start of text that are
// all of one class.
func run(text string, want class) int {
	at := 0
	for at < len(text) {
		kind, n := classify(text[at:])
		if kind != want {
			break
		}
		at += n
	}
	return at
}
