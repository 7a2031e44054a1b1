package whisper

import (
	"context"
	"slices"
)

// A stretch this long, or this much of it voiced, that no text accounts for is
// looked at again. Word ends lie up to a second before the sound ends.
const (
	holeSeconds  = 3.0
	holeVoiced   = 1.5
	besideASound = 0.3 // s: how far a segment's times may lie beside its sound
)

// cover compares the text with the voiced sound (cases.md, C41): a model may end
// its text early, or be stopped by the cap (C40), and say nothing about the rest. What
// lies behind the text is decoded on its own for as long as that brings text forward;
// what is then still missing is reported. A window that is not done is left alone,
// since the next one starts where it ended.
func (l *Listener) cover(ctx context.Context, samples []float32, opts Options, r Result) (Heard, error) {
	h := Heard{Result: r, Coverage: 1}
	duration := float64(len(samples)) / SampleRate
	if opts.NoGuards || !opts.Words && !opts.Timestamps || r.Dropped != "" || r.Done < duration-0.01 ||
		len(r.Segments) == 0 && r.NoSpeech > maxNoSpeech {
		return h, nil
	}
	voiced := voicedMap(samples)
	end := r.reach()
	for {
		rest, ok := hole(voiced, end, duration)
		if !ok {
			break
		}
		again, err := l.Engine.Transcribe(ctx, samples[int(rest.Start*SampleRate):], opts.from(rest.Start))
		if err != nil {
			return h, err
		}
		if len(again.Segments) == 0 || again.Stop == Looped || h.endsWith(again.Text) {
			break // a loop or an echo accounts for nothing
		}
		h.add(again, rest.Start)
		reached := rest.Start + again.reach()
		if reached <= end {
			break
		}
		end = reached
	}
	h.missing(voiced, end, duration)
	return h, nil
}

// from are the options for what lies behind a time of the window.
func (o Options) from(at float64) Options {
	o.Breaks, o.Prefix, o.context = behind(o.Breaks, at), "", ""
	return o
}

// reach is up to where the text accounts for the sound.
func (r *Result) reach() float64 {
	reach := r.aligned
	if n := len(r.Segments); n > 0 {
		reach = max(reach, r.Segments[n-1].End)
	}
	return reach
}

// endsWith says whether the text ends with the words of another.
func (h *Heard) endsWith(text string) bool {
	have, more := plainWords(h.Text), plainWords(text)
	return len(more) <= len(have) && slices.Equal(have[len(have)-len(more):], more)
}

// missing lists the holes between the segments, and what share they are. The text
// reaches up to end.
func (h *Heard) missing(voiced []bool, end, duration float64) {
	at := 0.0
	for _, s := range h.Segments {
		h.note(voiced, at+besideASound, s.Start-besideASound)
		at = max(at, s.End)
	}
	h.note(voiced, max(at, end), duration)
	var missed float64
	for _, u := range h.Uncovered {
		missed += voicedSeconds(voiced[frameOf(u.Start, voiced):frameOf(u.End, voiced)])
	}
	if all := voicedSeconds(voiced); missed > 0 && all > 0 {
		h.Coverage = max(0, 1-missed/all)
	}
}

func (h *Heard) note(voiced []bool, from, to float64) {
	if span, ok := hole(voiced, from, to); ok {
		h.Uncovered = append(h.Uncovered, span)
	}
}

// hole is the voiced part of a stretch without text, if it is long enough to hold
// words.
func hole(voiced []bool, from, to float64) (Span, bool) {
	if to <= from {
		return Span{}, false
	}
	at := frameOf(from, voiced)
	part := voiced[at:frameOf(to, voiced)]
	first, last := slices.Index(part, true), len(part)-1
	for last >= 0 && !part[last] {
		last--
	}
	if first < 0 || seconds(last-first) < holeSeconds || voicedSeconds(part) < holeVoiced {
		return Span{}, false
	}
	return Span{Start: seconds(at + max(0, first-10)), End: seconds(at + last + 1)}, true
}

func voicedSeconds(voiced []bool) float64 {
	n := 0
	for _, v := range voiced {
		if v {
			n++
		}
	}
	return seconds(n)
}
