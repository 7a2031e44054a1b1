package vad

import (
	"errors"
	"io"
	"iter"
	"time"

	"earshot/audio"
)

// Piece is what is transcribed in one go: one or more stretches of a recording, one
// behind the other.
type Piece struct {
	Samples []float32 // 16 kHz mono; valid until the next piece is asked for
	Spans   []Span    // where they come from, in order; together as long as Samples
}

// Span says that Length samples of a piece from Cut on are those of the recording
// from Start on.
type Span struct{ Cut, Start, Length int }

// RealTime returns the place in the recording of sample cut of the piece. It is exact:
// the spans are whole samples. Where something ends, ask for its last sample and add
// one: behind a cut the next sample lies far away.
func (p *Piece) RealTime(cut int) int {
	var real int
	for i, s := range p.Spans {
		if i == 0 || cut >= s.Cut {
			real = s.Start + cut - s.Cut
		}
	}
	return real
}

// Interval returns the place in the recording of samples from to to-1. One that goes
// over a cut, as a word does that was stretched over a pause, is reduced to the span
// that holds most of it.
func (p *Piece) Interval(from, to int) (start, end int) {
	most := -1
	for _, s := range p.Spans {
		a, b := max(from, s.Cut), min(to, s.Cut+s.Length)
		if b-a > most {
			most, start, end = b-a, s.Start+a-s.Cut, s.Start+b-s.Cut
		}
	}
	if most < 0 {
		return p.RealTime(from), p.RealTime(to)
	}
	return start, end
}

// add appends a stretch of the recording.
func (p *Piece) add(start int, x []float32) {
	if n := len(p.Spans) - 1; n >= 0 && p.Spans[n].Start+p.Spans[n].Length == start {
		p.Spans[n].Length += len(x)
	} else {
		p.Spans = append(p.Spans, Span{len(p.Samples), start, len(x)})
	}
	p.Samples = append(p.Samples, x...)
}

// end is where the piece ends in the recording.
func (p *Piece) end() int { return p.RealTime(len(p.Samples)) }

// Speech cuts a 16 kHz mono recording into pieces of at most o.Longest that hold its
// segments and nothing else: silence between two of them is left out, and ends the
// piece where it is longer than o.Apart. No sample is in two pieces. A recording
// without speech has none.
//
// Reading stops at the first error, which is given with the last piece, if any.
func Speech(src audio.Source, d Detector, o Options) iter.Seq2[Piece, error] {
	limits := o.limits()
	return func(yield func(Piece, error) bool) {
		segmenter := NewSegmenter(d, o)
		block := make([]float32, sileroBatch*ChunkSamples)
		var piece Piece
		for {
			n, err := fill(src, block)
			if !pack(&piece, segmenter.Feed(block[:n]), limits, yield) {
				return
			}
			if err == nil {
				continue
			}
			if pack(&piece, segmenter.Flush(), limits, yield) {
				finish(piece, err, yield)
			}
			return
		}
	}
}

// pack adds the segments that ended to the piece, which it yields when the next one
// does not go with it. It returns false when no more are wanted.
func pack(piece *Piece, events []Event, l limits, yield func(Piece, error) bool) bool {
	for _, e := range events {
		if !e.Ended {
			continue
		}
		full := len(piece.Samples)+len(e.Samples) > l.longest || e.Start-piece.end() > l.apart
		if full && len(piece.Samples) > 0 {
			if !yield(*piece, nil) {
				return false
			}
			*piece = Piece{Samples: piece.Samples[:0]}
		}
		piece.add(e.Start, e.Samples)
	}
	return true
}

// finish yields what is left when the source has ended with err.
func finish(last Piece, err error, yield func(Piece, error) bool) {
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(last.Samples) > 0 || err != nil {
		yield(last, err)
	}
}

// Pieces cuts a 16 kHz mono recording into pieces of at most longest, each at the
// quietest moment of the last third of that time. The pieces tile the recording:
// none overlaps, no sample is lost. Reading stops at the first error, which is
// given with the samples read before it, if any.
func Pieces(src audio.Source, longest time.Duration) iter.Seq2[Piece, error] {
	size := max(1, toSamples(longest))
	return func(yield func(Piece, error) bool) {
		buf := make([]float32, size)
		start, held := 0, 0
		for {
			n, err := fill(src, buf[held:])
			held += n
			if err != nil {
				finish(whole(start, buf[:held]), err, yield)
				return
			}
			cut := quietest(buf, size*2/3)
			if !yield(whole(start, buf[:cut]), nil) {
				return
			}
			held = copy(buf, buf[cut:])
			start += cut
		}
	}
}

// whole is a piece of one stretch.
func whole(start int, x []float32) Piece {
	return Piece{Samples: x, Spans: []Span{{0, start, len(x)}}}
}

// fill reads until buf is full or the source ends.
func fill(src audio.Source, buf []float32) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = src.Read(buf[n:])
		n += m
	}
	if n == len(buf) {
		return n, nil
	}
	return n, err
}
