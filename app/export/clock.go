package export

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxSeconds is 31 years: whatever is said to be later was a mistake, and up to here
// milliseconds are exact in float64.
const maxSeconds = 1e9

// millis rounds seconds to whole milliseconds. This is the one rounding of a time.
func millis(seconds float64) int64 { return int64(math.Round(seconds * 1000)) }

// clock writes a time as HH:MM:SS and milliseconds behind point. Hours take as many
// digits as they need.
func clock(ms int64, point byte) string {
	return fmt.Sprintf("%02d:%02d:%02d%c%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, point, ms%1000)
}

// shortClock is a time for people, in whole seconds that have begun.
func shortClock(ms int64) string {
	long := clock(ms, '.')
	return long[:len(long)-len(".000")]
}

// parseClock reads [HH:]MM:SS with a fraction behind a dot or a comma, or none, and
// returns milliseconds. The first number may be as large as it likes.
func parseClock(s string) (ms int64, ok bool) {
	parts := strings.Split(s, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return 0, false
	}
	last := len(parts) - 1
	whole, fraction, _ := strings.Cut(strings.Replace(parts[last], ",", ".", 1), ".")
	parts[last] = whole
	for i, part := range parts {
		n, ok := digits(part, 9)
		if !ok || i > 0 && n > 59 {
			return 0, false
		}
		ms = ms*60 + n
	}
	f, ok := digits(fraction+"0", 10)
	if !ok {
		return 0, false
	}
	return ms*1000 + int64(math.Round(float64(f)*math.Pow10(2-len(fraction)))), true
}

// digits reads a number of 1 to most decimal digits.
func digits(s string, most int) (int64, bool) {
	if len(s) > most || !isDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
