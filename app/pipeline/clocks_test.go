package pipeline

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"earshot/audio/capture"
	"earshot/whisper"
)

// slow is a source with a crystal that is slow: its samples come at rate a second, and are
// said to be 16000. Somebody speaks for a second in every five minutes.
type slow struct {
	rate, length int // samples a second, and in all
	at           int
	ended        time.Time
	block        [blockSamples]float32
}

func (s *slow) Read(context.Context) (capture.Block, error) {
	if s.at >= s.length {
		s.ended = time.Now()
		return capture.Block{}, io.EOF
	}
	time.Sleep(blockSamples * time.Second / time.Duration(s.rate))
	for i := range s.block {
		s.block[i] = 0
		if s.at%(300*whisper.SampleRate) < whisper.SampleRate {
			s.block[i] = 0.2
		}
	}
	b := capture.Block{Pos: int64(s.at), Samples: s.block[:]}
	s.at += blockSamples
	return b, nil
}

func (s *slow) Status() capture.Status { return capture.Status{Live: true} }
func (s *slow) Close() error           { return nil }

// TestDrift: a sound card whose clock is 625 millionths slow, for 1 h 44 (cases.md, C62).
func TestDrift(t *testing.T) {
	if testing.Short() {
		t.Skip("100 million samples")
	}
	synctest.Test(t, func(t *testing.T) {
		const seconds = 6240
		began := time.Now()
		s := &slow{rate: 15990, length: 15990 * seconds}
		db := openStore(t, t.TempDir())
		defer db.Close()
		o := testOptions()
		o.Now = func() time.Time { return time.Now().AddDate(26, 0, 0) } // the bubble's clock counts as not set
		p := New(s, loud{}, db, []Model{{Name: "model 0", Final: &stub{}}}, o)
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if passed := s.ended.Sub(began); !near(passed, seconds*second, second) {
			t.Fatalf("the clock showed %v", passed)
		}
		got := read(t, db)
		r, segments := got.recordings[0], got.segments[0]
		if want := time.Duration(6236.1 * float64(second)); len(got.recordings) != 1 || !near(r.Duration, want, 100*time.Millisecond) {
			t.Errorf("the sample clock shows %v in %d recordings, want %v", r.Duration, len(got.recordings), want)
		}
		if st := p.Status(); st.Drift < -3.95 || st.Drift > -3.85 || st.DriftPPM < -630 || st.DriftPPM > -620 {
			t.Errorf("drift %v s, %v ppm", st.Drift, st.DriftPPM)
		}
		if len(segments) != 21 {
			t.Fatalf("%d segments", len(segments))
		}
		last := segments[20]
		truth := began.AddDate(26, 0, 0).Add(time.Duration(float64(last.Start) * 16000 / 15990))
		if !near(last.Wall.Sub(truth), 0, 100*time.Millisecond) {
			t.Errorf("the last segment was said at %v, and stored as of %v", truth, last.Wall)
		}
	})
}
