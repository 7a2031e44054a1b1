package whisper

import (
	"math"

	"earshot/whisper/token"
)

// filter says which tokens may come next. It is the reference's SuppressTokens,
// SuppressBlank and ApplyTimestampRules (decoding.py), in that order.
type filter struct {
	special    token.Specials
	never      []int // tokens that never come out
	notFirst   []int // tokens that may not come first
	timestamps bool  // the text comes with timestamps
	latest     int   // last timestamp, in steps of 20 ms, that may open a window
}

var never = float32(math.Inf(-1))

// apply sets to −∞ the logits of what may not follow on text, the tokens of the
// window so far.
func (f *filter) apply(logits []float32, text []int) {
	for _, t := range f.never {
		logits[t] = never
	}
	if len(text) == 0 {
		for _, t := range f.notFirst {
			logits[t] = never
		}
	}
	if !f.timestamps {
		suppressRange(logits, f.special.EndOfText+1, len(logits))
		return
	}
	suppressRange(logits, f.special.EndOfText+1, f.special.FirstTimestamp)
	f.pair(logits, text)
	f.rise(logits, text)
	if len(text) == 0 {
		suppressRange(logits, 0, f.special.FirstTimestamp)
		suppressRange(logits, f.special.FirstTimestamp+f.latest+1, len(logits))
	}
	f.preferTimestamp(logits)
}

// pair makes timestamps come in pairs, the end of one segment and the start of the
// next, except before end-of-text.
func (f *filter) pair(logits []float32, text []int) {
	n := len(text)
	if n == 0 || text[n-1] < f.special.FirstTimestamp {
		return
	}
	if n == 1 || text[n-2] >= f.special.FirstTimestamp {
		suppressRange(logits, f.special.FirstTimestamp, len(logits))
	} else {
		suppressRange(logits, 0, f.special.EndOfText)
	}
}

// rise makes time go forward, and gives no segment a length of zero.
func (f *filter) rise(logits []float32, text []int) {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < f.special.FirstTimestamp {
			continue
		}
		first := text[i] + 1
		if i == len(text)-1 && i > 0 && text[i-1] < f.special.FirstTimestamp {
			first = text[i] // the next segment may start where this one ended
		}
		suppressRange(logits, f.special.FirstTimestamp, min(first, len(logits)))
		return
	}
}

// preferTimestamp leaves timestamps alone where together they are likelier than
// the likeliest text token.
func (f *filter) preferTimestamp(logits []float32) {
	text, times := logits[:f.special.FirstTimestamp], logits[f.special.FirstTimestamp:]
	if best := text[argmax(text)]; logSumExp(times) > float64(best) {
		suppressRange(logits, 0, f.special.FirstTimestamp)
	}
}

func suppressRange(logits []float32, from, to int) {
	for t := from; t < to; t++ {
		logits[t] = never
	}
}
