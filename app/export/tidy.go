package export

import (
	"math"
	"slices"
)

// DefaultLongest is how long a cue may last, in seconds, unless asked for otherwise.
// Nobody speaks for longer without a pause; what claims to is music or a loop.
const DefaultLongest = 30

// Tidy returns segments as every format can hold them. The order of the segments is
// kept and no text is lost:
//
//   - Text is clean: valid UTF-8 in one line. Segments without any are left out.
//   - 0 ≤ Start ≤ End ≤ duration, and Start is no less than the End before. A reversed
//     pair is swapped, a missing start (NaN or infinite) is the end before, a missing
//     end is the start; where two overlap, the later one starts later. With labelled
//     speakers two may talk at once: then this holds for each, and starts never fall.
//   - Words lie inside their segment, in order, by the same rules.
//   - No segment is longer than longest. A longer one is cut in two, as near to the
//     middle of its text as a sentence end, a comma or a space allows, and the parts
//     again; words with times say when the parts are, and without them the text
//     counts as spoken evenly. What is one word ends early.
//
// Nothing depends on a later segment, so that the export of a recording that goes on
// is the beginning of the export at its end.
//
// duration and longest are in seconds. A duration that is not above 0 is not known; a
// longest that is not above 0 is DefaultLongest.
func Tidy(segments []Segment, duration, longest float64) []Segment {
	t := newTidier(duration, longest)
	var out []Segment
	for _, s := range segments {
		out = append(out, t.add(s)...)
	}
	return out
}

// tidier does Tidy segment by segment.
type tidier struct {
	duration, longest float64
	start             float64            // of the segment before
	ends              map[string]float64 // last end, by speaker
}

func newTidier(duration, longest float64) *tidier {
	if !(longest > 0) {
		longest = DefaultLongest
	}
	return &tidier{duration: limit(duration), longest: longest, ends: map[string]float64{}}
}

// limit is the last time there is: duration cut to whole milliseconds, so that
// rounding leads nowhere behind it.
func limit(duration float64) float64 {
	if !(duration > 0 && duration < maxSeconds) {
		return maxSeconds
	}
	// 1e-6 ms undo what float64 may lack in 29.9 · 1000.
	return math.Floor(duration*1000+1e-6) / 1000
}

// add returns the tidy form of s: nothing, one segment, or several.
func (t *tidier) add(s Segment) []Segment {
	s.Text, s.Speaker = clean(s.Text), clean(s.Speaker)
	if s.Text == "" {
		return nil
	}
	s.Start, s.End = order(s.Start, s.End, max(t.start, t.ends[s.Speaker]), t.duration)
	s.Words = tidyWords(s)
	parts := t.shorten(s)
	last := parts[len(parts)-1]
	t.start, t.ends[s.Speaker] = last.Start, last.End
	return parts
}

// tidyWords returns s's words inside s, in a slice of their own.
func tidyWords(s Segment) []Word {
	words := slices.Clone(s.Words)
	from := s.Start
	for i := range words {
		w := &words[i]
		w.Text = clean(w.Text)
		w.Start, w.End = order(w.Start, w.End, from, s.End)
		from = w.End
	}
	return slices.DeleteFunc(words, func(w Word) bool { return w.Text == "" })
}

// order brings a pair of times into lo … hi, where lo ≤ hi, with start ≤ end.
func order(start, end, lo, hi float64) (float64, float64) {
	if missing(start) {
		start = lo
	}
	if missing(end) {
		end = start
	}
	if end < start {
		start, end = end, start
	}
	start = min(max(start, lo), hi)
	return start, min(max(end, start), hi)
}

func missing(seconds float64) bool { return math.IsNaN(seconds) || math.IsInf(seconds, 0) }

// shorten cuts a segment in two until every part is short enough.
func (t *tidier) shorten(s Segment) []Segment {
	if s.End-s.Start <= t.longest {
		return []Segment{s}
	}
	r := measure(s, 0)
	at := r.middle()
	if at == 0 {
		s.End = s.Start + t.longest
		for i := range s.Words {
			w := &s.Words[i]
			w.Start, w.End = min(w.Start, s.End), min(w.End, s.End)
		}
		return []Segment{s}
	}
	head, tail := r.part(0, at), r.part(at, len(r.points)-1)
	return append(t.shorten(head), t.shorten(tail)...)
}
