package npu

import (
	"context"
	"errors"
	"runtime"
)

// owner is the one goroutine, on one thread, that calls the library.
type owner struct {
	turn  chan struct{} // holds one value while nobody has the turn
	work  chan func()
	hung  chan struct{} // holds one value while a call that was given up has not returned
	ended bool          // belongs to who has the turn
}

func newOwner() *owner {
	o := &owner{turn: make(chan struct{}, 1), work: make(chan func()), hung: make(chan struct{}, 1)}
	o.turn <- struct{}{}
	go func() {
		runtime.LockOSThread()
		for f := range o.work {
			f()
		}
	}()
	return o
}

// take waits for the turn. ErrHung: whoever has it will not give it back soon.
func (o *owner) take(ctx context.Context) error {
	select {
	case <-o.turn:
	default:
		if len(o.hung) > 0 {
			return ErrHung
		}
		select {
		case <-o.turn:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if o.ended {
		o.give()
		return ErrClosed
	}
	return nil
}

func (o *owner) give() { o.turn <- struct{}{} }

// call runs f on the thread, for whoever has the turn. When ctx ends before f has
// returned, the turn goes with f: call returns held = false.
func (o *owner) call(ctx context.Context, f func() error) (held bool, err error) {
	done := make(chan error, 1)
	o.work <- func() { done <- f() }
	select {
	case err := <-done:
		return true, err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return true, err
	default:
	}
	err = ctx.Err()
	hangs := errors.Is(err, context.DeadlineExceeded)
	if hangs {
		o.hung <- struct{}{}
		err = ErrHung
	}
	go func() {
		<-done
		if hangs {
			<-o.hung
		}
		o.give()
	}()
	return false, err
}

// do takes the turn, calls f and gives the turn back.
func (o *owner) do(ctx context.Context, f func() error) error {
	if err := o.take(ctx); err != nil {
		return err
	}
	held, err := o.call(ctx, f)
	if held {
		o.give()
	}
	return err
}

// end ends the goroutine, behind a last call; what comes later gets ErrClosed.
func (o *owner) end(last func() error) error {
	if err := o.take(context.Background()); err != nil {
		return err
	}
	defer o.give()
	_, err := o.call(context.Background(), last)
	o.ended = true
	close(o.work)
	return err
}
