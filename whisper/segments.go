package whisper

import (
	"strings"

	"earshot/whisper/token"
)

// Segment is a stretch of speech with its text.
type Segment struct {
	Start, End float64 // seconds from the start of the window
	Text       string  // without spaces around it
	Words      []Word  // where asked for
	Language   string  // code
}

// stampedSegments cuts a text with timestamp tokens into segments. A start without
// an end, at the end of the text, lasts as long as the audio. It also says how far
// the window is done: up to the last complete segment, or, when the text ended with
// a single timestamp or none, up to the end of the audio (transcribe in
// transcribe.py).
func stampedSegments(tok *token.Tokenizer, tokens []int, duration float64) (segments []stamped, done float64) {
	var current stamped
	open := false
	for i, t := range tokens {
		at, isTime := tok.Timestamp(t)
		if !isTime {
			if !open {
				current, open = stamped{start: lastEnd(segments), from: i}, true
			}
			continue
		}
		if open && current.from < i {
			current.end, current.to = min(at.Seconds(), duration), i
			segments = append(segments, current)
			open = false
			continue
		}
		current, open = stamped{start: min(at.Seconds(), duration), from: i + 1}, true
	}
	if open && current.from < len(tokens) {
		current.end, current.to = duration, len(tokens)
		return append(segments, current), duration
	}
	if n := len(tokens); n >= 2 && tok.IsTimestamp(tokens[n-1]) && tok.IsTimestamp(tokens[n-2]) {
		return segments, lastEnd(segments)
	}
	return segments, duration
}

// stamped is a segment as a range of a text's tokens.
type stamped struct {
	start, end float64
	from, to   int
}

func lastEnd(segments []stamped) float64 {
	if len(segments) == 0 {
		return 0
	}
	return segments[len(segments)-1].end
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
	if pause >= pauseBetween || endsSentence(last.Text) && strings.HasPrefix(next.Text, " ") || endsWide(last.Text) {
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

func endsSentence(s string) bool { return strings.HasSuffix(trimQuotes(s), ".") || endsAny(s, "?!…") }
func endsWide(s string) bool     { return endsAny(s, "。！？") }
func endsClause(s string) bool   { return endsAny(s, ",;:，、；：") }

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
