//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// remoteNetwork is a Network in a worker. Its pools are mapped here too, so that a tensor
// is copied as often as without a worker.
type remoteNetwork struct {
	w       *worker
	process *process // that has it
	number  int
	name    string
	in, out *pool
	freed   bool
}

// add maps the pools of a new network, whose descriptors it takes over.
func (w *worker) add(reply message, fds []int) (Network, error) {
	if len(fds) != 2 || reply.Network == 0 {
		closeAll(fds)
		return nil, fmt.Errorf("%d descriptors for network %d", len(fds), reply.Network)
	}
	in, err := mapPool(layOut(reply.In), fds[0], reply.DMABuf[0])
	if err != nil {
		unix.Close(fds[1])
		return nil, err
	}
	out, err := mapPool(layOut(reply.Out), fds[1], reply.DMABuf[1])
	if err != nil {
		in.close()
		return nil, err
	}
	n := &remoteNetwork{w: w, process: w.process, number: reply.Network, name: reply.Name, in: in, out: out}
	w.networks[n] = struct{}{}
	return n, nil
}

// take takes the turn for a request about the network, and is the error that there is.
func (n *remoteNetwork) take(ctx context.Context) error {
	w := n.w
	if err := w.take(ctx); err != nil {
		return err
	}
	var err error
	switch w.look(); {
	case n.freed:
		err = ErrClosed
	case w.process != n.process || w.failure != nil:
		err = fmt.Errorf("%w: the network was in a process that is gone", ErrCrashed)
	}
	if err != nil {
		w.give()
	}
	return err
}

// Execute implements Network.
func (n *remoteNetwork) Execute(ctx context.Context, inputs, outputs [][]byte) error {
	what := "execute " + n.name
	if err := n.take(ctx); err != nil {
		return failed(what, err)
	}
	defer n.w.give()
	err := transfer(n.in, n.out, inputs, outputs, func() error {
		_, _, err := n.w.ask(ctx, n.w.options.ExecuteLimit, what, message{Op: opExecute, Network: n.number})
		if err == nil {
			n.w.pauses.well()
		}
		return err
	})
	if _, done := err.(*Error); done {
		return err
	}
	return failed(what, err)
}

// Store implements Network.
func (n *remoteNetwork) Store(ctx context.Context) ([]byte, error) {
	what := "store " + n.name
	if err := n.take(ctx); err != nil {
		return nil, failed(what, err)
	}
	defer n.w.give()
	_, fds, err := n.w.ask(ctx, n.w.options.CompileLimit, what, message{Op: opStore, Network: n.number})
	if err != nil {
		return nil, err
	}
	var b []byte
	err = withMemory(fds, func(mem []byte) error { b = append(b, mem...); return nil })
	closeAll(fds)
	return b, failed(what, err)
}

// Close implements Network.
func (n *remoteNetwork) Close() error {
	what := "close " + n.name
	w := n.w
	if err := w.take(context.Background()); err != nil {
		return nil // with the device
	}
	defer w.give()
	if n.freed {
		return nil
	}
	n.drop()
	if w.look(); w.process != n.process || w.failure != nil {
		return nil // with its process
	}
	_, _, err := w.ask(context.Background(), w.options.ExecuteLimit, what, message{Op: opFree, Network: n.number})
	return err
}

// drop frees what is in this process.
func (n *remoteNetwork) drop() {
	n.freed = true
	delete(n.w.networks, n)
	n.in.close()
	n.out.close()
}
