package whisper

import (
	"context"
	"sync"
	"time"
)

// steps joins the steps that several goroutines ask for, so that the decoder's weights
// are read once for all of them; a row's logits are the same in any company. Each
// goroutine decodes with a seat of its own. A step is made once every seat with an
// open session asks for one, by the last that does: between two steps of a window
// there is nothing but a little work. Seats come and go at any time.
type steps struct {
	decoder Decoder
	compute *sync.Mutex // held for every call of the decoder and its sessions

	decoding time.Duration // at work, guarded by compute

	mu      sync.Mutex
	active  int         // seats with an open session
	waiting []*stepCall // of different seats
}

// stepCall is a step that a seat waits for.
type stepCall struct {
	ctx     context.Context
	session Session
	in      []Input
	out     Output
	err     error
	done    chan struct{} // closed when out and err are there
}

// seat is the Decoder of one goroutine. The others wait while it has a session open,
// so nothing that takes long is to be done then.
type seat struct {
	*steps
	open int // sessions, guarded by steps.mu
}

func (s *seat) Begin(ctx context.Context, audios []Encoded, opts SessionOptions) (Session, error) {
	s.compute.Lock()
	start := time.Now()
	session, err := s.decoder.Begin(ctx, audios, opts)
	s.decoding += time.Since(start)
	s.compute.Unlock()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open++; s.open == 1 {
		s.active++
	}
	return &seatSession{seat: s, session: session}, nil
}

// seatSession is a session of the decoder that is stepped with those of other seats.
type seatSession struct {
	seat    *seat
	session Session // nil when closed
}

func (s *seatSession) Step(ctx context.Context, in []Input) (Output, error) {
	call := &stepCall{ctx: ctx, session: s.session, in: in, done: make(chan struct{})}
	s.seat.mu.Lock()
	s.seat.waiting = append(s.seat.waiting, call)
	calls := s.seat.complete()
	s.seat.mu.Unlock()
	s.seat.run(calls)
	<-call.done
	return call.out, call.err
}

func (s *seatSession) Select(from []int) error {
	s.seat.compute.Lock()
	defer s.seat.compute.Unlock()
	return s.session.Select(from)
}

func (s *seatSession) Close() error {
	if s.session == nil {
		return nil
	}
	s.seat.compute.Lock()
	err := s.session.Close()
	s.seat.compute.Unlock()
	s.session = nil
	s.seat.leave()
	return err
}

// leave says that a session is done with. It may be the one that all others waited for.
func (s *seat) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; s.open > 0 {
		return
	}
	s.active--
	if calls := s.complete(); calls != nil {
		go s.run(calls)
	}
}

// complete returns what the seats wait for, if all of those with an open session do.
func (s *steps) complete() []*stepCall {
	if len(s.waiting) < s.active {
		return nil
	}
	calls := s.waiting
	s.waiting = nil
	return calls
}

// run makes one step of calls, if there are any.
func (s *steps) run(calls []*stepCall) {
	if len(calls) == 0 {
		return
	}
	s.compute.Lock()
	defer s.compute.Unlock()
	start := time.Now()
	if joiner, ok := s.decoder.(Joiner); ok {
		s.join(joiner, calls)
	} else {
		for _, c := range calls {
			c.out, c.err = c.session.Step(c.ctx, c.in)
		}
	}
	s.decoding += time.Since(start)
	for _, c := range calls {
		close(c.done)
	}
}

// join makes one step of calls with a decoder that can do so.
func (s *steps) join(joiner Joiner, calls []*stepCall) {
	sessions := make([]Session, len(calls))
	in := make([][]Input, len(calls))
	for i, c := range calls {
		sessions[i], in[i] = c.session, c.in
	}
	out, err := joiner.StepAll(calls[0].ctx, sessions, in)
	for i, c := range calls {
		if c.err = err; err == nil {
			c.out = out[i]
		}
	}
}
