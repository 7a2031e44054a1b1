package whisper

import (
	"math"
	"slices"
)

// Limits of a word in seconds.
const (
	shortestWord = 0.04
	longestWord  = 1.2
)

// voiceFrame is the step of the map of voiced sound: 10 ms.
const voiceFrame = SampleRate / 100

// frameLevels is the level of every 10 ms in dB against full scale.
func frameLevels(samples []float32) []float64 {
	levels := make([]float64, (len(samples)+voiceFrame-1)/voiceFrame)
	for i := range levels {
		part := samples[i*voiceFrame : min((i+1)*voiceFrame, len(samples))]
		var energy float64
		for _, v := range part {
			energy += float64(v) * float64(v)
		}
		levels[i] = 10 * math.Log10(energy/float64(len(part))+1e-12)
	}
	return levels
}

// voicedMap says for every 10 ms whether there is sound above the window's own
// noise: more than 9 dB over its quietest tenth, and within 40 dB of its loudest.
func voicedMap(samples []float32) []bool {
	levels := frameLevels(samples)
	n := len(levels)
	if n == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(levels))
	floor := max(sorted[n/10]+9, sorted[n-1]-40)
	voiced := make([]bool, n)
	for i, l := range levels {
		voiced[i] = l > min(floor, sorted[n-1]-6)
	}
	return voiced
}

// refine moves the edges of words onto voiced sound: a word that covers a pause
// keeps the side on which more of it is voiced, one that is too long keeps its start,
// and one that is too short is widened where its neighbours leave room. Words do not
// overlap.
func (w *window) refine(words []Word) []Word {
	voiced := voicedMap(w.samples)
	duration := float64(len(w.samples)) / SampleRate
	for i := range words {
		word := &words[i]
		from, to := frameOf(word.Start, voiced), frameOf(word.End, voiced)
		if a, b, ok := longestRun(voiced[from:to]); ok {
			word.Start, word.End = seconds(from+a), seconds(from+b)
		}
		if word.End-word.Start > longestWord {
			word.End = word.Start + longestWord
		}
	}
	for i := range words {
		word := &words[i]
		if i > 0 {
			word.Start = max(word.Start, words[i-1].End)
		}
		word.End = max(word.End, word.Start+shortestWord)
	}
	for i := len(words) - 1; i >= 0; i-- { // what was pushed past the end comes back
		limit := duration
		if i < len(words)-1 {
			limit = words[i+1].Start
		}
		words[i].End = min(words[i].End, limit)
		words[i].Start = max(0, min(words[i].Start, words[i].End-shortestWord))
	}
	return words
}

func frameOf(at float64, voiced []bool) int {
	return min(max(0, int(math.Round(at*100))), len(voiced))
}

func seconds(frame int) float64 { return float64(frame) / 100 }

// breath is the longest gap, in 10 ms, that does not divide a word: stop consonants
// are this silent.
const breath = 12

// longestRun finds the longest stretch of voiced frames, gaps of a breath included.
func longestRun(voiced []bool) (from, to int, ok bool) {
	start, last := -1, -1
	for i, v := range voiced {
		if !v {
			continue
		}
		if start < 0 || i-last > breath {
			start = i
		}
		last = i
		if i+1-start > to-from {
			from, to, ok = start, i+1, true
		}
	}
	return from, to, ok
}
