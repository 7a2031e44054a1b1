//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"earshot/npu/graph"
)

// worker is a Device whose library is in a process of its own. What has no lock belongs to
// whoever has the turn.
type worker struct {
	supervisor
	turn     chan struct{} // holds one value while nobody has the turn
	networks map[*remoteNetwork]struct{}
	closed   bool

	mu    sync.Mutex
	known Status // the last
}

// StartWorker does as Open, in a process of its own, which is started again after a
// failure, at the next call, with pauses that grow. Its networks are gone then
// (ErrCrashed): compile or restore them again. A call that is given up, because its
// context ends or its limit is over, ends the process.
func StartWorker(ctx context.Context, o WorkerOptions) (Device, error) {
	o.OpenLimit = cmp.Or(o.OpenLimit, 30*time.Second)
	o.CompileLimit = cmp.Or(o.CompileLimit, 10*time.Minute)
	o.ExecuteLimit = cmp.Or(o.ExecuteLimit, 30*time.Second)
	w := &worker{supervisor: supervisor{options: o}, turn: make(chan struct{}, 1), networks: map[*remoteNetwork]struct{}{}}
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	w.note(w.opened)
	w.turn <- struct{}{}
	return w, nil
}

func (w *worker) take(ctx context.Context) error {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := ctx.Err()
	if w.closed {
		err = ErrClosed
	}
	if err != nil {
		w.turn <- struct{}{}
	}
	return err
}

// give gives the turn back.
func (w *worker) give() {
	if w.failure != nil {
		w.note(w.opened)
	}
	w.turn <- struct{}{}
}

// note keeps what is known, for calls of Status.
func (w *worker) note(s Status) {
	s.Restarts = w.restarts
	if w.failure == nil {
		s.PID = w.process.pid
	} else {
		s.Failure, s.Networks, s.Descriptors = w.failure.Error(), 0, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = s
}

// do takes the turn, makes sure of a process and asks it. got takes the reply, and its
// descriptors over, before anything else is asked.
func (w *worker) do(ctx context.Context, limit time.Duration, what string, m message, memory int, got func(message, []int) error) error {
	if err := w.take(ctx); err != nil {
		return failed(what, err)
	}
	defer w.give()
	if err := w.start(ctx); err != nil {
		return err
	}
	reply, fds, err := w.ask(ctx, limit, what, m, memory)
	if err != nil {
		return err
	}
	return failed(what, got(reply, fds))
}

// Status implements Device.
func (w *worker) Status() Status {
	select {
	case <-w.turn:
		if w.look(); !w.closed && w.failure == nil {
			if reply, _, err := w.ask(context.Background(), w.options.OpenLimit, "status", message{Op: opStatus}); err == nil {
				w.note(*reply.Status)
			}
		}
		w.give()
	default: // the last known
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.known
	s.Devices = slices.Clone(s.Devices)
	return s
}

// Supports implements Device.
func (w *worker) Supports(ctx context.Context, g *graph.Graph) (supported []bool, err error) {
	err = w.withGraph(ctx, "support of", message{Op: opSupports}, g, func(reply message, fds []int) error {
		closeAll(fds)
		if len(reply.Supported) != len(g.Operations) {
			return fmt.Errorf("%d answers for %d operations", len(reply.Supported), len(g.Operations))
		}
		for _, yes := range reply.Supported {
			supported = append(supported, yes != 0)
		}
		return nil
	})
	return supported, err
}

// Compile implements Device.
func (w *worker) Compile(ctx context.Context, g *graph.Graph, o Options) (n Network, err error) {
	err = w.withGraph(ctx, "compile", message{Op: opCompile, Options: &o}, g, func(reply message, fds []int) (err error) {
		n, err = w.add(reply, fds)
		return err
	})
	return n, err
}

// withGraph asks something about a graph.
func (w *worker) withGraph(ctx context.Context, what string, m message, g *graph.Graph, got func(message, []int) error) error {
	what = fmt.Sprintf("%s graph %q", what, g.Name)
	fd, description, err := writeGraph(g)
	if err != nil {
		return failed(what, err)
	}
	defer unix.Close(fd)
	m.Graph = description
	return w.do(ctx, w.options.CompileLimit, what, m, fd, got)
}

// Restore implements Device.
func (w *worker) Restore(ctx context.Context, stored []byte) (n Network, err error) {
	const what = "restore a network"
	if len(stored) == 0 {
		return nil, failed(what, ErrStored)
	}
	fd, err := fill("earshot-network", len(stored), func(mem []byte) { copy(mem, stored) })
	if err != nil {
		return nil, failed(what, err)
	}
	defer unix.Close(fd)
	err = w.do(ctx, w.options.CompileLimit, what, message{Op: opRestore}, fd, func(reply message, fds []int) (err error) {
		n, err = w.add(reply, fds)
		return err
	})
	return n, err
}

// Close implements Device.
func (w *worker) Close() error {
	if err := w.take(context.Background()); err != nil {
		return nil // closed before
	}
	defer w.give()
	w.closed = true
	for n := range w.networks {
		n.drop()
	}
	return w.close()
}
