package eval

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Normalise brings text to the form that is scored. Two spellings of the same
// spoken words give the same form as far as the language's rules reach, and the
// form of a form is itself. Words are separated by single spaces.
//
// English ("en", "en-GB", …): see english. All others: NFKC, case folding,
// apostrophes dropped, other punctuation and symbols to spaces; letters, digits and
// marks (vowel signs, tones) stay. In languages written without spaces (ja, zh, yue,
// th, my, lo, km) all spaces go too. An unknown or empty language is one of the others.
func Normalise(text, language string) string {
	text = strings.ToValidUTF8(text, " ")
	base := baseLanguage(language)
	if base == "en" {
		return english(text)
	}
	words := foldWords(text, base)
	if spaceless(base) {
		return norm.NFC.String(strings.Join(words, ""))
	}
	return strings.Join(words, " ")
}

// Words splits the normalised text into what is counted: words, or characters
// (runes) in languages written without spaces.
func Words(text, language string) []string {
	text = Normalise(text, language)
	if spaceless(baseLanguage(language)) {
		return strings.Split(text, "")
	}
	return strings.Fields(text)
}

// baseLanguage is the first part of a language tag: "pt" of "pt-BR".
func baseLanguage(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	return strings.ToLower(strings.TrimSpace(tag))
}

// spaceless reports whether the language is written without spaces between words.
func spaceless(base string) bool {
	switch base {
	case "ja", "zh", "yue", "th", "my", "lo", "km":
		return true
	}
	return false
}

func foldWords(text, base string) []string {
	text = strings.Map(dropInvisible, text)
	text = norm.NFKC.String(foldCase(norm.NFKC.String(text), base))
	var b strings.Builder
	inWord := false
	for _, r := range text {
		switch {
		case isApostrophe(r): // some of them are letters to Unicode
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r) && inWord:
			b.WriteRune(r)
			inWord = true
		default:
			b.WriteByte(' ')
			inWord = false
		}
	}
	return strings.Fields(norm.NFC.String(b.String()))
}

// foldCase folds case. Turkish and Azerbaijani pair I with ı and İ with i, which
// the language-free folding gets wrong.
func foldCase(text, base string) string {
	if base == "tr" || base == "az" {
		text = cases.Lower(language.Turkish).String(text)
	}
	// x/text v0.44 swaps the two cases of Cherokee; ToLower settles them.
	return strings.ToLower(cases.Fold().String(text))
}

// dropInvisible removes characters that leave no trace in speech and that
// transcripts have or lack at random: joiners, soft hyphens, direction marks, and
// what turns letters and digits into emoji (variation selectors, enclosing marks).
func dropInvisible(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Me) {
		return -1
	}
	return r
}

// isApostrophe reports whether r is used as an apostrophe: ' and its typographic
// and modifier-letter forms, the grave accent and the prime included.
func isApostrophe(r rune) bool {
	switch r {
	case '\'', '’', '‘', 'ʼ', 'ʻ', '`', '′':
		return true
	}
	return false
}
