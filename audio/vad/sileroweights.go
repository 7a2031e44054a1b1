package vad

import (
	"fmt"
	"math"

	"earshot/cpu"
)

// sileroLayer is a matrix with a bias for each of its rows.
type sileroLayer struct {
	w    *cpu.PackedF32
	bias []float32
}

// sileroConv is a convolution over three frames as one matrix [outputs, 3·inputs]
// whose columns are ordered as samples lie in memory: by frame, then by input.
// It makes `out` frames of `in`.
type sileroConv struct {
	sileroLayer
	outputs, inputs int
	in, out, stride int
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
		dft: l.transform("stft_conv.weight"),
		convs: [4]sileroConv{
			{l.conv("conv1", 128, sileroBins), 128, sileroBins, sileroFrames, 4, 1},
			{l.conv("conv2", 64, 128), 64, 128, 4, 2, 2},
			{l.conv("conv3", 64, 64), 64, 64, 2, 1, 2},
			{l.conv("conv4", sileroWidth, 64), sileroWidth, 64, 1, 1, 1},
		},
		final: sileroLayer{cpu.PackF32(l.load("final_conv.weight", 1, sileroWidth, 1), 1, sileroWidth, sileroWidth, 1), l.load("final_conv.bias", 1)},
	}
	s.input, s.hidden = l.cell("lstm_cell")
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

// transform is the Fourier transform that the tensor holds as the weights of a
// convolution: real parts [129,256], imaginary parts [129,256], under Hann windows. A
// fast transform takes a twentieth of the products, so other weights are refused.
func (l *sileroLoader) transform(name string) *cpu.Spectrum {
	given := l.load(name, 2*sileroBins, 1, sileroWindow)
	window := make([]float64, sileroWindow)
	for i := range window {
		window[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/sileroWindow)
	}
	for at, got := range given {
		k, i := at/sileroWindow%sileroBins, at%sileroWindow
		sin, cos := math.Sincos(2 * math.Pi * float64(k*i%sileroWindow) / sileroWindow)
		want := cos
		if at >= sileroBins*sileroWindow {
			want = -sin
		}
		if l.err == nil && !(math.Abs(float64(got)-want*window[i]) < 1e-5) {
			l.err = fmt.Errorf("tensor %s is no transform of Hann windows: value %d is %g, want %.5g", name, at, got, want*window[i])
		}
	}
	return cpu.NewSpectrum(window)
}

// conv loads weights [outputs, inputs, 3].
func (l *sileroLoader) conv(name string, outputs, inputs int) sileroLayer {
	given := l.load(name+".weight", outputs, inputs, 3)
	w := make([]float32, 0, len(given))
	for ; len(given) > 0; given = given[3*inputs:] {
		for frame := range 3 {
			for i := range inputs {
				w = append(w, given[3*i+frame])
			}
		}
	}
	return sileroLayer{cpu.PackF32(w, outputs, 3*inputs, 3*inputs, 1), l.load(name+".bias", outputs)}
}

// cell loads the recurrent cell's two matrices; the gate g is doubled, for recur.
func (l *sileroLoader) cell(name string) (input sileroLayer, hidden *cpu.PackedF32) {
	const n = sileroWidth
	x, h := l.load(name+".weight_ih", 4*n, n), l.load(name+".weight_hh", 4*n, n)
	bias := l.load(name+".bias_ih", 4*n)
	cpu.AddF32(bias, l.load(name+".bias_hh", 4*n))
	cpu.ScaleF32(x[2*n*n:3*n*n], 2)
	cpu.ScaleF32(h[2*n*n:3*n*n], 2)
	cpu.ScaleF32(bias[2*n:3*n], 2)
	return sileroLayer{cpu.PackF32(x, 4*n, n, n, 1), bias}, cpu.PackF32(h, 4*n, n, n, 1)
}
