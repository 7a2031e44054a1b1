package whisper

import (
	"context"
	"slices"
	"sync/atomic"
)

// Piece is a stretch of a recording that is transcribed in one go.
type Piece struct {
	Samples []float32 // up to 30 s of 16 kHz; may be used again when the next piece is asked for
	Breaks  []float64 // see Options
	// Done is called with what was heard, or why nothing was, by the caller of Pieces and
	// in order. Its error ends the transcription.
	Done func(Heard, error) error
}

// Pieces does what Piece does for all pieces of a recording, with the same results.
// With a Batch several are decoded at a time, while the next one is read and encoded;
// the times taken by each then hold those of others.
//
// read hands the pieces in, and ends when it is told that no more are wanted or its
// context ends. It runs on a goroutine of its own, but not beyond Pieces. Its error is
// returned when all that it handed in is done.
func (l *Listener) Pieces(ctx context.Context, read func(ctx context.Context, more func(Piece) bool) error) error {
	if l.Context || l.Batch == nil { // a piece has to wait for the text before it
		return l.inTurn(ctx, read)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	q := newQueue(l)
	var readErr error
	go func() {
		defer close(q.flights)
		if readErr = read(ctx, func(p Piece) bool { return q.send(ctx, p) }); readErr == nil {
			readErr = ctx.Err() // it may have ended for that
		}
	}()
	var failed error
	for f := range q.flights {
		<-f.landed
		if failed != nil {
			continue // until all goroutines have ended
		}
		if failed = f.done(f.heard, f.err); failed != nil {
			stop()
		}
		q.told.Add(1)
	}
	l.language = q.language
	if failed != nil {
		return failed
	}
	return readErr
}

// inTurn is Pieces for one piece at a time.
func (l *Listener) inTurn(ctx context.Context, read func(context.Context, func(Piece) bool) error) error {
	var failed error
	readErr := read(ctx, func(p Piece) bool {
		failed = p.Done(l.Piece(ctx, p.Samples, p.Breaks...))
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return readErr
}

// queue is Pieces at work.
type queue struct {
	Listener // prepares one piece after the other
	engines  *batchEngine
	room     *room
	flights  chan *flight // in order
	sent     int64        // pieces sent off
	told     atomic.Int64 // pieces whose Done was called
}

// flight is a piece on its way; heard and err are there when it has landed.
type flight struct {
	done   func(Heard, error) error
	heard  Heard
	err    error
	landed chan struct{}
}

// maxFlights bounds how many results wait for a piece that takes longer than those
// behind it.
const maxFlights = 16

func newQueue(l *Listener) *queue {
	return &queue{Listener: *l, engines: l.Batch.engine, room: l.Batch.room, flights: make(chan *flight, maxFlights)}
}

// send prepares a piece when there is room, and leaves the rest to a goroutine. It
// returns false when no more are wanted.
func (q *queue) send(ctx context.Context, piece Piece) bool {
	f := &flight{done: piece.Done, landed: make(chan struct{})}
	window, text := q.size(len(piece.Samples))
	q.room.take(window + text)
	q.Engine = q.engines.seat(q.room, window, text)
	p, err := q.prepare(ctx, slices.Clone(piece.Samples), piece.Breaks)
	if err != nil {
		f.err = err
		q.Engine.turn.leave()
		close(f.landed)
	} else {
		q.launch(ctx, f, p)
	}
	q.sent++
	q.flights <- f
	return ctx.Err() == nil
}

// launch decodes a piece on a goroutine of its own, and gives back its room.
func (q *queue) launch(ctx context.Context, f *flight, p *prepared) {
	for part := p; part != nil; part = part.rest {
		part.opts.Partial = q.partial(q.sent)
	}
	one := q.Listener
	go func() {
		defer close(f.landed)
		defer one.Engine.turn.leave()
		f.heard, f.err = one.decode(ctx, p)
	}()
}

// partial is Options.Partial for a piece. Of several only the one that is told next
// shows its text.
func (q *queue) partial(number int64) func(string) {
	if q.Options.Partial == nil {
		return nil
	}
	return func(text string) {
		if q.told.Load() == number {
			q.Options.Partial(text)
		}
	}
}

// size is what a piece of so many samples takes of a Batch. A text that runs on
// to its cap takes more than that; it is not worth keeping room free for it.
func (l *Listener) size(samples int) (window, text int) {
	return l.Engine.Window(samples, l.Options), max(1, l.Options.Beam) * loopRoom(float64(samples)/SampleRate)
}
