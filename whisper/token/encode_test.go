package token

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// encoded is one text of testdata/encode.json, which testdata/make.py made with
// another implementation.
type encoded struct {
	Text   string `json:"text"`
	Pieces []int  `json:"pieces"`
	TinyEn []int  `json:"tiny.en"`
	Base   []int  `json:"base"`
}

func readEncoded(t testing.TB) []encoded {
	t.Helper()
	data, err := os.ReadFile("testdata/encode.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []encoded
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 100 {
		t.Fatalf("only %d texts in testdata/encode.json", len(rows))
	}
	return rows
}

func TestPieces(t *testing.T) {
	for _, row := range readEncoded(t) {
		var got []int
		for rest := row.Text; rest != ""; rest = rest[got[len(got)-1]:] {
			got = append(got, nextPiece(rest))
		}
		if !slices.Equal(got, row.Pieces) {
			t.Errorf("%q: pieces of %v bytes, want %v", row.Text, got, row.Pieces)
		}
	}
}

func TestEncode(t *testing.T) {
	tok := testTokenizer(t, "ab", "bc", "abc", " a", "aa", "aaaa", "xyz", "\xe5\x9c", "<|en|>x", "no", "mno", "mn", "st", "rs")
	tests := []struct {
		name, text string
		want       []string
	}{
		{"OK", "abc", []string{"abc"}},
		{"lowest rank first", "dabcd", []string{"d", "abc", "d"}},
		{"leftmost among equals", "aaa-", []string{"aa", "a", "-"}},
		{"merge of merges", "aaaaaa", []string{"aaaa", "aa"}},
		{"right word is gone when its pair comes up", "rst", []string{"r", "st"}},
		{"left word is gone when its pair comes up", "qmno", []string{"q", "mno"}},
		{"blank goes with the word", "b a", []string{"b", " a"}},
		{"no merge over the border of a piece", "a1", []string{"a", "1"}},
		{"word that no merge reaches", "xyzq", []string{"x", "y", "z", "q"}},
		{"rune without a token", "地", []string{"\xe5\x9c", "\xb0"}},
		{"invalid UTF-8", "a\xff\xc3", []string{"a", "\xff", "\xc3"}},
		{"special token as text", "<|en|>", []string{"<", "|", "e", "n", "|", ">"}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, id := range tok.Encode(tt.text) {
				got = append(got, string(tok.Bytes(id)))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestEncodeLongPiece fails by taking minutes if merging is quadratic.
func TestEncodeLongPiece(t *testing.T) {
	tok := testTokenizer(t, "aa", "aaaa")
	start := time.Now()
	if n := len(tok.Encode(strings.Repeat("a", 400_000))); n != 100_000 {
		t.Errorf("%d tokens, want 50000", n)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestNonSpeech(t *testing.T) {
	tok := testTokenizer(t, " -", "((", " ((", " \xe2", "\xe2\x99", "☀")
	var got []string
	for _, id := range tok.NonSpeech() {
		got = append(got, string(tok.Bytes(id)))
	}
	for _, want := range []string{`"`, "#", " -", "((", " ((", "\xe2\x99", " \xe2"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not suppressed", want)
		}
	}
	for _, word := range []string{" ", "-", "'", ".", ",", "?", "!", "a", "☀"} {
		if slices.Contains(got, word) {
			t.Errorf("%q is suppressed", word)
		}
	}
	if bytesOnly := testTokenizer(t); slices.Contains(bytesOnly.NonSpeech(), ' ') {
		t.Error("the blank is suppressed in a vocabulary of bytes")
	}
}

// FuzzEncode: no text is refused, changed, or decoded into anything but itself
// without the bytes that are not UTF-8.
func FuzzEncode(f *testing.F) {
	tok := testTokenizer(f, " t", "he", " the", "\xe5\x9c", "\xf0\x9f", "  ", "'s")
	for _, s := range []string{"", "the 's  x", "地震😀안녕", "\xff\xe5", "a\xc3 \x00\t\t ", "<|en|>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := tok.Encode(text)
		var joined []byte
		for _, id := range ids {
			joined = append(joined, tok.Bytes(id)...)
		}
		if string(joined) != text {
			t.Errorf("%q came back as %q", text, joined)
		}
		if got, want := tok.Decode(ids), strings.ToValidUTF8(text, ""); got != want {
			t.Errorf("%q decodes as %q, want %q", text, got, want)
		}
	})
}
