package whisper

// A decoder that loops says the same phrase until something stops it. The guard
// stops it when the text ends in at least loopCopies copies of one phrase and these
// are at least loopTokens long in all. Speech that repeats itself stays below that:
// "tear down the fence, tear down the fence" is two copies of 6 tokens, "no, no,
// no, no" four copies of 2; and it is what cases.md (C35, C37, C39) shows of loops
// that goes far above.
const (
	loopCopies = 3
	loopTokens = 24
	loopPhrase = 72 // longest phrase looked for, in tokens
)

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
