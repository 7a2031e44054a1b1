package config

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Keep is how long something is kept: Never, Forever, or until it has this age.
type Keep time.Duration

// The two that are no ages.
const (
	Never   Keep = 0
	Forever Keep = math.MaxInt64
)

// Age is when something is deleted, where 0 has no end. It means nothing for Never.
func (k Keep) Age() time.Duration {
	if k == Forever {
		return 0
	}
	return time.Duration(k)
}

func (k Keep) String() string {
	switch k {
	case Never:
		return "never"
	case Forever:
		return "forever"
	}
	return durationText(time.Duration(k))
}

func parseKeep(text string) (Keep, error) {
	switch text {
	case "never":
		return Never, nil
	case "forever":
		return Forever, nil
	}
	d, err := parseDuration(text)
	if err == nil && d < time.Minute {
		err = errValue // a typing error more likely than a wish
	}
	return Keep(d), err
}

// Size is a number of bytes.
type Size int64

// sizeUnits are sorted so that the shortest text is found first.
var sizeUnits = []struct {
	name  string
	bytes Size
}{
	{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"B", 1},
}

func (s Size) String() string {
	if s == 0 {
		return "0"
	}
	for _, u := range sizeUnits {
		if s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	panic("BUG: no unit of one byte")
}

func parseSize(text string) (Size, error) {
	if text == "0" {
		return 0, nil
	}
	for _, u := range sizeUnits {
		number, found := strings.CutSuffix(text, u.name)
		if !found {
			continue
		}
		number = strings.TrimRight(number, " ")
		n, err := parseNumber(number)
		if err != nil || n*float64(u.bytes) > 1<<62 {
			return 0, errValue
		}
		if whole, err := strconv.ParseInt(number, 10, 64); err == nil {
			return Size(whole) * u.bytes, nil // exact where a float64 is not
		}
		return Size(math.Round(n * float64(u.bytes))), nil
	}
	return 0, errValue
}

// parseDuration is time.ParseDuration with days of 24 hours in front, and nothing
// negative.
func parseDuration(text string) (time.Duration, error) {
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		return 0, errValue
	}
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "0", text
	}
	n, err := parseNumber(days)
	if err != nil || n > 100_000 { // 292 years is the end of time.Duration
		return 0, errValue
	}
	var d time.Duration
	if rest != "" || !found {
		if d, err = time.ParseDuration(rest); err != nil || d < 0 {
			return 0, errValue
		}
	}
	all := time.Duration(math.Round(n*float64(24*time.Hour))) + d
	if all < 0 {
		return 0, errValue
	}
	return all, nil
}

var durationUnits = []struct {
	name   string
	length time.Duration
}{
	{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", 1},
}

// durationText has one unit, the largest that gives a whole number.
func durationText(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	for _, u := range durationUnits {
		if d%u.length == 0 {
			return strconv.FormatInt(int64(d/u.length), 10) + u.name
		}
	}
	panic("BUG: no unit of one nanosecond")
}

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// parseNumber takes no sign, no exponent, no infinity.
func parseNumber(text string) (float64, error) {
	if !decimal.MatchString(text) {
		return 0, errValue
	}
	return strconv.ParseFloat(text, 64)
}

func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errValue
	}
	return text == "true", nil
}

const maxText = 4096 // bytes; prompts that are longer do not fit the model anyway

// parseText refuses what would be invisible in a message or a file name.
func parseText(text string) (string, error) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return "", errValue
	}
	if strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == '\ufeff'
	}) {
		return "", errValue
	}
	return strings.TrimSpace(text), nil
}

// parseList reads "a, b" with or without brackets.
func parseList(text string) ([]string, error) {
	text = strings.TrimSpace(text)
	if inner, found := strings.CutPrefix(text, "["); found {
		if text, found = strings.CutSuffix(inner, "]"); !found {
			return nil, errValue
		}
	}
	var list []string
	if strings.TrimSpace(text) == "" {
		return list, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		list = append(list, strings.TrimSpace(item))
	}
	return list, nil
}
