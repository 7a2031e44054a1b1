package eval

import (
	"bytes"
	"strings"
)

// number is a number being read, in digits and points. Decimal strings do all that
// spoken numbers need: a multiplier appends zeros, a smaller number is laid over them.
type number struct {
	total  []byte // up to the last thousand, million, …
	group  []byte // what came after
	closed bool   // group ends in a spoken zero, which nothing may be laid over
}

func (n *number) add(v numeral) {
	switch {
	case v.zeros > 0 && !n.pointed():
		n.multiply(v.zeros)
	case v.ending == "th" && n.fits(v.digits):
		n.total, n.group, n.closed = n.joined(), nil, false
		n.addDigits(v.digits)
	default:
		n.addDigits(v.digits)
	}
}

func (n *number) addDigits(digits string) {
	if n.closed || !fits(n.group, digits) {
		n.group = append(n.group, digits...)
	} else {
		copy(n.group[len(n.group)-len(digits):], digits)
	}
	n.closed = digits[0] == '0'
}

func (n *number) multiply(zeros int) {
	switch {
	case len(n.group) == 0 && len(n.total) > 0 && zeros > 2: // a thousand million
		n.total = shift(n.total, zeros)
		return
	case len(n.group) == 0:
		n.group = append(n.group, '1')
	}
	n.group = shift(n.group, zeros)
	n.closed = false
	if zeros > 2 {
		n.total, n.group = n.joined(), nil
	}
}

func (n *number) point() {
	n.total, n.group = nil, append(n.joined(), '.')
	n.closed = true
}

// pointed reports whether the last thing read was a decimal point.
func (n *number) pointed() bool { return bytes.HasSuffix(n.group, []byte(".")) }

// half adds a half to a whole number.
func (n *number) half() bool {
	if bytes.IndexByte(n.total, '.') >= 0 || bytes.IndexByte(n.group, '.') >= 0 {
		return false
	}
	n.point()
	n.addDigits("5")
	return true
}

// continuesAfterAnd reports whether the numeral at tokens[i] is a part of this number,
// as in "one hundred and five", and not one of its own, as in "between one
// hundred and two hundred".
func (n *number) continuesAfterAnd(tokens []string, i int) bool {
	v, ok := numeralAt(tokens, i)
	if ok && v.zeros == 0 && i+1 < len(tokens) && tokens[i+1] == "hundred" {
		v.digits += "00"
	}
	return ok && n.fits(v.digits)
}

func (n *number) fits(digits string) bool { return fits(n.joined(), digits) }

// joined is the number as read so far.
func (n *number) joined() []byte {
	switch {
	case len(n.total) == 0:
		return n.group
	case fits(n.total, string(n.group)):
		cut := len(n.total) - len(n.group)
		return append(n.total[:cut:cut], n.group...)
	}
	return append(n.total[:len(n.total):len(n.total)], n.group...)
}

// fits reports whether digits can be laid over the zeros that base ends in: 5 and 21
// over 100, but 5 not over 10, which is "ten" and no ten-and-something.
func fits(base []byte, digits string) bool {
	cut := len(base) - len(digits)
	if cut <= 0 || digits == "" || digits[0] == '0' || strings.Contains(digits, ".") {
		return false
	}
	over, before := base[cut:], base[cut-1]
	return len(bytes.Trim(over, "0")) == 0 && before != '.' && !(len(digits) == 1 && before == '1')
}

// shift multiplies digits by 10 to the power of zeros. It may write behind digits.
func shift(digits []byte, zeros int) []byte {
	whole, fraction, pointed := bytes.Cut(digits, []byte("."))
	if !pointed {
		return append(digits, strings.Repeat("0", zeros)...)
	}
	fraction = bytes.ReplaceAll(fraction, []byte("."), nil)
	out := append(bytes.Clone(whole), fraction[:min(zeros, len(fraction))]...)
	if len(fraction) <= zeros {
		out = append(out, strings.Repeat("0", zeros-len(fraction))...)
	} else {
		out = append(append(out, '.'), fraction[zeros:]...)
	}
	if len(out) > 1 && out[0] == '0' && out[1] != '.' { // of "0.5 million"
		out = out[1:]
	}
	return out
}
