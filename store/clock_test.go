package store

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// setClock is a wall clock that goes on by itself and can be set.
type setClock struct{ off atomic.Int64 }

func (c *setClock) now() time.Time { return time.Now().Round(0).Add(time.Duration(c.off.Load())) }

func (c *setClock) jump(by time.Duration) { c.off.Add(int64(by)) }

// newSetClock shows a time that is believed, though the bubble of a test begins in 2000.
func newSetClock() *setClock {
	c := &setClock{}
	c.jump(sinceBubble)
	return c
}

const sinceBubble = 27 * 365 * 24 * time.Hour

// TestClockWatch: only a clock that leaps ahead is not believed, for a day.
func TestClockWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSetClock()
		w := clockWatch{wall: c.now(), at: time.Now()}
		for _, step := range []struct {
			what       string
			pass, jump time.Duration
			ahead      time.Duration
		}{
			{"time passes", 99 * time.Hour, 0, 0},
			{"it drifts", time.Minute, 2 * time.Second, 0},
			{"it is set back", time.Minute, -time.Hour, 0},
			{"it leaps ahead", time.Minute, time.Hour, time.Hour},
			{"it stays ahead", 10 * time.Hour, 0, time.Hour},
			{"further", time.Minute, 9 * time.Hour, 10 * time.Hour},
			{"it is set right", time.Minute, -10 * time.Hour, 0},
			{"it leaps far", time.Minute, 87600 * time.Hour, 87600 * time.Hour},
			{"nearly a day", 23 * time.Hour, 0, 87600 * time.Hour},
			{"a day", 2 * time.Hour, 0, 0},
			{"it is lost", time.Minute, -sinceBubble - 2*87600*time.Hour, 0},
			{"and set", time.Minute, sinceBubble + 2*87600*time.Hour, 0},
		} {
			time.Sleep(step.pass)
			c.jump(step.jump)
			if got := w.ahead(c.now()); got != step.ahead {
				t.Errorf("%s: %v ahead, want %v", step.what, got, step.ahead)
			}
		}
	})
}

// TestClockLeapsAhead: ten years too far ahead, Run deletes nothing for its age, and says
// so; and it does when the time has come.
func TestClockLeapsAhead(t *testing.T) {
	dir := memoryDir(t)
	synctest.Test(t, func(t *testing.T) {
		c := newSetClock()
		s := openStore(t, Options{Dir: dir, Now: c.now, Retention: Retention{TextAge: time.Hour}})
		defer s.Close()
		ctx, stop := context.WithCancel(ctx)
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		id := startRecording(t, s)
		say(t, s, id, 1, "said before")
		time.Sleep(30 * time.Minute)
		c.jump(87600 * time.Hour)
		time.Sleep(5 * time.Minute)
		if got := len(segments(t, s, id)); got != 1 || problem(t, s, ProblemClock) == "" {
			t.Errorf("%d segments, problems %v", got, status(t, s).Problems)
		}
		c.jump(-87600 * time.Hour)
		time.Sleep(5 * time.Minute)
		if got := len(segments(t, s, id)); got != 1 || status(t, s).Degraded() {
			t.Errorf("set right: %d segments, problems %v", got, status(t, s).Problems)
		}
		time.Sleep(30 * time.Minute)
		if got := len(segments(t, s, id)); got != 0 {
			t.Errorf("an hour later: %d segments", got)
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
