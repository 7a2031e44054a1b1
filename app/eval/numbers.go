package eval

import "strings"

// joinNumbers writes every number of a folded token list in digits, as one token:
//
//	twenty one → 21         one hundred and five → 105    a hundred → 100
//	two point five → 2.5    two and a half → 2.5          1.5 million → 1500000
//	twenty first → 21st     nineteen eighty four → 1984   nineteen oh four → 1904
//	twenty percent → 20%    nineteen eighties → 1980s     five dollars, $5 → $5
//	five dollars and ten cents → $5.10
//
// Neighbouring numbers become one ("one two three" → 123, "10:30" → 1030), since
// how they were spaced cannot be heard. A lone 1 is "one", which is mostly no number.
func joinNumbers(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	for i := 0; i < len(tokens); {
		if sign, amount, ok := cutSign(tokens[i]); ok {
			amount, i = readAmount(amount, tokens, i+1)
			out = append(out, sign+amount)
			continue
		}
		digits, ending, next := readNumber(tokens, i)
		switch {
		case next > i && ending != "":
			out, i = append(out, digits+writtenEnding(digits, ending)), next
		case next > i:
			out, i = appendQuantity(out, digits, tokens, next)
		default:
			out, i = append(out, tokens[i]), i+1
		}
	}
	for i, token := range out {
		switch token {
		case "1":
			out[i] = "one"
		case "1s":
			out[i] = "ones"
		}
	}
	return out
}

// cutSign splits an amount such as "$5" into its sign and its digits.
func cutSign(token string) (sign, digits string, ok bool) {
	for _, sign := range []string{"$", "£", "€"} {
		if digits, ok := strings.CutPrefix(token, sign); ok {
			return sign, digits, true
		}
	}
	return "", "", false
}

// readAmount multiplies an amount's digits by the multipliers from tokens[i] on.
// Other numbers do not join it: "$5 million" but "$5, 3 of them".
func readAmount(digits string, tokens []string, i int) (string, int) {
	n := number{group: []byte(digits)}
	for ; i < len(tokens) && multiplierWords[tokens[i]] > 0; i++ {
		n.multiply(multiplierWords[tokens[i]])
	}
	return string(n.joined()), i
}

// appendQuantity appends a number together with the unit at tokens[i], if one is there.
func appendQuantity(out []string, digits string, tokens []string, i int) ([]string, int) {
	if i == len(tokens) {
		return append(out, digits), i
	}
	unit := tokens[i]
	if unit == "percent" {
		return append(out, digits+"%"), i + 1
	}
	if sign, ok := hundredthWords[unit]; ok {
		return appendHundredths(out, sign, digits), i + 1
	}
	if sign, ok := currencyWords[unit]; ok {
		return append(out, sign+digits), i + 1
	}
	return append(out, digits), i
}

// appendHundredths appends an amount in cents, joined to the dollars before it.
func appendHundredths(out []string, sign, digits string) []string {
	whole, fraction, _ := strings.Cut(digits, ".")
	whole = strings.Repeat("0", max(0, 3-len(whole))) + whole
	cut := len(whole) - 2
	amount := sign + whole[:cut] + "." + whole[cut:] + strings.ReplaceAll(fraction, ".", "")
	if cents, ok := strings.CutPrefix(amount, sign+"0"); ok && len(cents) == len(".10") {
		before := len(out) - 1
		if before > 0 && out[before] == "and" {
			before--
		}
		if before >= 0 && strings.HasPrefix(out[before], sign) && !strings.Contains(out[before], ".") {
			return append(out[:before], out[before]+cents)
		}
	}
	return append(out, amount)
}

// readNumber reads the number that starts at tokens[i]: its digits, "th" or "s" if
// it ends in one, and the index behind it, which is i where there is none.
func readNumber(tokens []string, i int) (digits, ending string, next int) {
	var n number
	multiplied := false // the last token was a multiplier
	for start := i; ending == ""; {
		numeral, ok := numeralAt(tokens, i)
		switch {
		case ok && numeral.ending == "th" && numeral.zeros == 0 && i > start && !n.fits(numeral.digits):
			return string(n.joined()), "", i // "one second" is no 12th
		case ok:
			n.add(numeral)
			ending = numeral.ending
			multiplied = numeral.zeros > 0
			i += numeral.width
			continue
		case i == start || i == len(tokens):
			return string(n.joined()), "", i
		case tokens[i] == "oh" && (n.pointed() || numberAfterOhs(tokens, i)):
			n.addDigits("0")
			i++
		case tokens[i] == "point" && startsFraction(tokens, i+1):
			n.point()
			i++
		case tokens[i] == "and" && multiplied && n.continuesAfterAnd(tokens, i+1):
			i++
		case isAndAHalf(tokens, i) && n.half():
			i += 3
		default:
			return string(n.joined()), "", i
		}
		multiplied = false
	}
	return string(n.joined()), ending, i
}

func numberAfterOhs(tokens []string, i int) bool {
	for i < len(tokens) && tokens[i] == "oh" {
		i++
	}
	_, ok := numeralAt(tokens, i)
	return ok
}

func startsFraction(tokens []string, i int) bool {
	n, ok := numeralAt(tokens, i)
	return ok && n.ending != "th" || i < len(tokens) && tokens[i] == "oh"
}

func isAndAHalf(tokens []string, i int) bool {
	return i+2 < len(tokens) && tokens[i] == "and" && tokens[i+1] == "a" && tokens[i+2] == "half"
}

// writtenEnding is the ending as it is written after the digits: "st" after 1.
func writtenEnding(digits, ending string) string {
	if ending != "th" {
		return ending
	}
	last := digits[len(digits)-1]
	if teen := len(digits) > 1 && digits[len(digits)-2] == '1'; !teen && '1' <= last && last <= '3' {
		return []string{"st", "nd", "rd"}[last-'1']
	}
	return "th"
}
