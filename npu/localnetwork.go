//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"earshot/npu/neuron"
)

// localNetwork is a Network whose library is in this process.
type localNetwork struct {
	*built
	d       *local
	about   stored
	in, out *pool

	inMemory, outMemory neuron.Memory // the pools as the library has them; nil: as plain memory
	freed               bool
}

// allocate makes the pools, and gives them to the library where it takes descriptors.
func (n *localNetwork) allocate() (err error) {
	if n.in, err = newPool(layOut(n.about.In), n.d.heap); err != nil {
		return err
	}
	if n.out, err = newPool(layOut(n.about.Out), n.d.heap); err != nil {
		return err
	}
	n.inMemory, err = n.d.memory(n.in)
	if err == nil {
		n.outMemory, err = n.d.memory(n.out)
	}
	if err != nil { // then plain memory will do
		n.d.release(n.inMemory, n.outMemory)
		n.inMemory, n.outMemory = nil, nil
	}
	return nil
}

func (d *local) memory(p *pool) (neuron.Memory, error) {
	return d.lib.NeuronMemory_createFromFd(len(p.mem), unix.PROT_READ|unix.PROT_WRITE, p.fd)
}

func (d *local) release(all ...neuron.Memory) {
	for _, m := range all {
		if m != nil {
			d.lib.NeuronMemory_free(m)
		}
	}
}

// Execute implements Network.
func (n *localNetwork) Execute(ctx context.Context, inputs, outputs [][]byte) error {
	if err := n.d.owner.take(ctx); err != nil {
		return failed(n.executing(), err)
	}
	held, err := true, error(ErrClosed)
	if !n.freed {
		err = transfer(n.in, n.out, inputs, outputs, func() (err error) {
			held, err = n.d.owner.call(ctx, n.run)
			return err
		})
	}
	if held {
		n.d.owner.give()
	}
	return failed(n.executing(), err)
}

func (n *localNetwork) executing() string { return "execute " + n.about.Name }

// run computes the pool of outputs from that of inputs, on the library's thread.
func (n *localNetwork) run() error {
	lib := n.d.lib
	e, err := lib.NeuronExecution_create(n.compilation)
	if err != nil {
		return err
	}
	defer lib.NeuronExecution_free(e)
	if n.about.Boost > 0 && lib.Has("NeuronExecution_setBoostHint") {
		if err := lib.NeuronExecution_setBoostHint(e, n.about.Boost); err != nil {
			return err
		}
	}
	for i, t := range n.in.tensors {
		if n.inMemory != nil {
			err = lib.NeuronExecution_setInputFromMemory(e, i, n.inMemory, n.in.offsets[i], t.Bytes)
		} else {
			err = lib.NeuronExecution_setInput(e, i, n.in.at(i))
		}
		if err != nil {
			return err
		}
	}
	for i, t := range n.out.tensors {
		if n.outMemory != nil {
			err = lib.NeuronExecution_setOutputFromMemory(e, i, n.outMemory, n.out.offsets[i], t.Bytes)
		} else {
			err = lib.NeuronExecution_setOutput(e, i, n.out.at(i))
		}
		if err != nil {
			return err
		}
	}
	return lib.NeuronExecution_compute(e)
}

// Store implements Network.
func (n *localNetwork) Store(ctx context.Context) (b []byte, err error) {
	err = n.d.do(ctx, "store "+n.about.Name, func() error {
		if n.freed {
			return ErrClosed
		}
		size, err := n.d.lib.NeuronCompilation_getCompiledNetworkSize(n.compilation)
		if err != nil {
			return err
		}
		if size <= 0 {
			return fmt.Errorf("the library gives %d bytes", size)
		}
		memory := &arena{}
		defer memory.close()
		network, err := memory.get(size)
		if err != nil {
			return err
		}
		if err := n.d.lib.NeuronCompilation_storeCompiledNetwork(n.compilation, network); err != nil {
			return err
		}
		b, err = n.about.store(network)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Close implements Network.
func (n *localNetwork) Close() error {
	err := n.d.do(context.Background(), "close "+n.about.Name, func() error { n.drop(); return nil })
	if errors.Is(err, ErrClosed) {
		return nil // with the device
	}
	return err
}

// drop frees the network, once.
func (n *localNetwork) drop() {
	if !n.freed {
		delete(n.d.networks, n)
		n.d.count.Add(-1)
		n.free()
	}
}

func (n *localNetwork) free() {
	n.freed = true
	n.d.release(n.inMemory, n.outMemory)
	n.in.close()
	n.out.close()
	n.built.free(n.d.lib)
}
