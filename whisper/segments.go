package whisper

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot/whisper/token"
)

// Segment is a stretch of speech with its text.
type Segment struct {
	Start, End float64 // seconds from the start of the window
	Text       string  // without spaces around it
	Words      []Word  // where asked for
	Language   string  // code
}

// stampedSegments cuts a text with timestamp tokens into segments and says how far
// the window is done, by the reference's rule (transcribe in transcribe.py). Where
// the text holds pairs of timestamps, the window is done up to the last pair, and an
// open end behind it is left to the next window; unless the text ends with a single
// timestamp, which says that nothing is said up to the end of the audio. A text
// without pairs is one segment, and the window is done.
func stampedSegments(tok *token.Tokenizer, tokens []int, duration float64) (segments []stamped, done float64) {
	at := func(i int) float64 {
		t, _ := tok.Timestamp(tokens[i])
		return min(t.Seconds(), duration)
	}
	n, from := len(tokens), 0
	single := n >= 2 && tok.IsTimestamp(tokens[n-1]) && !tok.IsTimestamp(tokens[n-2])
	cut := func(to int) {
		if to-from >= 2 && tok.IsTimestamp(tokens[from]) {
			segments = append(segments, stamped{start: at(from), end: at(to - 1), from: from + 1, to: to - 1})
		}
		from = to
	}
	for i := 1; i < n; i++ {
		if tok.IsTimestamp(tokens[i]) && tok.IsTimestamp(tokens[i-1]) {
			cut(i)
		}
	}
	if single && len(segments) > 0 {
		cut(n)
	}
	if len(segments) > 0 {
		if single {
			return segments, duration
		}
		return segments, segments[len(segments)-1].end
	}
	whole := stamped{end: duration, to: n}
	if n > 0 && tok.IsTimestamp(tokens[n-1]) && at(n-1) > 0 {
		whole.end = at(n - 1)
	}
	if n > 0 && tok.IsTimestamp(tokens[0]) {
		whole.start = min(at(0), whole.end)
	}
	return []stamped{whole}, duration
}

// stamped is a segment as a range of a text's tokens.
type stamped struct {
	start, end float64
	from, to   int
}

// Limits of a segment made of words: a reader takes in about 17 characters a second,
// and two lines of 42 characters fill a cue.
const (
	pauseBetween   = 0.8 // s: a pause this long ends a segment
	pauseAfterMark = 0.3 // s: so does this one behind a comma, in a segment that is long
	segmentSeconds = 7.0 // s: from here on a segment is long
	segmentLetters = 84  // or from here on
)

// wordSegments cuts words into segments: behind a sentence, at a long pause, and
// where a segment has become long at the first good place. Between two words whose
// middles lie on different sides of a break one always ends.
func wordSegments(words []Word, breaks []float64) []Segment {
	var segments []Segment
	from := 0
	for i := range words {
		if i == len(words)-1 || crosses(words[i], words[i+1], breaks) || endsSegment(words[from:i+1], words[i+1]) {
			segments = append(segments, joinWords(words[from:i+1]))
			from = i + 1
		}
	}
	return segments
}

func crosses(a, b Word, breaks []float64) bool {
	for _, at := range breaks {
		if (a.Start+a.End)/2 < at && (b.Start+b.End)/2 >= at {
			return true
		}
	}
	return false
}

func endsSegment(words []Word, next Word) bool {
	last := words[len(words)-1]
	pause := next.Start - last.End
	if torn(last.Text, next.Text) {
		return false
	}
	if pause >= pauseBetween || endsSentence(last.Text) && (pause >= pauseAfterMark || !isAbbreviation(last.Text)) {
		return true
	}
	letters := 0
	for _, w := range words {
		letters += len([]rune(w.Text))
	}
	long := last.End-words[0].Start >= segmentSeconds || letters >= segmentLetters
	veryLong := last.End-words[0].Start >= 2*segmentSeconds || letters >= 2*segmentLetters
	return long && (pause >= pauseAfterMark || endsClause(last.Text)) || veryLong
}

// torn says whether a cut between two words would fall inside one that is written
// together, such as "don" and "'t" or "3" and ".5". In scripts without spaces every
// place will do.
func torn(last, next string) bool {
	if strings.HasPrefix(next, " ") {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(last)
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer) &&
		!endsAny(last, "。！？、，")
}

// isAbbreviation says whether a full stop may belong to the word: titles and initials.
func isAbbreviation(s string) bool {
	letters := strings.Trim(s, " .\"'(")
	return len([]rune(letters)) <= 3 && unicode.IsUpper([]rune(letters + "a")[0])
}

func endsSentence(s string) bool { return endsAny(s, ".?!…。！？।؟۔։") }
func endsClause(s string) bool   { return endsAny(s, ",;:，、；：،؛") }

func endsAny(s, marks string) bool {
	s = trimQuotes(s)
	for _, m := range marks {
		if strings.HasSuffix(s, string(m)) {
			return true
		}
	}
	return false
}

func trimQuotes(s string) string { return strings.TrimRight(s, "\"'”’)]}» ") }

// joinWords makes one segment of words.
func joinWords(words []Word) Segment {
	var text strings.Builder
	for _, w := range words {
		text.WriteString(w.Text)
	}
	return Segment{Start: words[0].Start, End: words[len(words)-1].End, Text: strings.TrimSpace(text.String()), Words: words}
}
