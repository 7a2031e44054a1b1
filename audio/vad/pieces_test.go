package vad

import (
	"errors"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"earshot/audio"
)

// samples is a source that gives its samples in reads of odd sizes, then err.
type samples struct {
	left []float32
	err  error
}

func (s *samples) Format() audio.Format { return audio.Format{Rate: audio.SampleRate, Channels: 1} }

func (s *samples) Read(dst []float32) (int, error) {
	if len(s.left) == 0 {
		return 0, s.err
	}
	n := copy(dst[:min(len(dst), 777)], s.left)
	s.left = s.left[n:]
	return n, nil
}

func tone(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i) / 5))
	}
	return x
}

func TestPiecesTileTheRecording(t *testing.T) {
	for _, n := range []int{0, 1, 15_999, 16_000, 16_001, 24_000, 100_003} {
		x := tone(n)
		var got []float32
		for p, err := range Pieces(&samples{x, io.EOF}, time.Second) {
			if err != nil {
				t.Fatal(err)
			}
			if start := p.RealTime(0); start != len(got) {
				t.Errorf("%d samples: piece starts at %d after %d samples", n, start, len(got))
			}
			if len(p.Samples) == 0 || len(p.Samples) > audio.SampleRate {
				t.Errorf("%d samples: piece of %d", n, len(p.Samples))
			}
			got = append(got, p.Samples...)
		}
		if !slices.Equal(got, x) {
			t.Errorf("%d samples: %d came back, or others", n, len(got))
		}
	}
}

func TestPiecesCutAtThePause(t *testing.T) {
	x := tone(40_000)
	clear(x[12_000:14_400]) // 150 ms of silence, 0.75 s in
	for p := range Pieces(&samples{x, io.EOF}, time.Second) {
		if end := len(p.Samples); end < 12_000 || end > 14_400 {
			t.Errorf("first piece ends at %d, the pause is 12000…14400", end)
		}
		return
	}
}

func TestPiecesGiveWhatCameBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	var n int
	var last error
	for p, err := range Pieces(&samples{tone(20_000), broken}, time.Second) {
		n += len(p.Samples)
		last = err
	}
	if n != 20_000 || !errors.Is(last, broken) {
		t.Errorf("got %d samples and %v, want 20000 and the error", n, last)
	}
}
