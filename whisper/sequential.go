package whisper

import (
	"context"
	"errors"
	"io"
)

// Stream is a source of 16 kHz mono samples.
type Stream interface {
	// Read fills dst, returns how many samples it wrote, and ends with io.EOF.
	Read(dst []float32) (int, error)
}

// Sequential transcribes a whole stream as the reference does: windows of 30 s, the
// next one starting where the last complete segment of the one before ended
// (transcribe in transcribe.py). done gets each window's result with the second of
// the stream at which the window starts. Memory does not grow with the stream.
func (l *Listener) Sequential(ctx context.Context, src Stream, done func(Heard, float64) error) error {
	l.Options.Timestamps = true
	window := make([]float32, WindowSeconds*SampleRate)
	held, start := 0, 0
	var ended error
	for {
		for held < len(window) && ended == nil {
			var n int
			n, ended = src.Read(window[held:])
			held += n
		}
		if held == 0 {
			break
		}
		h, err := l.Piece(ctx, window[:held])
		if err != nil {
			return err
		}
		if err := done(h, float64(start)/SampleRate); err != nil {
			return err
		}
		next := l.next(h, held, ended != nil)
		held = copy(window, window[next:held])
		start += next
	}
	if errors.Is(ended, io.EOF) {
		return nil
	}
	return ended
}

// next is how many of the held samples are done with: those up to the last complete
// segment, but never so few that the reading stands still (cases.md, C48).
func (l *Listener) next(h Heard, held int, ended bool) int {
	next := min(held, max(int(h.Done*SampleRate), SampleRate/10))
	if len(h.Segments) == 0 || ended && held-next < SampleRate/10 {
		return held
	}
	return next
}
