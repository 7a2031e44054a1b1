package export

import (
	"math"
	"math/rand/v2"
	"strings"
)

// vocabulary has what is hard in one format or another.
var vocabulary = strings.Fields(`and so my fellow Americans ask. not, what? your! country 42 1. -->
	& &amp; < > <c> a<b [Music] [00:01.00] {x} "quoted" it's \ * _ # | $5 well-known 3.14 NOTE WEBVTT STYLE
	漢字 日本語。 、テスト ー 안녕하세요 여러분, สวัสดี ครับ привет, Καλημέρα; שלום مرحبا؟ नमस्ते। é e` + "\u0301" + ` 👨‍👩‍👧 🇩🇪 ☺️ quoi` + "\u00a0" + `? naïve`)

// randomText is tidy text of 1 to most words.
func randomText(r *rand.Rand, most int) string {
	words := make([]string, 1+r.IntN(most))
	for i := range words {
		words[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return strings.Join(words, " ")
}

// randomWords cuts a text at its spaces and gives every word a time within s.
func randomWords(r *rand.Rand, s Segment) []Word {
	var words []Word
	at := s.Start
	for _, w := range strings.Fields(s.Text) {
		end := at + (s.End-at)*r.Float64()/4
		words = append(words, Word{at, end, " " + w, r.Float64()})
		at = end
	}
	return words
}

// randomSegments are as bad as an engine's can be (cases.md, C55).
func randomSegments(r *rand.Rand) []Segment {
	segments := make([]Segment, r.IntN(51))
	at := func() float64 {
		switch r.IntN(20) {
		case 0:
			return math.NaN()
		case 1:
			return math.Inf(1 - 2*r.IntN(2))
		case 2:
			return float64(r.IntN(100))
		}
		return -5 + 105*r.Float64()
	}
	for i := range segments {
		s := Segment{Start: at(), End: at(), Text: randomText(r, 5)}
		if r.IntN(3) == 0 {
			s.End = s.Start
		}
		switch r.IntN(3) {
		case 0:
			s.Words = randomWords(r, s)
		case 1:
			for _, w := range strings.Fields(s.Text) {
				s.Words = append(s.Words, Word{at(), at(), w, 1})
			}
		}
		segments[i] = s
	}
	return segments
}

// orderedSegments do not need Tidy, and are no longer than it allows.
func orderedSegments(r *rand.Rand, most int) []Segment {
	segments := make([]Segment, 1+r.IntN(10))
	at := r.Float64() * 400_000
	for i := range segments {
		start := at + r.Float64()*3
		at = start + r.Float64()*20
		segments[i] = Segment{Start: start, End: at, Text: randomText(r, most)}
	}
	return segments
}
