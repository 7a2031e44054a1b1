package whisper

import (
	"bytes"
	"unicode/utf8"
)

// A decoder that loops says the same phrase until something stops it. The guard
// stops it when the text ends in at least loopCopies copies of one phrase, these are
// at least loopTokens long in all, and the text is longer than the voiced sound can
// hold. Speech that repeats itself stays below that: "tear down the fence, tear down
// the fence" is two copies of 6 tokens, and a chant lasts as long as it is; and it is
// what cases.md (C35, C37, C39) shows of loops that goes far above.
const (
	loopCopies = 3
	loopTokens = 24
	loopPhrase = 72 // longest phrase looked for, in tokens
)

// loopRoom is how many tokens so many seconds of voiced sound can hold: the densest
// of the golden clips has 6.6 a second, English 3 to 4.
func loopRoom(voiced float64) int { return 12 + int(5*voiced) }

// cutLoop reports whether tokens end in a loop, and how many tokens are left when
// all copies of the phrase but the first are cut.
func cutLoop(tokens []int) (keep int, looped bool) {
	n := len(tokens)
	for phrase := 1; phrase <= loopPhrase && phrase*loopCopies <= n; phrase++ {
		repeat := 0 // how many tokens at the end equal the one a phrase before
		for repeat < n-phrase && tokens[n-1-repeat] == tokens[n-1-repeat-phrase] {
			repeat++
		}
		if length := repeat + phrase; length >= loopCopies*phrase && length >= loopTokens {
			return n - repeat, true
		}
	}
	return n, false
}

// repeatTokens is the shortest phrase of which one repeat is a suspicion.
const repeatTokens = 3

// cutRepeat reports whether tokens end in a phrase that was said just before, and how
// many tokens are left without the repeat. In a window with little silence behind the
// speech a decoder that has said everything begins again, as a sentence of its own where
// the phrase was the end of one: alike is to take capitals for small letters.
func cutRepeat(tokens []int, alike func(a, b int) bool) (keep int, again bool) {
	n := len(tokens)
	for phrase := repeatTokens; 2*phrase <= n; phrase++ {
		same := 0
		for same < phrase && alike(tokens[n-1-same], tokens[n-1-same-phrase]) {
			same++
		}
		if same == phrase {
			return n - phrase, true
		}
	}
	return n, false
}

// alike says whether two tokens are the same letters, in capitals or not.
func (e *Engine) alike(a, b int) bool {
	if a == b {
		return true
	}
	x, y := e.Tokenizer.Bytes(a), e.Tokenizer.Bytes(b)
	return len(x) > 0 && utf8.Valid(x) && utf8.Valid(y) && bytes.EqualFold(x, y)
}
