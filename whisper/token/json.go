package token

import (
	"encoding/json"
	"fmt"
	"strings"
)

// endOfText is the first special token: what has a lower id is a word.
const endOfText = "<|endoftext|>"

// tokenizerFile is the part of a Hugging Face tokenizer.json that we read.
type tokenizerFile struct {
	AddedTokens []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
	Model struct {
		Type   string         `json:"type"`
		Vocab  map[string]int `json:"vocab"`
		Merges []mergeRule    `json:"merges"`
	} `json:"model"`
}

// mergeRule is the two words of a merge, in GPT-2's byte alphabet.
type mergeRule [2]string

// UnmarshalJSON reads both forms in use: "a b" and ["a", "b"].
func (m *mergeRule) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		var parts []string
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		if len(parts) != 2 {
			return fmt.Errorf("merge of %d words, want 2", len(parts))
		}
		*m = mergeRule(parts)
		return nil
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	left, right, ok := strings.Cut(s, " ")
	if !ok {
		return fmt.Errorf("merge %q is not two words", s)
	}
	*m = mergeRule{left, right}
	return nil
}

// ParseJSON reads the vocabulary from a Hugging Face tokenizer.json and returns
// the words in id order: those below <|endoftext|>. The special tokens are not
// read; New numbers them.
//
// It checks what the rest of the package stands on: ids are dense, the first 256
// words are the single bytes, and merge i makes word 256+i out of two earlier
// words, so that ids are merge priorities. Words without a merge must be empty.
func ParseJSON(data []byte) ([][]byte, error) {
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("parse tokenizer.json: %w", err)
	}
	if f.Model.Type != "BPE" {
		return nil, fmt.Errorf("parse tokenizer.json: model type %q, want BPE", f.Model.Type)
	}
	words, err := f.words()
	if err != nil {
		return nil, fmt.Errorf("parse tokenizer.json: %w", err)
	}
	if err := f.checkRanks(words); err != nil {
		return nil, fmt.Errorf("parse tokenizer.json: %w", err)
	}
	return words, nil
}

// words puts the vocabulary in id order.
func (f *tokenizerFile) words() ([][]byte, error) {
	n, err := f.endOfText()
	if err != nil {
		return nil, err
	}
	words := make([][]byte, n)
	for s, id := range f.Model.Vocab {
		if id >= n {
			continue
		}
		if id < 0 {
			return nil, fmt.Errorf("token %q has id %d", s, id)
		}
		if words[id] != nil {
			return nil, fmt.Errorf("id %d belongs to two tokens, one of them %q", id, s)
		}
		if words[id], err = fromAlphabet(s); err != nil {
			return nil, fmt.Errorf("token %d: %w", id, err)
		}
	}
	for id, w := range words {
		if w == nil {
			return nil, fmt.Errorf("no token has id %d, of %d words", id, n)
		}
	}
	return words, nil
}

// endOfText returns the id of the first special token, which is also the number of
// words.
func (f *tokenizerFile) endOfText() (int, error) {
	id, ok := f.Model.Vocab[endOfText]
	for _, a := range f.AddedTokens {
		if a.Content == endOfText {
			id, ok = a.ID, true
		}
	}
	if !ok {
		return 0, fmt.Errorf("no token %s", endOfText)
	}
	if id < 0 || id > len(f.Model.Vocab) {
		return 0, fmt.Errorf("token %s has id %d with %d tokens in the vocabulary", endOfText, id, len(f.Model.Vocab))
	}
	return id, nil
}

// checkRanks checks that ids are merge priorities.
func (f *tokenizerFile) checkRanks(words [][]byte) error {
	if len(words) < 256+len(f.Model.Merges) {
		return fmt.Errorf("%d words, fewer than 256 bytes and %d merges", len(words), len(f.Model.Merges))
	}
	for id, w := range words[:256] {
		if len(w) != 1 {
			return fmt.Errorf("token %d is %q, want a single byte", id, w)
		}
	}
	for i, m := range f.Model.Merges {
		id := 256 + i
		if got, ok := f.Model.Vocab[m[0]+m[1]]; !ok || got != id {
			return fmt.Errorf("merge %d, %q with %q, does not make token %d %q", i, m[0], m[1], id, words[id])
		}
		for _, part := range m {
			if got, ok := f.Model.Vocab[part]; !ok || got >= id {
				return fmt.Errorf("merge %d, %q with %q, needs %q, which is not an earlier token", i, m[0], m[1], part)
			}
		}
	}
	for id := 256 + len(f.Model.Merges); id < len(words); id++ {
		if len(words[id]) > 0 {
			return fmt.Errorf("no merge makes token %d %q", id, words[id])
		}
	}
	return nil
}
