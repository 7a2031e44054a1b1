package eval

import "strings"

// Clip is the score of one clip. In languages written without spaces a word is a
// character.
type Clip struct {
	Words      int  // words of the reference
	WordEdit   Edit // word errors
	Characters int  // characters of the reference, without spaces
	CharEdit   Edit // character errors
}

// Compare scores a transcript against its reference after Normalise has been
// applied to both. Where the reference is empty every word of the hypothesis is an
// insertion. Characters are counted without spaces, so that a space more or less is
// no character error.
func Compare(reference, hypothesis, language string) Clip {
	ref, hyp := Words(reference, language), Words(hypothesis, language)
	refChars, hypChars := []rune(strings.Join(ref, "")), []rune(strings.Join(hyp, ""))
	return Clip{
		Words:      len(ref),
		WordEdit:   editOf(ref, hyp),
		Characters: len(refChars),
		CharEdit:   editOf(refChars, hypChars),
	}
}

// Score adds up clips: errors and words are summed over the set and divided once.
// The zero value is an empty set.
type Score struct {
	Clips      int
	Words      int
	WordEdit   Edit
	Characters int
	CharEdit   Edit
}

// Add adds one clip.
func (s *Score) Add(c Clip) {
	s.Clips++
	s.Words += c.Words
	s.WordEdit = s.WordEdit.plus(c.WordEdit)
	s.Characters += c.Characters
	s.CharEdit = s.CharEdit.plus(c.CharEdit)
}

// WER is the word error rate, 0.1 for 10 %, and nil for a set without reference
// words: there the number of errors is the result, and no rate exists.
func (s *Score) WER() *float64 { return rate(float64(s.WordEdit.Total()), float64(s.Words)) }

// CER is the character error rate, like WER.
func (s *Score) CER() *float64 { return rate(float64(s.CharEdit.Total()), float64(s.Characters)) }

// rate is n/of, nil where of is not positive, so that JSON has null and never NaN.
func rate(n, of float64) *float64 {
	if of <= 0 {
		return nil
	}
	r := n / of
	return &r
}
