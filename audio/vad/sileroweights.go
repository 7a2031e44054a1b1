package vad

import (
	"fmt"

	"earshot/cpu"
)

// sileroLayer is a matrix with a bias for each of its rows.
type sileroLayer struct {
	w    *cpu.PackedF32
	bias []float32
}

// sileroConv is a convolution over three frames as one matrix [outputs, 3·inputs]
// whose columns are ordered as samples lie in memory: by frame, then by input.
type sileroConv struct {
	sileroLayer
	outputs, inputs int
}

// NewSilero makes the network of its weights. tensors gives the values of a tensor,
// row-major, or an error when there is none with that name and shape; the names are
// those of silero_vad/data/silero_vad_16k.safetensors in the Python package. The values
// are copied.
//
// What the Python package runs are the weights in its .jit and .onnx files. In 6.2.3
// the .safetensors file has those of another training run, with probabilities that
// differ by up to 0.36.
func NewSilero(tensors func(name string, shape ...int) ([]float32, error)) (*Silero, error) {
	l := sileroLoader{tensors: tensors}
	s := &Silero{
		dft: cpu.PackF32(l.load("stft_conv.weight", 2*sileroBins, 1, sileroWindow), 2*sileroBins, sileroWindow, sileroWindow, 1),
		convs: [4]sileroConv{
			l.conv("conv1", 128, sileroBins),
			l.conv("conv2", 64, 128),
			l.conv("conv3", 64, 64),
			l.conv("conv4", sileroWidth, 64),
		},
		lstm:      l.cell("lstm_cell"),
		final:     l.load("final_conv.weight", 1, sileroWidth, 1),
		finalBias: l.load("final_conv.bias", 1)[0],
	}
	if l.err != nil {
		return nil, fmt.Errorf("load silero: %w", l.err)
	}
	return s, nil
}

// sileroLoader reads tensors and keeps the first error.
type sileroLoader struct {
	tensors func(name string, shape ...int) ([]float32, error)
	err     error
}

// load returns a copy of the tensor, or zeros behind an error.
func (l *sileroLoader) load(name string, shape ...int) []float32 {
	size := 1
	for _, n := range shape {
		size *= n
	}
	values := make([]float32, size)
	if l.err != nil {
		return values
	}
	given, err := l.tensors(name, shape...)
	if err == nil && len(given) != size {
		err = fmt.Errorf("tensor %s has %d values, want %d", name, len(given), size)
	}
	l.err = err
	copy(values, given)
	return values
}

// conv loads weights [outputs, inputs, 3].
func (l *sileroLoader) conv(name string, outputs, inputs int) sileroConv {
	given := l.load(name+".weight", outputs, inputs, 3)
	w := make([]float32, 0, len(given))
	for ; len(given) > 0; given = given[3*inputs:] {
		for frame := range 3 {
			for i := range inputs {
				w = append(w, given[3*i+frame])
			}
		}
	}
	layer := sileroLayer{cpu.PackF32(w, outputs, 3*inputs, 3*inputs, 1), l.load(name+".bias", outputs)}
	return sileroConv{layer, outputs, inputs}
}

// cell loads the recurrent cell's two matrices side by side: both are multiplied in
// one pass.
func (l *sileroLoader) cell(name string) sileroLayer {
	const n = sileroWidth
	input, hidden := l.load(name+".weight_ih", 4*n, n), l.load(name+".weight_hh", 4*n, n)
	var w []float32
	for row := 0; row < 4*n*n; row += n {
		w = append(w, input[row:row+n]...)
		w = append(w, hidden[row:row+n]...)
	}
	bias := l.load(name+".bias_ih", 4*n)
	cpu.AddF32(bias, l.load(name+".bias_hh", 4*n))
	return sileroLayer{cpu.PackF32(w, 4*n, 2*n, 2*n, 1), bias}
}
