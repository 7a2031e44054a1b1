package token

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func equalWords(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

func TestWordsRoundTrip(t *testing.T) {
	for name, words := range map[string][][]byte{
		"none": {}, "bytes": testWords(), "empty and long words": testWords("", strings.Repeat("x", 300)),
	} {
		got, err := ParseWords(AppendWords(nil, words))
		if err != nil || !equalWords(got, words) {
			t.Errorf("%s: %v, %d words back, want %d", name, err, len(got), len(words))
		}
	}
}

func TestParseWordsRefuses(t *testing.T) {
	good := AppendWords(nil, [][]byte{[]byte("ab"), []byte("c")})
	for n := range good {
		if _, err := ParseWords(good[:n]); err == nil {
			t.Errorf("cut off after %d of %d bytes: no error", n, len(good))
		}
	}
	tests := map[string]string{
		string(good) + "x":                             "1 bytes behind the last of 2 words",
		"\xff\xff\xff\x7f":                             "words announced, 0 bytes left",
		"\x01\xff\xff\xff\x7f":                         "length 268435455, 0 bytes left",
		"\x01" + strings.Repeat("\xff", 9) + "\x01":    "too large",
		"\x01" + strings.Repeat("\xff", 20) + "\x01":   "too large",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01rest": "too large",
	}
	for data, want := range tests {
		if _, err := ParseWords([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", data, err, want)
		}
	}
}

func FuzzParseWords(f *testing.F) {
	f.Add(AppendWords(nil, testWords("ab", "")))
	f.Add([]byte("\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		words, err := ParseWords(data)
		if err != nil {
			return
		}
		again, err := ParseWords(AppendWords(nil, words))
		if err != nil || !equalWords(again, words) {
			t.Errorf("%q does not survive writing and reading: %v", words, err)
		}
	})
}

// jsonFile builds a tokenizer.json.
type jsonFile struct {
	Type   string
	Vocab  map[string]int
	Merges []any
	EOT    int // id of <|endoftext|> among the added tokens, negative for none
}

// smallJSON is a good file: 256 bytes, " t", "he", and an empty last word.
func smallJSON() jsonFile {
	f := jsonFile{Type: "BPE", Vocab: map[string]int{"Ġt": 256, "he": 257, "": 258}, EOT: 259,
		Merges: []any{"Ġ t", []string{"h", "e"}}}
	for r, b := range alphabet {
		f.Vocab[string(r)] = int(b)
	}
	return f
}

func (f jsonFile) data(t testing.TB) []byte {
	t.Helper()
	added := []any{map[string]any{"id": f.EOT + 1, "content": "<|startoftranscript|>"}}
	if f.EOT >= 0 {
		added = append(added, map[string]any{"id": f.EOT, "content": endOfText})
	}
	data, err := json.Marshal(map[string]any{
		"added_tokens": added,
		"model":        map[string]any{"type": f.Type, "vocab": f.Vocab, "merges": f.Merges},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseJSON(t *testing.T) {
	want := testWords(" t", "he", "")
	got, err := ParseJSON(smallJSON().data(t))
	if err != nil || !equalWords(got, want) {
		t.Fatalf("%v, %d words, want %d: %q", err, len(got), len(want), got[min(256, len(got)):])
	}
	// Older files have the end of text in the vocabulary too, or only there.
	f := smallJSON()
	f.Vocab[endOfText] = f.EOT
	f.EOT = -1
	if got, err = ParseJSON(f.data(t)); err != nil || !equalWords(got, want) {
		t.Errorf("end of text in the vocabulary: %v, %d words", err, len(got))
	}
}

func TestParseJSONRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*jsonFile)
		want   string
	}{
		{"another model", func(f *jsonFile) { f.Type = "WordPiece" }, `type "WordPiece"`},
		{"no end of text", func(f *jsonFile) { f.EOT = -1 }, "no token <|endoftext|>"},
		{"end of text far off", func(f *jsonFile) { f.EOT = 1 << 40 }, "with 259 tokens in the vocabulary"},
		{"hole", func(f *jsonFile) { delete(f.Vocab, "he"); f.Vocab["zz"] = 300 }, "no token has id 257"},
		{"id twice", func(f *jsonFile) { f.Vocab["zz"] = 257 }, "id 257 belongs to two"},
		{"id below zero", func(f *jsonFile) { f.Vocab["zz"] = -1 }, "has id -1"},
		{"outside of the alphabet", func(f *jsonFile) { delete(f.Vocab, "he"); f.Vocab["h é"] = 257 }, "byte alphabet"},
		{"merges out of order", func(f *jsonFile) { slices.Reverse(f.Merges) }, `merge 0, "h" with "e", does not make token 256`},
		{"merge of later words", func(f *jsonFile) { f.Merges[0] = "Ġt " }, `needs "Ġt"`},
		{"word without a merge", func(f *jsonFile) { f.Merges = f.Merges[:1] }, `no merge makes token 257 "he"`},
		{"more merges than words", func(f *jsonFile) { f.Merges = append(f.Merges, "a b", "c d") }, "fewer than 256 bytes and 4 merges"},
		{"merge of one word", func(f *jsonFile) { f.Merges[0] = "Ġt" }, "not two words"},
		{"merge of three words", func(f *jsonFile) { f.Merges[0] = []string{"a", "b", "c"} }, "merge of 3 words"},
		{"merge is a number", func(f *jsonFile) { f.Merges[0] = 7 }, "cannot unmarshal"},
		{"bytes not first", func(f *jsonFile) { f.Vocab["a"], f.Vocab["he"] = 257, int('a') }, `token 97 is "he"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := smallJSON()
			tt.change(&f)
			_, err := ParseJSON(f.data(t))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	for _, data := range []string{"", "{}", "[]", `{"model":null}`, `{"model":{"type":"BPE","merges":[null]}}`} {
		if _, err := ParseJSON([]byte(data)); err == nil {
			t.Errorf("%q: no error", data)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	f.Add(smallJSON().data(f))
	f.Add([]byte(fmt.Sprintf(`{"added_tokens":[{"id":0,"content":%q}],"model":{"type":"BPE","vocab":{"":0}}}`, endOfText)))
	f.Fuzz(func(t *testing.T, data []byte) {
		words, err := ParseJSON(data)
		if err != nil {
			return
		}
		if _, err := New(words, len(words)+fixedSpecials+timestamps); err != nil {
			t.Errorf("words that ParseJSON accepts are refused: %v", err)
		}
	})
}
