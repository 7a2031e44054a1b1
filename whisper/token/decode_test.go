package token

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// streamed is what a Stream returns for ids, call by call.
func streamed(t *testing.T, tok *Tokenizer, ids []int) string {
	t.Helper()
	var b strings.Builder
	s := tok.Stream()
	for _, id := range ids {
		got := s.Push(id)
		if !utf8.ValidString(got) {
			t.Errorf("token %d gives %q", id, got)
		}
		b.WriteString(got)
	}
	return b.String()
}

// wordID is the id of a word of the vocabulary.
func wordID(t *testing.T, tok *Tokenizer, word string) int {
	t.Helper()
	id, ok := tok.words.find(word)
	if !ok {
		t.Fatalf("no word %q", word)
	}
	return id
}

// TestRuneOverTokens is case C64 (ggml-org/whisper.cpp#1798): wherever a text is cut
// into two tokens, it reads the same.
func TestRuneOverTokens(t *testing.T) {
	for _, text := range []string{"地", "😀", "안", "地震😀안녕"} {
		for cut := 1; cut < len(text); cut++ {
			var words []string
			for _, w := range []string{text[:cut], text[cut:]} {
				if len(w) > 1 {
					words = append(words, w)
				}
			}
			tok := testTokenizer(t, words...)
			ids := []int{wordID(t, tok, text[:cut]), wordID(t, tok, text[cut:])}
			if got := streamed(t, tok, ids); got != text {
				t.Errorf("%q cut at byte %d: %q", text, cut, got)
			}
			if got := tok.Decode(ids); got != text {
				t.Errorf("%q cut at byte %d: decoded %q", text, cut, got)
			}
		}
	}
}

func TestDecode(t *testing.T) {
	tok := testTokenizer(t, " there", "\xe5\x9c", "\xb0 ")
	tests := []struct {
		name string
		ids  []int
		want string
	}{
		{"OK", []int{'h', 'i', 256}, "hi there"},
		{"nothing", nil, ""},
		{"special tokens", []int{tok.StartOfTranscript, 'h', tok.FirstTimestamp, 'i', tok.EndOfText}, "hi"},
		{"outside of the vocabulary", []int{-1, 'h', 1 << 30}, "h"},
		{"rune in two tokens", []int{257, 258}, "地 "},
		{"timestamp inside a rune", []int{257, tok.FirstTimestamp, 258}, "地 "},
		{"one byte left over at the end", []int{'a', 0xe5}, "a"},
		{"invalid byte in the middle", []int{'a', 0xff, 'b'}, "ab"},
		{"rune broken off", []int{257, 'a'}, "a"},
		{"surrogate half", []int{0xed, 0xa0, 0x80, 'a'}, "a"},
		{"U+FFFD that the model said", []int{0xef, 0xbf, 0xbd}, "\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tok.Decode(tt.ids); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if got := streamed(t, tok, tt.ids); got != tt.want {
				t.Errorf("streamed %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStreamPendingAndReset(t *testing.T) {
	tok := testTokenizer(t)
	s := tok.Stream()
	s.Push(0xe5)
	if !s.Pending() {
		t.Error("nothing pending after half a rune")
	}
	s.Reset()
	if got := s.Push('a'); got != "a" || s.Pending() {
		t.Errorf("after Reset %q, pending %v", got, s.Pending())
	}
}
