package token

import (
	"strings"
	"testing"
	"time"
)

// testWords is a small vocabulary: the 256 bytes in order, then the words.
func testWords(words ...string) [][]byte {
	all := make([][]byte, 256, 256+len(words))
	for b := range all {
		all[b] = []byte{byte(b)}
	}
	for _, w := range words {
		all = append(all, []byte(w))
	}
	return all
}

// testTokenizer has a small vocabulary and the languages of the first models.
func testTokenizer(t testing.TB, words ...string) *Tokenizer {
	t.Helper()
	all := testWords(words...)
	tok, err := New(all, len(all)+fixedSpecials+timestamps+99)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// fullWords is as many words as a published vocabulary has: the single bytes and
// made-up ones.
func fullWords(n int) [][]byte {
	words := testWords()
	for i := len(words); i < n; i++ {
		words = append(words, []byte{'w', byte(i >> 16), byte(i >> 8), byte(i)})
	}
	return words
}

func TestSpecials(t *testing.T) {
	// The ids are those of the published models' tokenizer.json and config.json.
	tests := []struct {
		name         string
		words, vocab int
		multilingual bool
		want         Specials
	}{
		{"english", 50256, 51864, false, Specials{50256, 50257, 50258, 50357, 50358, 50359, 50360, 50361, 50362, 50363}},
		{"multilingual", 50257, 51865, true, Specials{50257, 50258, 50259, 50358, 50359, 50360, 50361, 50362, 50363, 50364}},
		{"large-v3", 50257, 51866, true, Specials{50257, 50258, 50259, 50359, 50360, 50361, 50362, 50363, 50364, 50365}},
		{"made up", 256, 256 + 1509 + 2, true, Specials{256, 257, 258, 260, 261, 262, 263, 264, 265, 266}},
		{"made up, English-only", 256, 256 + 1509, false, Specials{256, 257, 258, 258, 259, 260, 261, 262, 263, 264}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tok, err := New(fullWords(tt.words), tt.vocab)
			if err != nil {
				t.Fatal(err)
			}
			if tok.Specials != tt.want {
				t.Errorf("specials %+v, want %+v", tok.Specials, tt.want)
			}
			if tok.Multilingual() != tt.multilingual {
				t.Errorf("multilingual %v", tok.Multilingual())
			}
			if tok.Vocab() != tt.vocab {
				t.Errorf("vocab %d, want %d", tok.Vocab(), tt.vocab)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	hole := testWords("x-")
	hole['x'] = []byte("xx")
	tests := []struct {
		name  string
		words [][]byte
		vocab int
		want  string
	}{
		{"no room for special tokens", testWords(), 256, "0 special tokens"},
		{"too many languages", testWords(), 256 + 1509 + 101, "1610 special tokens"},
		{"word twice", testWords("ab", "ab"), 258 + 1509, `words 256 and 257 are both "ab"`},
		{"byte missing", hole, 257 + 1509, "byte 0x78"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.words, tt.vocab)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestNewKeepsNothing(t *testing.T) {
	words := testWords("ab")
	tok, err := New(words, len(words)+1509)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		clear(w)
	}
	tok.Bytes(256)[0] = 'z'
	if got := tok.Decode(tok.Encode("abc")); got != "abc" {
		t.Errorf("after the caller's bytes changed: %q", got)
	}
}

func TestTimestamps(t *testing.T) {
	tok := testTokenizer(t)
	first, last := tok.FirstTimestamp, tok.Vocab()-1
	for id, want := range map[int]time.Duration{first: 0, first + 1: 20 * time.Millisecond, last: 30 * time.Second} {
		if got, ok := tok.Timestamp(id); !ok || got != want || !tok.IsTimestamp(id) {
			t.Errorf("token %d: %v %v, want %v", id, got, ok, want)
		}
	}
	for _, id := range []int{-1, 0, tok.NoTimestamps, last + 1} {
		if _, ok := tok.Timestamp(id); ok || tok.IsTimestamp(id) {
			t.Errorf("token %d taken for a timestamp", id)
		}
	}
}

func TestBytes(t *testing.T) {
	tok := testTokenizer(t, "ab")
	if got := string(tok.Bytes(256)); got != "ab" {
		t.Errorf("word 256: %q", got)
	}
	for _, id := range []int{-1, tok.EndOfText, tok.FirstTimestamp, tok.Vocab(), 1 << 40} {
		if got := tok.Bytes(id); got != nil {
			t.Errorf("id %d: %q, want none", id, got)
		}
	}
}
