//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"earshot/npu/graph"
	"earshot/npu/neuron"
)

// local is a Device whose library is in this process. What is not atomic belongs to
// whoever has the owner's turn.
type local struct {
	owner *owner
	lib   *neuron.Library
	heap  string // of dma-bufs
	about Status // what stays as it is

	networks map[*localNetwork]struct{}
	count    atomic.Int32 // of networks
}

// Open loads the library into this process: the one of that path, or, of "", the one that
// the environment variable EARSHOT_NEURON_LIBRARY names, or else the system's. ErrAbsent:
// there is none.
func Open(ctx context.Context, library string) (Device, error) {
	d, err := openLocal(ctx, library)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func openLocal(ctx context.Context, library string) (*local, error) {
	d := &local{owner: newOwner(), heap: dmaHeap, networks: map[*localNetwork]struct{}{}}
	err := d.do(ctx, "open", func() (err error) {
		if d.lib, d.about.Library, err = load(library); err != nil {
			return err
		}
		if err = d.ask(); err != nil {
			d.lib.Close()
		}
		return err
	})
	if err != nil {
		go d.owner.end(func() error { // when the call has returned that may have been given up
			if d.about.Version != "" {
				d.lib.Close()
			}
			return nil
		})
		return nil, err
	}
	return d, nil
}

// ask asks the library and the machine what they are. Only the version has to be told; it
// is the sign that the library is open.
func (d *local) ask() error {
	v, err := d.lib.Neuron_getVersion()
	if err != nil {
		return err
	}
	d.about.Version = fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if magic, err := d.lib.Neuron_getNeuroPilotMagicNumber(); err == nil {
		d.about.Magic = magic
	}
	if kb, err := d.lib.Neuron_getL1MemorySizeKb(); err == nil {
		d.about.L1KB = kb
	}
	n, _ := d.lib.Neuron_getDeviceCount()
	for i := range min(n, maxDevices) {
		device, err := d.lib.Neuron_getDevice(i)
		if err != nil {
			break
		}
		name, err := d.lib.NeuronDevice_getName(device)
		if err != nil {
			break
		}
		d.about.Devices = append(d.about.Devices, name)
	}
	d.about.SoC = Here()
	d.about.DescriptorLimit = raiseDescriptors()
	return nil
}

// maxDevices is more than a board has.
const maxDevices = 16

// do makes f the library's call, and its error one of this package's.
func (d *local) do(ctx context.Context, what string, f func() error) error {
	return failed(what, d.owner.do(ctx, f))
}

// failed turns an error into an *Error that says what was tried.
func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{What: what, Err: err}
	if refused := (*neuron.Error)(nil); errors.As(err, &refused) {
		e.Err, e.Func, e.Code, e.Name = nil, refused.Func, refused.Code, refused.Name
		if refused.Code == neuron.Missing {
			e.Err, e.Code = ErrMissing, 0
		} else if e.Name == "" {
			e.Name = "unknown error"
		}
	}
	return e
}

// Status implements Device.
func (d *local) Status() Status {
	s := d.about
	s.Networks = int(d.count.Load())
	s.Descriptors = descriptors()
	return s
}

// Supports implements Device.
func (d *local) Supports(ctx context.Context, g *graph.Graph) ([]bool, error) {
	return d.supports(ctx, g, false)
}

