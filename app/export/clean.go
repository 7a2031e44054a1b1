package export

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes a text fit for one line of any format: bytes that are no UTF-8,
// control characters and byte-order marks go, runs of spaces and line breaks become
// one space, and there is none at either end. No-break spaces inside stay.
func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range strings.ToValidUTF8(s, "") {
		switch {
		case isSpace(r):
			space = true
		case unicode.IsControl(r) || r == '\uFEFF':
		default:
			if space {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// isSpace holds for spaces between words and for all that Unicode calls a line break.
func isSpace(r rune) bool {
	return r == ' ' || '\t' <= r && r <= '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// unspaced are scripts that write no spaces between words. Korean does.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	{R16: []unicode.Range16{
		{Lo: 0x3000, Hi: 0x30FF, Stride: 1}, // punctuation of Chinese and Japanese, the long-vowel mark
		{Lo: 0xFF01, Hi: 0xFF9F, Stride: 1}, // full width and half width forms, Hangul left out
	}},
}

// tight says whether two lines, one ending in last and one starting with first, are
// put together without a space.
func tight(last, first rune) bool {
	return unicode.In(last, unspaced...) && unicode.In(first, unspaced...)
}

// tightText is tight for whole lines.
func tightText(line, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(next)
	return tight(last, first)
}

// joined puts lines together as running text: with one space between two, or none
// where both sides are of a script without. A space at the end of a line counts as
// the space between.
func joined(lines []string) string {
	var b strings.Builder
	before := ""
	for _, line := range lines {
		if line == "" {
			continue
		}
		if before != "" && !strings.HasSuffix(before, " ") && !tightText(before, line) {
			b.WriteByte(' ')
		}
		b.WriteString(line)
		before = line
	}
	return b.String()
}

// written is a line as it is written where next follows it: without the space at its
// end, unless joined could not know of that.
func written(line, next string) string {
	short := strings.TrimRight(line, " ")
	if tightText(short, next) {
		return line
	}
	return short
}
