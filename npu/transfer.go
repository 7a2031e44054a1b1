//go:build linux

package npu

import "fmt"

// transfer copies the inputs in, runs, copies the outputs out and looks at them. It is the
// same for a library here and in a worker.
func transfer(in, out *pool, inputs, outputs [][]byte, run func() error) error {
	if err := in.check("input", inputs); err != nil {
		return err
	}
	if err := out.check("output", outputs); err != nil {
		return err
	}
	if err := in.put(inputs); err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	if err := out.get(outputs); err != nil {
		return err
	}
	for i, b := range outputs {
		if !finite(b, out.tensors[i].Type) {
			return fmt.Errorf("output %d: %w", i, ErrNaN)
		}
	}
	return nil
}