func (d *local) supports(ctx context.Context, g *graph.Graph, mapped bool) (supported []bool, err error) {
	answer := make([]bool, len(g.Operations)) // the library's, even when it comes too late
	err = d.do(ctx, fmt.Sprintf("support of graph %q", g.Name), func() error {
		b, err := d.build(g, mapped, true) // float32 is supported only so
		defer b.free(d.lib)
		if err != nil {
			return err
		}
		// Which of the two a library has depends on its version (facts/npu.md 2).
		if d.lib.Has("NeuronCompilation_getSupportedOperations") {
			if b.compilation, err = d.lib.NeuronCompilation_create(b.model); err != nil {
				return err
			}
			return d.lib.NeuronCompilation_getSupportedOperations(b.compilation, answer)
		}
		return d.lib.NeuronModel_getSupportedOperations(b.model, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Compile implements Device.
func (d *local) Compile(ctx context.Context, g *graph.Graph, o Options) (Network, error) {
	n, err := d.compile(ctx, g, o, false)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// compile takes a graph whose constants are mapped, that is, outside Go's memory, as they
// are.
func (d *local) compile(ctx context.Context, g *graph.Graph, o Options, mapped bool) (n *localNetwork, err error) {
	err = d.do(ctx, fmt.Sprintf("compile graph %q", g.Name), func() error {
		b, err := d.build(g, mapped, o.Relax)
		if err == nil {
			err = d.finish(b, o)
		}
		b.values.close() // the library has its own copy now, or nothing
		if err != nil {
			b.free(d.lib)
			return err
		}
		n, err = d.adopt(ctx, b, stored{Name: g.Name, In: tensorsOf(g.Inputs), Out: tensorsOf(g.Outputs), Boost: o.Boost})
		return err
	})
	return n, err
}

// finish compiles, in MediaTek's order (facts/npu.md 2). A setting that the library has no
// function for is one that it doesn't have.
func (d *local) finish(b *built, o Options) (err error) {
	lib := d.lib
	if b.compilation, err = lib.NeuronCompilation_create(b.model); err != nil {
		return err
	}
	c := b.compilation
	settings := []error{
		lib.NeuronCompilation_setPreference(c, int32(o.Preference)),
		lib.NeuronCompilation_setPriority(c, int32(o.Priority)),
		lib.NeuronCompilation_setOptimizationHint(c, uint32(o.Hint)),
	}
	if o.Optimisation != "" {
		settings = append(settings, lib.NeuronCompilation_setOptimizationString(c, o.Optimisation))
	}
	for _, err := range settings {
		if refused := (*neuron.Error)(nil); errors.As(err, &refused) && refused.Code != neuron.Missing {
			return err
		}
	}
	if d.about.L1KB > 0 {
		_ = lib.NeuronCompilation_setL1MemorySizeKb(c, d.about.L1KB) // clients go on where it is refused (facts/neuron-observed.md 6)
	}
	return lib.NeuronCompilation_finish(c)
}

// Restore implements Device.
func (d *local) Restore(ctx context.Context, b []byte) (Network, error) {
	n, err := d.restore(ctx, b)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (d *local) restore(ctx context.Context, b []byte) (n *localNetwork, err error) {
	const what = "restore a network"
	s, network, err := parseStored(b, d.about.Version)
	if err != nil {
		return nil, failed(what, err)
	}
	err = d.do(ctx, what, func() error {
		// The facts don't say whether the library copies: the bytes stay until the network is freed.
		b := &built{}
		kept, err := b.keep.get(len(network))
		if err == nil {
			copy(kept, network)
			b.model, b.compilation, err = d.lib.NeuronModel_restoreFromCompiledNetwork(kept)
		}
		if err != nil {
			b.free(d.lib)
			return err
		}
		n, err = d.adopt(ctx, b, s)
		return err
	})
	return n, err
}

// adopt makes a network of what the library built.
func (d *local) adopt(ctx context.Context, b *built, about stored) (*localNetwork, error) {
	about.Version = d.about.Version
	n := &localNetwork{d: d, built: b, about: about}
	err := n.allocate()
	if err == nil && ctx.Err() != nil {
		err = ctx.Err() // nobody waits for it any more
	}
	if err != nil {
		n.free()
		return nil, err
	}
	d.networks[n] = struct{}{}
	d.count.Add(1)
	return n, nil
}

// Close implements Device.
func (d *local) Close() error {
	err := d.owner.end(func() error {
		for n := range d.networks {
			n.drop()
		}
		d.lib.Close()
		return nil
	})
	if err == ErrClosed {
		return nil
	}
	return failed("close", err)
}

// built is a model of the library and what is made of it.
type built struct {
	model       neuron.Model
	compilation neuron.Compilation
	keep        arena // what has to stay as long
	values      arena // what has to stay until the compilation has finished
}

// build makes a model of a graph; what it returns has to be freed in any case.
func (d *local) build(g *graph.Graph, mapped, relax bool) (b *built, err error) {
	b = &built{}
	if b.model, err = d.lib.NeuronModel_create(); err != nil {
		return b, err
	}
	return b, lower(d.lib, b, g, mapped, relax)
}

func (b *built) free(lib *neuron.Library) {
	if b.compilation != nil {
		lib.NeuronCompilation_free(b.compilation)
	}
	if b.model != nil {
		lib.NeuronModel_free(b.model)
	}
	b.keep.close()
	b.values.close()
}
