//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"context"
	"fmt"
	"os"

	"earshot/npu/graph"
	"earshot/npu/neuron"
)

// Serve is the worker process: it does what the other side of the socket, which is open
// as descriptor fd, asks for, and returns when it is asked to end. It ends the process
// when the other side is gone, even while the library hangs.
func Serve(fd int) error {
	f := os.NewFile(uintptr(fd), fmt.Sprintf("descriptor %d", fd))
	if f == nil {
		return fmt.Errorf("there is no descriptor %d", fd)
	}
	l, err := newLink(f)
	if err != nil {
		return err
	}
	defer l.close()
	neuron.DieBySignals()
	requests := make(chan request)
	go func() {
		for {
			m, fds, err := l.receive()
			if err != nil {
				os.Exit(0) // nobody is left to tell
			}
			requests <- request{m, fds}
		}
	}()
	s := &server{networks: map[int]*localNetwork{}}
	for r := range requests {
		reply, fds := s.handle(r)
		if reply.Error != nil {
			fmt.Fprintln(os.Stderr, tailMark)
		}
		err := l.send(reply, fds...)
		if r.Op == opStore {
			closeAll(fds)
		}
		if err != nil || r.Op == opClose {
			return err
		}
	}
	return nil
}

type request struct {
	message
	fds []int
}

// server is what a worker has.
type server struct {
	device   *local
	networks map[int]*localNetwork
	last     int // number of a network
}

// handle does what a request asks for. The descriptors of the reply stay the networks',
// but that of a stored network.
func (s *server) handle(r request) (reply message, fds []int) {
	defer closeAll(r.fds)
	reply, fds, err := s.do(context.Background(), r)
	reply.Error = toWire(err)
	return reply, fds
}

func (s *server) do(ctx context.Context, r request) (reply message, fds []int, err error) {
	if (s.device == nil) != (r.Op == opOpen) {
		return reply, nil, fmt.Errorf("%s at the wrong time", r.Op)
	}
	switch r.Op {
	case opOpen:
		if s.device, err = openLocal(ctx, r.Library); err != nil {
			s.device = nil
			return reply, nil, err
		}
		return s.status(), nil, nil
	case opStatus:
		return s.status(), nil, nil
	case opClose:
		return reply, nil, s.device.Close()
	case opSupports, opCompile:
		err := withMemory(r.fds, func(mem []byte) error {
			g, err := readGraph(mem, r.Graph)
			if err != nil {
				return err
			}
			if r.Op == opSupports {
				reply.Supported, err = s.supports(ctx, g)
				return err
			}
			reply, fds, err = s.compile(ctx, g, r.Options)
			return err
		})
		return reply, fds, err
	case opRestore:
		err := withMemory(r.fds, func(mem []byte) error {
			n, err := s.device.restore(ctx, mem)
			if err == nil {
				reply, fds = s.add(n)
			}
			return err
		})
		return reply, fds, err
	}
	n, there := s.networks[r.Network]
	if !there {
		return reply, nil, fmt.Errorf("%s of network %d, which there isn't", r.Op, r.Network)
	}
	switch r.Op {
	case opExecute:
		return reply, nil, s.device.do(ctx, n.executing(), n.run)
	case opStore:
		b, err := n.Store(ctx)
		if err != nil {
			return reply, nil, err
		}
		fd, err := fill("earshot-network", len(b), func(mem []byte) { copy(mem, b) })
		if err != nil {
			return reply, nil, err
		}
		return reply, []int{fd}, nil
	case opFree:
		delete(s.networks, r.Network)
		return reply, nil, n.Close()
	}
	return reply, nil, fmt.Errorf("no such request: %q", r.Op)
}

func (s *server) status() message {
	status := s.device.Status()
	return message{Status: &status}
}

func (s *server) supports(ctx context.Context, g *graph.Graph) ([]byte, error) {
	all, err := s.device.supports(ctx, g, true)
	packed := make([]byte, len(all))
	for i, yes := range all {
		packed[i] = truth(yes)
	}
	return packed, err
}

func (s *server) compile(ctx context.Context, g *graph.Graph, o *Options) (message, []int, error) {
	if o == nil {
		return message{}, nil, fmt.Errorf("compile graph %q: no options", g.Name)
	}
	n, err := s.device.compile(ctx, g, *o, true)
	if err != nil {
		return message{}, nil, err
	}
	reply, fds := s.add(n)
	return reply, fds, nil
}

// add gives a network its number, and its pools to the other side.
func (s *server) add(n *localNetwork) (message, []int) {
	s.last++
	s.networks[s.last] = n
	return message{Network: s.last, Name: short(n.about.Name), In: n.about.In, Out: n.about.Out, DMABuf: [2]bool{n.in.dmaBuf, n.out.dmaBuf}},
		[]int{n.in.fd, n.out.fd}
}
