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
	dft       *cpu.PackedF32 // [258,256]: real parts, imaginary parts
	convs     [4]sileroConv
	lstm      sileroLayer // [512, 256]: gates i, f, g, o by x, h
	final     []float32   // [128]
	finalBias float32

	signal [sileroSignal]float32
	cell   [sileroWidth]float32 // c

	// Values between the layers, [frames, channels]. The inputs of a convolution
	// have a frame of zeros in front, and one behind where the last window looks so far.
	spectrum  [sileroFrames * 2 * sileroBins]float32
	magnitude [(1 + sileroFrames + 1) * sileroBins]float32
	x1        [(1 + sileroFrames) * 128]float32
	x2        [(1 + 2) * 64]float32
	x3        [(1 + 1 + 1) * 64]float32
	joined    [2 * sileroWidth]float32 // x, then h
	gates     [4 * sileroWidth]float32
}

// Probability returns how likely it is that someone speaks in the next chunk.
func (s *Silero) Probability(chunk []float32) float32 {
	checkChunk(chunk)
	copy(s.signal[:sileroContext], s.signal[ChunkSamples:])
	copy(s.signal[sileroContext:], chunk)
	const end = sileroContext + ChunkSamples
	for i := range sileroPad {
		s.signal[end+i] = s.signal[end-2-i]
	}
	s.encode()
	s.recur()
	sum := s.finalBias
	for i, h := range s.joined[sileroWidth:] {
		sum += s.final[i] * max(0, h)
	}
	return sigmoid(sum)
}

// Reset makes the next chunk the first one of another recording.
func (s *Silero) Reset() {
	clear(s.signal[:])
	clear(s.cell[:])
	clear(s.joined[:])
}

// encode computes the input of the recurrent cell from the signal.
func (s *Silero) encode() {
	const bins = sileroBins
	cpu.GemmF32(s.spectrum[:], 2*bins, s.signal[:], sileroHop, sileroFrames, s.dft, 2*bins, sileroWindow, nil)
	for t := range sileroFrames {
		re, im := s.spectrum[t*2*bins:][:bins], s.spectrum[t*2*bins+bins:][:bins]
		for i, v := range re {
			s.magnitude[(t+1)*bins+i] = float32(math.Sqrt(float64(v*v + im[i]*im[i])))
		}
	}
	s.convs[0].run(s.x1[128:], s.magnitude[:], 4, 1)
	s.convs[1].run(s.x2[64:], s.x1[:], 2, 2)
	s.convs[2].run(s.x3[64:128], s.x2[:], 1, 1)
	s.convs[3].run(s.joined[:sileroWidth], s.x3[:], 1, 1)
}

// recur advances the recurrent cell by one step:
//
//	c = σ(f)·c + σ(i)·tanh(g),  h = σ(o)·tanh(c)
func (s *Silero) recur() {
	const n = sileroWidth
	cpu.GemmF32(s.gates[:], 4*n, s.joined[:], 0, 1, s.lstm.w, 4*n, 2*n, s.lstm.bias)
	i, f, g, o := s.gates[:n], s.gates[n:2*n], s.gates[2*n:3*n], s.gates[3*n:]
	h := s.joined[n:]
	for k, c := range s.cell {
		c = sigmoid(f[k])*c + sigmoid(i[k])*tanh(g[k])
		s.cell[k] = c
		h[k] = sigmoid(o[k]) * tanh(c)
	}
}

// run computes frames outputs [frames, outputs] of ReLU(w·window + bias), where the
// windows are three frames of x long and stride frames apart.
func (c *sileroConv) run(dst, x []float32, frames, stride int) {
	cpu.GemmF32(dst, c.outputs, x, stride*c.inputs, frames, c.w, c.outputs, 3*c.inputs, c.bias)
	for i, v := range dst[:frames*c.outputs] {
		dst[i] = max(0, v)
	}
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

func tanh(x float32) float32 { return float32(math.Tanh(float64(x))) }
