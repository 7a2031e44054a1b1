package whisper

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Reasons for which a text is thrown away (Result.Dropped).
const (
	DroppedSilence = "no-speech" // the model itself doubts that anybody speaks
	DroppedNoSound = "no-sound"  // there is nothing to hear
	DroppedNoWords = "no-words"  // punctuation and signs only
	DroppedRepeat  = "repeat"    // one word again and again, on weak evidence
	DroppedPrompt  = "prompt"    // nothing but what the prompt held, on weak evidence
)

// doubt says why a text is not to be believed, or "". Whisper invents text where
// nobody speaks; what it invents is known by how it comes about, not by a list of
// phrases (cases.md, C27 to C29 and C39).
func (w *window) doubt(r *Result) string {
	if w.opts.NoGuards {
		return ""
	}
	text := w.engine.Tokenizer.Decode(r.Tokens)
	loud := loudness(w.samples)
	weak := r.LogProb < minLogProb || r.NoSpeech > maxNoSpeech || loud < quietDB
	words := plainWords(text)
	switch {
	case text == "":
		return ""
	case loud < soundDB:
		return DroppedNoSound
	case r.silent():
		return DroppedSilence
	case len(words) == 0:
		return DroppedNoWords
	case weak && repeats(strings.Join(words, "")):
		return DroppedRepeat
	case weak && echoes(words, plainWords(w.opts.Prompt+" "+w.opts.Hotwords)):
		return DroppedPrompt
	}
	return ""
}

// Below quietDB speech is not to be expected: quiet speech (the fsdd clips of one
// speaker) lies at −47 dB. Below soundDB there is none.
const (
	quietDB = -56
	soundDB = -75
)

// loudness is the level of the loudest tenth of a second, in dB against full scale.
func loudness(samples []float32) float64 {
	const frame = SampleRate / 10
	most := 0.0
	for at := 0; at < len(samples); at += frame {
		part := samples[at:min(at+frame, len(samples))]
		var energy float64
		for _, v := range part {
			energy += float64(v) * float64(v)
		}
		most = max(most, energy/float64(len(part)))
	}
	return 10 * math.Log10(max(most, 1e-20))
}

// plainWords is the words of a text in lower case, without marks.
func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '\''
	})
}

// repeats says whether a text is one unit three times or more, whatever the unit: a
// word, a character, a syllable.
func repeats(text string) bool {
	letters := []rune(text)
	n := len(letters)
	for unit := 1; unit*3 <= n; unit++ {
		if slices.Equal(letters[unit:], letters[:n-unit]) {
			return true
		}
	}
	return false
}

// echoes says whether words stand in that order, next to each other, in the prompt.
func echoes(words, prompt []string) bool {
	if len(words) == 0 {
		return false
	}
	inside := " " + strings.Join(prompt, " ") + " "
	return strings.Contains(inside, " "+strings.Join(words, " ")+" ")
}
