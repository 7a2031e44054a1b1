package token

import (
	"slices"
	"strings"
)

// nonSpeechSymbols are not spoken, but begin or surround what is not speech:
// speaker names, stage directions, music (whisper/tokenizer.py,
// non_speech_tokens). Common punctuation is not among them.
const nonSpeechSymbols = `" # ( ) * + / : ; < = > @ [ \ ] ^ _ ` + "`" + ` { | } ~ 「 」 『 』 ` +
	`<< >> <<< >>> -- --- -( -[ (' (" (( )) ((( ))) [[ ]] {{ }} ♪♪ ♪♪♪`

// musicSymbols may take several tokens; then the first is suppressed, which stands
// for nothing but symbols of U+2640 to U+267F.
const musicSymbols = "♩ ♪ ♫ ♬ ♭ ♮ ♯"

// NonSpeech returns in ascending order the words that are not to be decoded unless
// speaker tags and sound descriptions are wanted. The reference implementation
// suppresses them by default, together with special tokens; the suppress list of a
// published model is this list too.
func (t *Tokenizer) NonSpeech() []int {
	// Hyphens and apostrophes are for the inside of words.
	ids := t.single(nil, " -", " '")
	for _, symbol := range strings.Fields(nonSpeechSymbols) {
		ids = t.single(ids, symbol, " "+symbol)
	}
	for _, symbol := range strings.Fields(musicSymbols) {
		for _, text := range []string{symbol, " " + symbol} {
			// A made-up vocabulary may spell the blank in front by itself.
			if first := t.Encode(text)[0]; t.words.at(first) != " " {
				ids = append(ids, first)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// single appends the tokens of those texts that are a single token.
func (t *Tokenizer) single(ids []int, texts ...string) []int {
	for _, text := range texts {
		if tokens := t.Encode(text); len(tokens) == 1 {
			ids = append(ids, tokens[0])
		}
	}
	return ids
}
