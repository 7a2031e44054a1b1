package oncpu

import (
	"errors"
	"fmt"
	"syscall"

	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/weights"
)

// Precision is how the matrices are stored and multiplied.
type Precision string

const (
	Int8    Precision = "int8"    // a byte a value and a scale per row, for weights and activations
	Float32 Precision = "float32" // four times the memory, and the accuracy of the reference
)

// Network is a model on the CPU.
type Network struct {
	Encoder *Encoder
	Decoder *Decoder

	mapped []byte // what the parameters lie in; nil where that is the heap
}

// New packs a model's parameters in memory; m is not needed any more then.
func New(m *weights.Model, pool *cpu.Pool, p Precision) (*Network, error) {
	return newNetwork(m, pool, inMemory{p})
}

// Open is New in int8 with the parameters mapped from the packed file at path, which
// Pack makes first. Where that can't be done (a state folder that may only be read)
// they are packed in memory.
func Open(m *weights.Model, pool *cpu.Pool, path string) (*Network, error) {
	n, err := mapPacked(m, pool, path)
	if err != nil {
		if err = writePacked(path, m); err == nil {
			n, err = mapPacked(m, pool, path)
		}
	}
	if err != nil {
		return New(m, pool, Int8)
	}
	return n, nil
}

// Pack makes the packed file at path, unless the model's is there already. Any number
// of processes may do so at a time.
func Pack(m *weights.Model, path string) error {
	if n, err := mapPacked(m, nil, path); err == nil { // nothing is computed with it
		return n.Close()
	}
	if err := writePacked(path, m); err != nil {
		return fmt.Errorf("pack model %s: %w", m.Name, err)
	}
	return nil
}

// mapPacked is the network in a packed file.
func mapPacked(m *weights.Model, pool *cpu.Pool, path string) (*Network, error) {
	file, err := openPacked(path, m)
	if err != nil {
		return nil, err
	}
	n, err := newNetwork(m, pool, file)
	if err = errors.Join(err, file.finish()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), syscall.Munmap(file.mapped))
	}
	n.mapped = file.mapped
	return n, nil
}

// Close unmaps the parameters; the network must not be used any more.
func (n *Network) Close() error {
	if n.mapped == nil {
		return nil
	}
	mapped := n.mapped
	n.mapped = nil
	return syscall.Munmap(mapped)
}

func newNetwork(m *weights.Model, pool *cpu.Pool, to parameters) (*Network, error) {
	r := &reader{model: m, to: to}
	d := whisper.Dims(m.Header.Dims)
	n := &Network{Encoder: newEncoder(r, d, pool), Decoder: newDecoder(r, d, pool)}
	if r.err != nil {
		return nil, r.err
	}
	return n, nil
}

// writePacked makes the packed file of a model, one parameter at a time.
func writePacked(path string, m *weights.Model) error {
	w, err := createPacked(path, m)
	if err != nil {
		return err
	}
	_, err = newNetwork(m, nil, w) // nothing is computed with it
	return w.finish(path, err)
}
