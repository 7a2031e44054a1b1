package export

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// ruler knows where a segment's text can be cut, how wide it is up to there, and
// when that is spoken.
type ruler struct {
	segment Segment
	points  []point // the first is the start of the text, the last its end
	spans   []span  // in order, at least one
	words   bool    // the spans are the segment's words; else one span is all
}

// point is a place between two grapheme clusters.
type point struct {
	at   int // offset in bytes
	col  int // display columns in front of it
	ink  int // the same without the space right before it
	kind kind
}

// kind says how good a place for a cut is: the larger, the better.
type kind int

const (
	inside   kind = iota // of a word
	between              // two characters of a script without spaces
	space                // behind a space
	clause               // behind a comma and the like
	sentence             // behind the end of a sentence
)

// span is a stretch of text, offsets in bytes, and when it is spoken.
type span struct {
	from, to   int
	start, end float64
}

// measure looks at a tidy segment. The first label bytes of its text are not spoken.
func measure(s Segment, label int) ruler {
	r := ruler{segment: s, points: measureText(s.Text), spans: align(s, label)}
	if r.spans == nil {
		r.spans = []span{{0, len(s.Text), s.Start, s.End}}
		return r
	}
	r.words = true
	// The words know better where a script without spaces can be cut.
	k := 0
	for i := range r.points {
		p := &r.points[i]
		for k < len(r.spans)-1 && r.spans[k].to <= p.at {
			k++
		}
		if r.spans[k].from < p.at && p.at < r.spans[k].to && p.at > label {
			p.kind = inside
		}
	}
	return r
}

// measureText finds the points of a text (Unicode Standard Annexes 11, 14 and 29).
func measureText(text string) []point {
	points := []point{{kind: sentence}}
	here := point{}
	last, state := ' ', -1 // last is the last character that is no space
	for rest := text; rest != ""; {
		var cluster string
		var found int
		cluster, rest, found, state = uniseg.StepString(rest, state)
		here.at += len(cluster)
		here.col += found >> uniseg.ShiftWidth
		if cluster != " " {
			here.ink = here.col
			last, _ = utf8.DecodeLastRuneInString(cluster)
		}
		here.kind = kindOf(found, cluster == " ", last, rest)
		points = append(points, here)
	}
	return points
}

// kindOf judges the place in front of rest. Only where lines can be put together
// again (see joined) a place is better than inside.
func kindOf(found int, spaced bool, last rune, rest string) kind {
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case found&uniseg.MaskLine == uniseg.LineDontBreak || !spaced && !tight(last, first):
		return inside
	case found&uniseg.MaskSentence != 0:
		return sentence
	case strings.ContainsRune(",;:،؛、，；：—–", last):
		return clause
	case spaced:
		return space
	}
	return between
}

// align finds the words of a segment in its text behind the label. It returns nil
// where they are not exactly that text, spaces aside. A label belongs to the first.
func align(s Segment, label int) []span {
	spans := make([]span, 0, len(s.Words))
	at := label
	for _, w := range s.Words {
		at += len(s.Text[at:]) - len(strings.TrimLeft(s.Text[at:], " "))
		if !strings.HasPrefix(s.Text[at:], w.Text) {
			return nil
		}
		spans = append(spans, span{at, at + len(w.Text), w.Start, w.End})
		at += len(w.Text)
	}
	if len(spans) == 0 || at != len(s.Text) {
		return nil
	}
	spans[0].from = 0
	return spans
}

// part is the segment between two points, with its words.
func (r ruler) part(i, j int) Segment {
	s := r.segment
	from, to := r.points[i].at, r.points[j].at
	s.Text = strings.TrimRight(r.segment.Text[from:to], " ")
	if i > 0 {
		s.Start = r.startAt(from)
	}
	if j < len(r.points)-1 {
		s.End = r.endAt(to)
	}
	if r.words {
		first := sort.Search(len(r.spans), func(k int) bool { return r.spans[k].from >= from })
		next := sort.Search(len(r.spans), func(k int) bool { return r.spans[k].from >= to })
		s.Words = s.Words[first:next:next]
	} else if i > 0 || j < len(r.points)-1 {
		s.Words = nil // nobody knows which of them are here
	}
	return s
}

// startAt is when the text from an offset on begins.
func (r ruler) startAt(at int) float64 {
	k := sort.Search(len(r.spans), func(k int) bool { return r.spans[k].to > at })
	return r.spans[min(k, len(r.spans)-1)].time(at)
}

// endAt is when the text up to an offset, which is not 0, ends.
func (r ruler) endAt(at int) float64 {
	k := sort.Search(len(r.spans), func(k int) bool { return r.spans[k].from >= at })
	return r.spans[k-1].time(at)
}

// time takes a span as spoken evenly.
func (s span) time(at int) float64 {
	switch {
	case at <= s.from:
		return s.start
	case at >= s.to:
		return s.end
	}
	return s.start + (s.end-s.start)*float64(at-s.from)/float64(s.to-s.from)
}
