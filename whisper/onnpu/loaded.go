package onnpu

import (
	"context"
	"errors"
	"slices"
)

// makeRoom closes windows that were not used for longest until w fits beside the others.
func (e *Encoder) makeRoom(w *window) error {
	e.loaded = append(slices.DeleteFunc(e.loaded, func(o *window) bool { return o == w }), w)
	var failed error
	for len(e.loaded) > 1 && !e.fits() {
		failed = errors.Join(failed, e.loaded[0].close())
		e.loaded = e.loaded[1:]
	}
	return failed
}

// fits says whether what is loaded stays inside the budget whichever window runs.
func (e *Encoder) fits() bool {
	var loaded, running Held
	for _, w := range e.loaded {
		loaded, running = loaded.plus(w.total.Loaded), running.largest(w.total.Running)
	}
	return loaded.plus(running).within(e.Budget)
}

func (h Held) within(budget Held) bool {
	return (budget.Bytes == 0 || h.Bytes <= budget.Bytes) && (budget.Allocations == 0 || h.Allocations <= budget.Allocations)
}

// execute runs graph i of a window, compiled if need be. What failed is compiled anew when
// it is next needed.
func (e *Encoder) execute(ctx context.Context, w *window, i int, inputs, outputs [][]byte) (err error) {
	if w.networks[i] == nil {
		if w.networks[i], err = e.Compile(ctx, w.graphs[i]); err != nil {
			w.networks[i] = nil
			return err
		}
	}
	err = w.networks[i].Execute(ctx, inputs, outputs)
	if w.Strategy.Reload || err != nil {
		err = errors.Join(err, w.close())
	}
	return err
}

func (w *window) close() (err error) {
	for i, n := range w.networks {
		if n != nil {
			err = errors.Join(err, n.Close())
			w.networks[i] = nil
		}
	}
	return err
}

// Close frees all graphs; they are compiled again when they are needed.
func (e *Encoder) Close() (err error) {
	for _, w := range e.loaded {
		err = errors.Join(err, w.close())
	}
	e.loaded = nil
	return err
}
