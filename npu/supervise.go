//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// supervisor keeps a worker process going. It belongs to one goroutine at a time.
type supervisor struct {
	options  WorkerOptions
	process  *process // the last that was started
	failure  *Error   // how it ended; nil while it runs
	pauses   pauses
	restarts int
	opened   Status // what the process said when it was opened
}

// start starts a process, unless one is running or it is too early for another.
func (s *supervisor) start(ctx context.Context) error {
	s.look()
	if s.failure == nil && s.process != nil {
		return nil
	}
	if s.process != nil {
		e, left := *s.failure, time.Until(s.pauses.until)
		switch {
		case !s.process.ended():
			e.Text += "; the old worker can't be ended"
			return &e
		case left > 0:
			e.Text += fmt.Sprintf("; the worker is started again in %v at the earliest", left.Round(time.Millisecond))
			return &e
		}
		s.restarts++
	}
	p, err := startProcess(s.options.Command)
	if err != nil {
		return failed("open", err)
	}
	s.process, s.failure = p, nil
	reply, _, err := s.ask(ctx, s.options.OpenLimit, "open", message{Op: opOpen, Library: s.options.Library})
	switch refused := (*Error)(nil); {
	case err == nil:
		s.opened = *reply.Status
	case s.failure == nil && errors.As(err, &refused): // it works, but has no library
		p.end()
		s.fail(refused)
	}
	return err
}

// look sees whether the process has ended since it was asked last.
func (s *supervisor) look() {
	if s.failure == nil && s.process != nil && s.process.ended() {
		s.fail(&Error{What: "between two calls", Err: ErrCrashed, Text: s.process.end(), Log: s.process.said.since(0)})
	}
}

func (s *supervisor) fail(e *Error) error {
	s.failure = e
	s.pauses.fail(time.Now())
	return e
}

// ask asks the process. No reply in time, or none at all, is its end.
func (s *supervisor) ask(ctx context.Context, limit time.Duration, what string, m message, fds ...int) (message, []int, error) {
	p, began := s.process, time.Now()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	lines, _ := p.said.now()
	reply, fds, err := p.ask(limited, m, fds...)
	if refused := (*Error)(nil); err == nil || errors.As(err, &refused) {
		return reply, fds, err
	}
	e := &Error{What: what}
	switch {
	case errors.Is(err, context.Canceled):
		p.end()
		e.Err = context.Canceled
		s.failure = e // but nothing is wrong: no pause
		return reply, nil, e
	case errors.Is(err, context.DeadlineExceeded):
		p.end()
		e.Err, e.Text = ErrHung, fmt.Sprintf("no reply in %v", time.Since(began).Round(time.Millisecond))
	default:
		p.wait() // since its socket has ended it ends too, and says how
		e.Err, e.Text = ErrCrashed, p.end()
	}
	e.Log = p.said.since(lines)
	return reply, nil, s.fail(e)
}

// close ends the process in good order, if there is one.
func (s *supervisor) close() (err error) {
	if s.look(); s.failure == nil {
		if _, _, err = s.ask(context.Background(), s.options.OpenLimit, "close", message{Op: opClose}); err == nil {
			s.process.wait()
		}
	}
	s.process.end()
	return err
}
