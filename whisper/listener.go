package whisper

import (
	"context"
	"math"
	"time"
)

// Listener transcribes the pieces of one recording in order. It remembers the
// language from piece to piece, sees to it that no voiced sound is passed over, and,
// only when asked, gives the text before to the model. It belongs to one recording.
type Listener struct {
	Engine  *Engine
	Options Options
	// Context feeds the text of a piece to the next as its prompt. It helps names and
	// feeds loops, so it is off by default; doubtful text is never fed back.
	Context bool

	language string
	before   string
}

// Heard is a piece's result with what was seen of its coverage.
type Heard struct {
	Result
	Coverage  float64 // share of the voiced sound up to the end of the text, 0 to 1
	Uncovered []Span  // voiced stretches that no text accounts for
}

// Span is a stretch of a piece, in seconds from its start.
type Span struct{ Start, End float64 }

// Piece transcribes one piece of up to 30 s; breaks are Options.Breaks. Where the
// language changes inside, the piece is transcribed in parts.
func (l *Listener) Piece(ctx context.Context, samples []float32, breaks ...float64) (Heard, error) {
	samples = softEnd(samples)
	start := time.Now()
	enc, err := l.Engine.Encode(ctx, samples)
	if err != nil {
		return Heard{}, err
	}
	encodeTime := time.Since(start)
	opts := l.Options
	opts.Breaks = breaks
	if opts.Language == "" {
		change, err := l.languageIn(ctx, enc, samples)
		if err != nil {
			return Heard{}, err
		}
		if change > 0 {
			return l.parts(ctx, samples, change)
		}
		opts.Language = l.language
	}
	if l.Context && l.before != "" {
		opts.Prompt = l.before
	}
	r, err := l.Engine.Decode(ctx, enc, samples, opts)
	if err != nil {
		return Heard{}, err
	}
	r.EncodeTime = encodeTime
	h, err := l.cover(ctx, samples, opts, r)
	if err == nil && h.Dropped == "" && h.good() {
		l.before = h.Text
	}
	return h, err
}

// parts transcribes a piece in which another language begins at a sample.
func (l *Listener) parts(ctx context.Context, samples []float32, change int) (Heard, error) {
	first := Listener{Engine: l.Engine, Options: l.Options, Context: l.Context, before: l.before}
	first.Options.Language = l.language
	h, err := first.Piece(ctx, samples[:change])
	if err != nil {
		return h, err
	}
	l.language = "" // what follows was heard well enough
	rest, err := l.Piece(ctx, samples[change:])
	if err != nil {
		return h, err
	}
	h.add(rest.Result, float64(change)/SampleRate)
	h.Done = float64(change)/SampleRate + rest.Done
	h.Coverage = min(h.Coverage, rest.Coverage)
	for _, u := range rest.Uncovered {
		h.Uncovered = append(h.Uncovered, Span{u.Start + float64(change)/SampleRate, u.End + float64(change)/SampleRate})
	}
	return h, nil
}

// A tail this long, or this much of it voiced, that the text does not reach is
// looked at again. Word ends lie up to a second before the sound ends.
const (
	tailSeconds   = 3.0
	voicedInATail = 1.5
)

// cover compares the text with the voiced sound (cases.md, C41): a model may end
// its text early and say nothing about the rest. The rest is decoded once more; what
// is then still missing is reported.
func (l *Listener) cover(ctx context.Context, samples []float32, opts Options, r Result) (Heard, error) {
	h := Heard{Result: r, Coverage: 1}
	if !opts.Words && !opts.Timestamps || len(r.Segments) == 0 || opts.NoGuards {
		return h, nil
	}
	voiced := voicedMap(samples)
	end := r.Segments[len(r.Segments)-1].End
	rest, ok := uncovered(voiced, end)
	if !ok {
		return h, nil
	}
	from := int(rest.Start * SampleRate)
	again, err := l.Engine.Transcribe(ctx, samples[from:], opts)
	if err != nil {
		return h, err
	}
	h.add(again, rest.Start)
	if len(again.Segments) > 0 {
		return h, nil
	}
	h.Uncovered = []Span{rest}
	h.Coverage = 1 - voicedSeconds(voiced[frameOf(end, voiced):])/math.Max(voicedSeconds(voiced), 0.01)
	return h, nil
}

// uncovered is the voiced tail behind end, if it is long enough to hold words.
func uncovered(voiced []bool, end float64) (Span, bool) {
	at := frameOf(end, voiced)
	tail := voiced[at:]
	first, last := -1, -1
	for i, v := range tail {
		if v && first < 0 {
			first = i
		}
		if v {
			last = i
		}
	}
	if first < 0 || seconds(last-first) < tailSeconds || voicedSeconds(tail) < voicedInATail {
		return Span{}, false
	}
	return Span{Start: seconds(max(at, at+first-10)), End: seconds(at + last + 1)}, true
}

// add appends what a second decode found behind at.
func (h *Heard) add(again Result, at float64) {
	for _, s := range again.Segments {
		h.Segments = append(h.Segments, s.later(at))
	}
	h.Text = joinSegments(h.Segments, h.Language)
	h.Tokens = append(h.Tokens, again.Tokens...)
	h.EncodeTime += again.EncodeTime
	h.DecodeTime += again.DecodeTime
}

// later is the segment moved by so many seconds.
func (s Segment) later(by float64) Segment {
	words := s.Words
	s.Start, s.End, s.Words = s.Start+by, s.End+by, nil
	for _, w := range words {
		w.Start, w.End = w.Start+by, w.End+by
		s.Words = append(s.Words, w)
	}
	return s
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
