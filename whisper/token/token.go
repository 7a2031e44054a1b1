// Package token turns text into Whisper's token ids and back.
//
// Whisper's vocabulary has two parts. The words come first: byte strings of
// GPT-2's byte-level byte-pair encoding (Radford et al. 2019, section 2.2), in
// the order in which training merged them, so that the id of a word is also the
// priority of the merge that makes it. The special tokens follow, numbered as in
// get_encoding of whisper/tokenizer.py in the reference implementation: end of
// text, start of transcript, one token per language, translate, transcribe, start
// of language model, start of previous text, no speech, no timestamps, and 1501
// timestamps.
//
// The package reads vocabularies from bytes; it owns no files and no threads. A
// Tokenizer never changes after New and is safe for concurrent use; a Stream
// belongs to one goroutine.
package token

import (
	"fmt"
	"time"
)

const (
	// TimestampStep is the time between two neighbouring timestamp tokens.
	TimestampStep = 20 * time.Millisecond

	// timestamps is how many timestamp tokens there are: 0.00 s to 30.00 s.
	timestamps = 1501

	// fixedSpecials are the special tokens that are neither languages nor
	// timestamps.
	fixedSpecials = 8

	// englishVocab is the size of the vocabulary of the English-only models
	// (tiny.en … medium.en).
	englishVocab = 51864
)

// Specials are the ids of the special tokens. Every id from EndOfText on is
// special, every id below is a word.
type Specials struct {
	EndOfText         int // <|endoftext|>
	StartOfTranscript int // <|startoftranscript|>
	FirstLanguage     int // <|en|>; language i of Languages has FirstLanguage+i
	Translate         int // <|translate|>
	Transcribe        int // <|transcribe|>
	StartOfLM         int // <|startoflm|>
	StartOfPrev       int // <|startofprev|>
	NoSpeech          int // <|nospeech|>, in early releases <|nocaptions|>
	NoTimestamps      int // <|notimestamps|>
	FirstTimestamp    int // <|0.00|>
}

// Tokenizer is one model's vocabulary. Its Specials are to be read only.
type Tokenizer struct {
	Specials
	words        vocabulary
	languages    int // language tokens in the vocabulary
	multilingual bool
}

// New makes a tokenizer for a model with vocab tokens (the V of its embedding):
// words in id order, and vocab − len(words) special tokens behind them. It keeps
// nothing of words.
//
// The special tokens follow from the two sizes, since only the number of languages
// differs: 99, and 100 for large-v3 and large-v3-turbo (51866). Vocabularies of
// other sizes are taken too, with 0 to 100 languages, that is vocab =
// len(words) + 1509 + languages. A model is English-only when vocab is 51864 (which
// numbers 99 languages that the model never saw) or when there is no language.
//
// Every single byte must be a word, or some text could not be encoded. A word may
// be empty (the last one of the multilingual vocabulary is); others occur once.
func New(words [][]byte, vocab int) (*Tokenizer, error) {
	languages := vocab - len(words) - fixedSpecials - timestamps
	if languages < 0 || languages > len(languageTable) {
		return nil, fmt.Errorf("vocabulary of %d tokens with %d words: %d special tokens, want %d to %d",
			vocab, len(words), vocab-len(words),
			fixedSpecials+timestamps, fixedSpecials+timestamps+len(languageTable))
	}
	t := &Tokenizer{
		Specials:     numberSpecials(len(words), languages),
		languages:    languages,
		multilingual: languages > 0 && vocab != englishVocab,
	}
	var err error
	if t.words, err = newVocabulary(words); err != nil {
		return nil, err
	}
	return t, nil
}

// numberSpecials numbers the special tokens behind words words
// (whisper/tokenizer.py, get_encoding).
func numberSpecials(words, languages int) Specials {
	task := words + 2 + languages
	return Specials{
		EndOfText:         words,
		StartOfTranscript: words + 1,
		FirstLanguage:     words + 2,
		Translate:         task,
		Transcribe:        task + 1,
		StartOfLM:         task + 2,
		StartOfPrev:       task + 3,
		NoSpeech:          task + 4,
		NoTimestamps:      task + 5,
		FirstTimestamp:    task + 6,
	}
}

// Vocab is the number of tokens, words and special ones together.
func (t *Tokenizer) Vocab() int { return t.FirstTimestamp + timestamps }

// Multilingual says whether the model knows other languages than English. The
// prompt of one that does not names neither language nor task.
func (t *Tokenizer) Multilingual() bool { return t.multilingual }

// Bytes returns a copy of the bytes of a word, which may begin or end inside a
// rune. It is nil for special tokens and for ids outside of the vocabulary.
func (t *Tokenizer) Bytes(id int) []byte {
	if id < 0 || id >= t.words.len() {
		return nil
	}
	return []byte(t.words.at(id))
}

// IsTimestamp says whether id is a timestamp token.
func (t *Tokenizer) IsTimestamp(id int) bool {
	return id >= t.FirstTimestamp && id < t.Vocab()
}

// Timestamp returns the time that a timestamp token stands for, from the start of
// the window: 0 to 30 s. ok is false for other tokens.
func (t *Tokenizer) Timestamp(id int) (at time.Duration, ok bool) {
	if !t.IsTimestamp(id) {
		return 0, false
	}
	return time.Duration(id-t.FirstTimestamp) * TimestampStep, true
}
