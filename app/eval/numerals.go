package eval

import "strings"

// numeral is one token, or "a hundred", of a number.
type numeral struct {
	digits string // its value; a multiplier's is 1 and its zeros
	zeros  int    // multiplier: the zeros it adds; 0 for others
	ending string // "th" for an ordinal, "s" for a plural
	width  int    // tokens it takes
}

// numeralAt returns the numeral at tokens[i], if there is one.
func numeralAt(tokens []string, i int) (numeral, bool) {
	if i >= len(tokens) {
		return numeral{}, false
	}
	token := tokens[i]
	if isDigit(rune(token[0])) {
		digits := strings.TrimRight(token, "stndrh")
		ending := token[len(digits):]
		if len(ending) == 2 {
			ending = "th"
		}
		return numeral{digits: digits, ending: ending, width: 1}, true
	}
	if token == "a" && i+1 < len(tokens) {
		n, ok := numeralWords[tokens[i+1]]
		n.width = 2
		return n, ok && n.zeros > 0 && n.ending == ""
	}
	n, ok := numeralWords[token]
	return n, ok
}

// numeralWords are all number words with their ordinals and plurals.
var numeralWords = makeNumeralWords()

func makeNumeralWords() map[string]numeral {
	all := map[string]numeral{}
	add := func(word string, n numeral) {
		n.width = 1
		all[word] = n
		n.ending = "th"
		if irregular, ok := irregularOrdinals[word]; ok {
			all[irregular] = n
		} else if stem, ok := strings.CutSuffix(word, "y"); ok {
			all[stem+"ieth"] = n
		} else {
			all[word+"th"] = n
		}
		n.ending = "s"
		if stem, ok := strings.CutSuffix(word, "y"); ok {
			all[stem+"ies"] = n
		} else if strings.HasSuffix(word, "x") {
			all[word+"es"] = n
		} else {
			all[word+"s"] = n
		}
	}
	for word, digits := range countingWords {
		add(word, numeral{digits: digits})
	}
	for word, zeros := range multiplierWords {
		add(word, numeral{digits: "1" + strings.Repeat("0", zeros), zeros: zeros})
	}
	return all
}

var countingWords = map[string]string{
	"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14",
	"fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20",
	"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
}

var multiplierWords = map[string]int{
	"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "quadrillion": 15,
}

var irregularOrdinals = map[string]string{
	"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
	"twelve": "twelfth",
}

// currencyWords follow a number and become the sign before it; hundredthWords are a
// hundredth of that currency.
var (
	currencyWords = map[string]string{
		"dollar": "$", "dollars": "$", "pound": "£", "pounds": "£", "euro": "€", "euros": "€",
	}
	hundredthWords = map[string]string{"cent": "$", "cents": "$", "pence": "£"}
)
