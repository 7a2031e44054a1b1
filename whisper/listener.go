package whisper

import (
	"context"
	"time"
)

// Listener transcribes the pieces of one recording in order. It remembers the
// language from piece to piece, sees to it that no voiced sound is passed over, and,
// only when asked, gives the text before to the model. It belongs to one recording.
type Listener struct {
	Engine  *Engine
	Options Options
	// Context gives the text of a piece to the next. It helps names and feeds loops,
	// so it is off by default; doubtful text is never fed back.
	Context bool
	// Batch decodes the pieces of Pieces together, and with those of other Listeners;
	// nil is one at a time. It is a batch of Engine.
	Batch *Batch

	language string // of the recording, as far as it was well heard
	before   string // text of the piece before, if that was good
}

// Heard is a piece's result with what was seen of its coverage.
type Heard struct {
	Result
	Coverage  float64 // share of the voiced sound that the text accounts for, 0 to 1
	Uncovered []Span  // voiced stretches that no text accounts for
}

// Span is a stretch of a piece, in seconds from its start.
type Span struct{ Start, End float64 }

// Piece transcribes one piece of up to 30 s; breaks are Options.Breaks. Where the
// language changes inside, the piece is transcribed in parts.
func (l *Listener) Piece(ctx context.Context, samples []float32, breaks ...float64) (Heard, error) {
	p, err := l.prepare(ctx, samples, breaks)
	if err != nil {
		return Heard{}, err
	}
	return l.decode(ctx, p)
}

// prepared is a piece, or a part of one, that is encoded and whose language is known.
// It may hold an open session.
type prepared struct {
	window
	encodeTime, languageTime time.Duration

	rest   *prepared // what follows in another language, or nil
	restAt float64   // second at which it begins
}

// prepare does with a piece what has to be done in the order of the pieces.
func (l *Listener) prepare(ctx context.Context, samples []float32, breaks []float64) (*prepared, error) {
	opts := l.Options
	opts.Breaks = breaks
	if !opts.Timestamps && !opts.NoGuards { // a window that the next one overlaps may end anywhere
		samples = softEnd(samples)
	}
	p := &prepared{window: window{engine: l.Engine, samples: samples, opts: opts}}
	start := time.Now()
	var err error
	if p.encoded, err = l.Engine.Encode(ctx, samples, opts); err != nil {
		return nil, err
	}
	p.encodeTime = time.Since(start)
	if opts.Language != "" {
		return p, nil
	}
	language, change, err := l.languageIn(ctx, &p.window)
	p.opts.Language, p.languageTime = language, time.Since(start)-p.encodeTime
	if err == nil && change == 0 {
		return p, nil
	}
	p.close()
	if err != nil {
		return nil, err
	}
	return l.prepareParts(ctx, samples, change, p.opts)
}

// prepareParts prepares a piece in which another language begins at a sample. With
// timestamps the second part is left to the next window.
func (l *Listener) prepareParts(ctx context.Context, samples []float32, change int, opts Options) (*prepared, error) {
	at := float64(change) / SampleRate
	first := *l
	first.Options.Language = opts.Language
	p, err := first.prepare(ctx, samples[:change], upTo(opts.Breaks, at))
	if err != nil || opts.Timestamps {
		return p, err
	}
	p.restAt = at
	if p.rest, err = l.prepare(ctx, samples[change:], behind(opts.Breaks, at)); err == nil {
		p.rest.close() // its turn comes later
	}
	return p, err
}

// decode is what is left to do with a piece.
func (l *Listener) decode(ctx context.Context, p *prepared) (Heard, error) {
	h, err := l.decodePart(ctx, p)
	if err != nil || p.rest == nil {
		return h, err
	}
	l.before = "" // no context over a change of language
	rest, err := l.decode(ctx, p.rest)
	if err != nil {
		return h, err
	}
	h.add(rest.Result, p.restAt)
	h.Done = p.restAt + rest.Done
	if h.Dropped != "" {
		h.Dropped = rest.Dropped
	}
	h.Coverage = min(h.Coverage, rest.Coverage)
	for _, u := range rest.Uncovered {
		h.Uncovered = append(h.Uncovered, Span{u.Start + p.restAt, u.End + p.restAt})
	}
	return h, nil
}

func (l *Listener) decodePart(ctx context.Context, p *prepared) (Heard, error) {
	if l.Context {
		p.opts.context = l.before
	}
	r, err := p.result(ctx)
	if err != nil {
		return Heard{}, err
	}
	r.EncodeTime += p.encodeTime
	r.DecodeTime += p.languageTime
	h, err := l.cover(ctx, p.samples, p.opts, r)
	l.before = ""
	if err == nil && h.Dropped == "" && h.good() {
		l.before = h.Text
	}
	return h, err
}

// upTo and behind are the times on either side of at; those behind count from there.
func upTo(times []float64, at float64) (before []float64) {
	for _, t := range times {
		if t < at {
			before = append(before, t)
		}
	}
	return before
}

func behind(times []float64, at float64) (after []float64) {
	for _, t := range times {
		if t > at {
			after = append(after, t-at)
		}
	}
	return after
}

// add appends what was heard in a stretch that begins at so many seconds.
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
