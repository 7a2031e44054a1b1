package eval

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// english is the English form: lower case without diacritics; bracketed remarks
// and fillers (uh, hmm) gone; contractions and titles written out (’s reads "is",
// possessive or not, on both sides alike); American spelling; numbers in digits
// with $, £, € before and % behind; all else that is no letter or digit a space.
func english(text string) string {
	words := tokenise(removeRemarks(foldLatin(text)))
	words = expandContractions(words)
	words = replaceWords(words)
	return strings.Join(joinNumbers(words), " ")
}

// latinLetters are letters that Unicode does not decompose into a base and a mark.
var latinLetters = strings.NewReplacer(
	"æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h", "ŧ", "t",
)

// foldLatin folds case, compatibility forms and diacritics away.
func foldLatin(text string) string {
	text = strings.Map(dropInvisible, text)
	text = norm.NFKD.String(foldCase(norm.NFKD.String(text), "en"))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case isApostrophe(r):
			return '\''
		}
		return r
	}, text)
	return norm.NFC.String(latinLetters.Replace(text))
}

// removeRemarks replaces remarks about the sound, as in "[music]", "<noise>" or
// "(laughs)", by spaces. An opening bracket that is never closed stays.
func removeRemarks(text string) string {
	var b strings.Builder
	closed := map[byte]string{'(': ")", '[': "]>", '<': "]>"}
	for i := 0; i < len(text); {
		open := strings.IndexAny(text[i:], "([<")
		if open < 0 {
			b.WriteString(text[i:])
			break
		}
		b.WriteString(text[i : i+open])
		i += open
		length := strings.IndexAny(text[i:], closed[text[i]])
		if length < 0 {
			closed[text[i]] = "" // none of this kind closes any more: search no further
			length = 0
		}
		b.WriteByte(' ')
		i += length + 1
	}
	return b.String()
}

// tokenise splits folded text into words, which are letters with apostrophes
// inside; numbers, which are digits with points inside and perhaps an ordinal or
// plural ending ("1.5", "21st", "1980s"); and amounts ("$5"). Signs behind a number
// become words ("5%" → 5 percent), others are dropped. Letters and digits that touch
// are two tokens: "10am" and "10 am" are the same words.
func tokenise(text string) []string {
	var tokens []string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		start := i
		switch r := runes[i]; {
		case isDigit(r):
			var number string
			number, i = scanNumber(runes, i)
			tokens = append(tokens, number)
		case isWordRune(r):
			for i < len(runes) && (isWordRune(runes[i]) || isInnerApostrophe(runes, i)) {
				i++
			}
			tokens = append(tokens, string(runes[start:i]))
		case strings.ContainsRune("$£€", r) && startsAmount(runes, i+1):
			var amount string
			amount, i = scanAmount(runes, i)
			tokens = append(tokens, amount)
		case r == '.' && startsDecimal(runes, i):
			tokens = append(tokens, "point")
			i++
		case r == '&':
			tokens = append(tokens, "and")
			i++
		default:
			if word, ok := signWords[r]; ok && len(tokens) > 0 && isNumber(tokens[len(tokens)-1]) {
				tokens = append(tokens, word)
			}
			i++
		}
	}
	return tokens
}

// signWords are the words for signs behind a number.
var signWords = map[rune]string{'%': "percent", '$': "dollars", '£': "pounds", '€': "euros", '¢': "cents"}

// isNumber reports whether a token is digits and points alone.
func isNumber(token string) bool { return strings.Trim(token, "0123456789.") == "" }

// startsAmount reports whether a number such as 5, .50 or 1,000 starts at i.
func startsAmount(runes []rune, i int) bool {
	if i < len(runes) && runes[i] == '.' {
		i++
	}
	return i < len(runes) && isDigit(runes[i])
}

// scanAmount reads a currency sign and its number. A number with an ending ("$20s")
// is returned without the sign.
func scanAmount(runes []rune, i int) (string, int) {
	sign, whole := string(runes[i]), ""
	i++
	if runes[i] == '.' {
		whole = "0."
		i++
	}
	number, i := scanNumber(runes, i)
	if !isNumber(number) {
		sign = ""
	}
	return sign + whole + number, i
}

// scanNumber reads the number that starts at i and returns it without thousands
// separators, and the index behind it.
func scanNumber(runes []rune, i int) (string, int) {
	var number []rune
	for i < len(runes) {
		inner := i+1 < len(runes) && isDigit(runes[i+1]) && len(number) > 0
		switch {
		case isDigit(runes[i]), runes[i] == '.' && inner:
			number = append(number, runes[i])
		case runes[i] == ',' && inner:
		default:
			ending := scanEnding(runes[i:])
			if strings.HasPrefix(ending, "'") {
				return string(number) + "s", i + len(ending)
			}
			return string(number) + ending, i + len(ending)
		}
		i++
	}
	return string(number), i
}

// numberEndings are what may follow the digits of one number token.
var numberEndings = []string{"st", "nd", "rd", "th", "s", "'s"}

func scanEnding(runes []rune) string {
	for _, ending := range numberEndings {
		n := len(ending)
		if len(runes) < n || string(runes[:n]) != ending {
			continue
		}
		if len(runes) == n || !isWordRune(runes[n]) && !isDigit(runes[n]) {
			return ending
		}
	}
	return ""
}

// startsDecimal reports whether the point at i begins a number such as ".5".
func startsDecimal(runes []rune, i int) bool {
	return i+1 < len(runes) && isDigit(runes[i+1]) &&
		(i == 0 || unicode.IsSpace(runes[i-1]))
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isWordRune reports whether r is part of a word. Marks are: what foldLatin leaves
// of them are vowel signs of other scripts.
func isWordRune(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.M) && !isDigit(r)
}

// isInnerApostrophe reports whether i holds an apostrophe between two letters.
func isInnerApostrophe(runes []rune, i int) bool {
	return runes[i] == '\'' && i > 0 && isWordRune(runes[i-1]) && i+1 < len(runes) && isWordRune(runes[i+1])
}
