package token

import "unicode/utf8"

// Decode returns the text of ids without special tokens. It is what a Stream gives
// for the same ids.
func (t *Tokenizer) Decode(ids []int) string {
	s := t.Stream()
	var text []byte
	for _, id := range ids {
		text = s.append(text, id)
	}
	return string(text)
}

// Stream turns tokens into text as they are decoded. A token may end inside a
// rune; a Stream keeps such bytes back until the tokens that follow complete the
// rune, so that all it returns is valid UTF-8 and does not depend on how the text
// is cut into tokens.
//
// Bytes that can't be part of any rune are dropped, as are bytes still kept back
// at the end. The text therefore holds U+FFFD only where the model spelt it out.
// Special tokens have no text, and bytes kept back stay so over them.
type Stream struct {
	t    *Tokenizer
	held []byte // the start of one rune, up to 3 bytes
}

// Stream starts a new text.
func (t *Tokenizer) Stream() *Stream { return &Stream{t: t} }

// Push takes the next token and returns the text that it completes, often none.
func (s *Stream) Push(id int) string { return string(s.append(nil, id)) }

// Pending says whether bytes are kept back: the last token ended inside a rune.
func (s *Stream) Pending() bool { return len(s.held) > 0 }

// Reset drops bytes kept back and starts a new text.
func (s *Stream) Reset() { s.held = s.held[:0] }

// append appends to text what Push returns.
func (s *Stream) append(text []byte, id int) []byte {
	if id < 0 || id >= s.t.words.len() {
		return text
	}
	s.held = append(s.held, s.t.words.at(id)...)
	rest := s.held
	for utf8.FullRune(rest) {
		r, n := utf8.DecodeRune(rest)
		if r != utf8.RuneError || n > 1 {
			text = append(text, rest[:n]...)
		}
		rest = rest[n:]
	}
	s.held = append(s.held[:0], rest...)
	return text
}
