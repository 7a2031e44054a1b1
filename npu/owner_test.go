package npu

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestOwnerHung gives a call up that does not return, and goes on when it has.
func TestOwnerHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner()
		stuck := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := o.do(ctx, func() error { <-stuck; return nil }); err != ErrHung {
			t.Errorf("a call that hangs: %v", err)
		}
		ran := false
		if err := o.do(t.Context(), func() error { ran = true; return nil }); err != ErrHung || ran {
			t.Errorf("a call behind it: %v, ran %v", err, ran)
		}
		close(stuck)
		synctest.Wait()
		if err := o.do(t.Context(), func() error { ran = true; return nil }); err != nil || !ran {
			t.Errorf("a call after it: %v, ran %v", err, ran)
		}
		if err := o.end(func() error { return nil }); err != nil {
			t.Error(err)
		}
		if err := o.do(t.Context(), func() error { return nil }); err != ErrClosed {
			t.Errorf("a call after the end: %v", err)
		}
	})
}

// TestOwnerCanceled gives a call up for another reason: the next one waits for it.
func TestOwnerCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOwner()
		defer o.end(func() error { return nil })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		slow := func() error { time.Sleep(3 * time.Second); return nil }
		if err := o.do(ctx, slow); err != context.Canceled {
			t.Errorf("a call that is not wanted any more: %v", err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := o.do(short, slow); err != context.DeadlineExceeded {
			t.Errorf("waiting behind it: %v", err)
		}
		want := errors.New("what it says")
		if err := o.do(t.Context(), func() error { return want }); err != want {
			t.Errorf("a call behind it: %v", err)
		}
	})
}

func TestPauses(t *testing.T) {
	now := time.Unix(0, 0)
	var p pauses
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if p.fail(now); p.until != now.Add(want*time.Second) {
			t.Errorf("pause %d: %v, want %v s", i, p.until.Sub(now), want)
		}
	}
	for range 100 {
		p.fail(now)
	}
	if p.until != now.Add(time.Minute) {
		t.Errorf("pause 108: %v", p.until.Sub(now))
	}
	p.well()
	if p.fail(now); p.until != now.Add(time.Second) {
		t.Errorf("the pause after it went well: %v", p.until.Sub(now))
	}
}

func TestTail(t *testing.T) {
	tail := newTail()
	for range tailLines + 10 {
		tail.Write([]byte("old\n"))
	}
	lines, marks := tail.now()
	tail.Write([]byte("a lin"))
	tail.Write([]byte("e\nanother\n" + tailMark + "\n"))
	tail.wait(marks)
	if got := tail.since(lines); len(got) != 2 || got[0] != "a line" || got[1] != "another" {
		t.Errorf("got %q", got)
	}
	tail.Write(make([]byte, 1<<20)) // without an end
	tail.Write([]byte("\nend\n"))
	if got := tail.since(0); len(got) != tailLines || len(got[tailLines-2]) != tailBytes || got[tailLines-1] != "end" {
		t.Errorf("%d lines, the one before the last %d bytes", len(got), len(got[len(got)-2]))
	}
}
