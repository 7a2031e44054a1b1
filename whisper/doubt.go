package whisper

import (
	"math"
	"strings"
	"unicode"
)

// Reasons for which a text is thrown away (Result.Dropped).
const (
	DroppedSilence = "no-speech" // the model itself doubts that anybody speaks
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
	weak := r.LogProb < minLogProb || r.NoSpeech > maxNoSpeech || loudness(w.samples) < quietDB
	words := plainWords(text)
	switch {
	case r.NoSpeech > maxNoSpeech && r.LogProb < minLogProb:
		return DroppedSilence
	case len(words) == 0 && strings.TrimSpace(text) != "":
		return DroppedNoWords
	case weak && len(words) >= 3 && allEqual(words):
		return DroppedRepeat
	case weak && echoes(words, plainWords(w.opts.Prompt+" "+w.opts.Hotwords)):
		return DroppedPrompt
	}
	return ""
}

// quietDB is the loudness below which nobody can be heard: quiet speech (the
// fsdd clips of one speaker) lies at −47 dB.
const quietDB = -56

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

func allEqual(words []string) bool {
	for _, w := range words {
		if w != words[0] {
			return false
		}
	}
	return true
}

// echoes says whether words stand in that order, next to each other, in the prompt.
func echoes(words, prompt []string) bool {
	if len(words) == 0 {
		return false
	}
	inside := " " + strings.Join(prompt, " ") + " "
	return strings.Contains(inside, " "+strings.Join(words, " ")+" ")
}
