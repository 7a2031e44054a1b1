package vad

import (
	"math"

	"earshot/cpu"
)

// Sizes of Silero's network at 16 kHz: silero_vad/tinygrad_model.py of the Python
// package (6.2.3).
const (
	sileroContext = 64 // samples of the chunk before in front of each chunk
	sileroPad     = 64 // samples mirrored behind it
	sileroSignal  = sileroContext + ChunkSamples + sileroPad
	sileroWindow  = 256 // samples under one window of the transform
	sileroHop     = 128
	sileroFrames  = (sileroSignal-sileroWindow)/sileroHop + 1 // 4
	sileroBins    = sileroWindow/2 + 1
	sileroWidth   = 128 // of the recurrent cell

	// sileroBatch chunks go through the layers in front of the cell at once, so that
	// their weights are read once for all of them. It is a multiple of the rows in a
	// tile of GemmF32.
	sileroBatch = 24
)

// Silero is the voice activity network of Silero Team, version 6, at 16 kHz, on the
// kernels of package cpu. For a chunk with its context in front and mirrored samples
// behind it,
//
//	x [4,129] = |DFT| of Hann windows of 256 samples, 128 apart
//	x         = ReLU(conv(x)), four times   → [4,128] [2,64] [1,64] [1,128]
//	h, c      = LSTM(x, h, c)
//	p         = σ(w·ReLU(h) + b)
//
// It is a [Detector]; it runs on the calling thread.
type Silero struct {
	dft    *cpu.Spectrum
	convs  [4]sileroConv
	input  sileroLayer    // [512,128]: gates i, f, g, o by x
	hidden *cpu.PackedF32 // [512,128]: the same by h
	final  sileroLayer    // [1,128]

	signal [sileroSignal]float32
	h, c   [sileroWidth]float32

	// Values between the layers, [chunks, frames, channels]. The inputs of a
	// convolution have a frame of zeros in front.
	magnitude [sileroBatch * (1 + sileroFrames) * sileroBins]float32
	x1        [sileroBatch * (1 + 4) * 128]float32
	x2        [sileroBatch * (1 + 2) * 64]float32
	x3        [sileroBatch * (1 + 1) * 64]float32
	x4        [sileroBatch * (1 + 1) * sileroWidth]float32
	gatesOfX  [sileroBatch * 4 * sileroWidth]float32
	gates     [4 * sileroWidth]float32
	tanh      [sileroWidth]float32
	outputs   [sileroBatch * sileroWidth]float32
	one       [1]float32
}

// Probability returns how likely it is that someone speaks in the next chunk.
func (s *Silero) Probability(chunk []float32) float32 {
	s.Probabilities(s.one[:], chunk)
	return s.one[0]
}

// Probabilities judges the next chunks, len(dst) of them one behind the other in
// samples, to the last bit as Probability does: only the cell has to take them one by
// one.
func (s *Silero) Probabilities(dst, samples []float32) {
	checkChunks(dst, samples)
	for len(dst) > 0 {
		n := min(len(dst), sileroBatch)
		s.encode(samples, n)
		for i := range n {
			s.recur(s.outputs[i*sileroWidth:][:sileroWidth], s.gatesOfX[i*4*sileroWidth:][:4*sileroWidth])
		}
		cpu.ReluF32(s.outputs[:n*sileroWidth])
		cpu.GemmF32(dst, 1, s.outputs[:], sileroWidth, n, s.final.w, 1, sileroWidth, s.final.bias)
		cpu.SigmoidF32(dst[:n])
		dst, samples = dst[n:], samples[n*ChunkSamples:]
	}
}

// Reset makes the next chunk the first one of another recording.
func (s *Silero) Reset() {
	clear(s.signal[:])
	clear(s.h[:])
	clear(s.c[:])
}

// encode computes what n chunks add to the gates of the cell.
func (s *Silero) encode(samples []float32, n int) {
	const size = (1 + sileroFrames) * sileroBins
	for i := range n {
		s.transform(s.magnitude[i*size+sileroBins:(i+1)*size], samples[i*ChunkSamples:][:ChunkSamples])
	}
	s.convs[0].run(s.x1[:], s.magnitude[:], n)
	s.convs[1].run(s.x2[:], s.x1[:], n)
	s.convs[2].run(s.x3[:], s.x2[:], n)
	s.convs[3].run(s.x4[:], s.x3[:], n)
	const gates = 4 * sileroWidth
	cpu.GemmF32(s.gatesOfX[:], gates, s.x4[sileroWidth:], 2*sileroWidth, n, s.input.w, gates, sileroWidth, s.input.bias)
}

// transform computes the magnitudes [4,129] of the next chunk's spectra.
func (s *Silero) transform(dst, chunk []float32) {
	copy(s.signal[:sileroContext], s.signal[ChunkSamples:])
	copy(s.signal[sileroContext:], chunk)
	const end = sileroContext + ChunkSamples
	for i := range sileroPad {
		s.signal[end+i] = s.signal[end-2-i]
	}
	s.dft.PowerF32(dst, sileroBins, s.signal[:], sileroHop, sileroFrames)
	for i, v := range dst {
		dst[i] = float32(math.Sqrt(float64(v)))
	}
}

// recur advances the cell by one step and puts h in out [128]:
//
//	c = σ(f)·c + σ(i)·tanh(g),  h = σ(o)·tanh(c)
//
// tanh(x) = 2σ(2x) − 1; g comes doubled.
func (s *Silero) recur(out, gatesOfX []float32) {
	const n = sileroWidth
	cpu.GemmF32(s.gates[:], 4*n, s.h[:], 0, 1, s.hidden, 4*n, n, gatesOfX)
	cpu.SigmoidF32(s.gates[:])
	i, f, g, o := s.gates[:n], s.gates[n:2*n], s.gates[2*n:3*n], s.gates[3*n:]
	for k, c := range s.c {
		c = f[k]*c + i[k]*(2*g[k]-1)
		s.c[k] = c
		s.tanh[k] = 2 * c
	}
	cpu.SigmoidF32(s.tanh[:])
	for k, t := range s.tanh {
		s.h[k] = o[k] * (2*t - 1)
	}
	copy(out, s.h[:])
}

// run computes ReLU(w·window + bias) for n chunks, [n, 1+out, outputs] from
// [n, 1+in, inputs]. A window is three frames long; behind the last frame are zeros,
// which are left out.
func (c *sileroConv) run(dst, x []float32, n int) {
	ldd, ldx := (1+c.out)*c.outputs, (1+c.in)*c.inputs
	for t := range c.out {
		taps := min(3, 1+c.in-t*c.stride)
		cpu.GemmF32(dst[(1+t)*c.outputs:], ldd, x[t*c.stride*c.inputs:], ldx, n, c.w, c.outputs, taps*c.inputs, c.bias)
	}
	cpu.ReluF32(dst[:n*ldd])
}
