package onnpu

import (
	"fmt"
	"math"
	"strings"

	"earshot/npu/graph"
	"earshot/whisper"
	"earshot/whisper/weights"
)

// Parameters are a model's encoder, and the decoder's cross-attention, in float16 and in
// the layout that graphs want. Graphs share them.
type Parameters struct {
	name    string
	dims    whisper.Dims
	tensors map[string][]byte // nil when only sizes count
	zeros   []byte            // at least as many as the largest tensor has
}

// Sizes are parameters without values, for graphs that are only counted.
func Sizes(name string, d whisper.Dims) *Parameters {
	largest := 2 * max(4*d.AudioState*d.AudioState, d.AudioState*3*d.Mels, roundUp(d.AudioCtx, 16)*d.AudioState)
	return &Parameters{name: name, dims: d, zeros: make([]byte, largest)}
}

// Name is the model's.
func (p *Parameters) Name() string { return p.name }

// Dims are the model's sizes.
func (p *Parameters) Dims() whisper.Dims { return p.dims }

// Read takes the parameters out of a model.
func Read(m *weights.Model) (*Parameters, error) {
	p := Sizes(m.Name, whisper.Dims(m.Header.Dims))
	p.tensors = map[string][]byte{}
	for _, t := range weights.Tensors(m.Header.Dims, weights.F32) {
		if !strings.HasPrefix(t.Name, "encoder.") && !strings.Contains(t.Name, "cross_attn.key") && !strings.Contains(t.Name, "cross_attn.value") {
			continue
		}
		v, err := m.F32(t.Name, t.Shape...)
		if err != nil {
			return nil, fmt.Errorf("parameters for the NPU: %w", err)
		}
		if p.tensors[t.Name], err = p.laidOut(t.Name, v); err != nil {
			return nil, fmt.Errorf("parameters for the NPU: model %s: tensor %s %w", m.Name, t.Name, err)
		}
	}
	return p, nil
}

// laidOut is a tensor as graphs want it: convolutions as [out, 3, in], the query scaled by
// 1/√d (d: width of a head) so that scores stay small in float16, positions with rows of
// zeros up to a multiple of 16.
func (p *Parameters) laidOut(name string, v []float32) ([]byte, error) {
	size := len(v)
	switch {
	case strings.HasSuffix(name, "conv1.weight"), strings.HasSuffix(name, "conv2.weight"):
		v = taps(v, p.dims.AudioState)
	case strings.Contains(name, ".attn.query."):
		for i := range v {
			v[i] /= float32(math.Sqrt(float64(p.dims.AudioState / p.dims.AudioHeads)))
		}
	case name == "encoder.positional_embedding":
		size = roundUp(p.dims.AudioCtx, 16) * p.dims.AudioState
	}
	for _, x := range v {
		if !(math.Abs(float64(x)) < 65520) {
			return nil, fmt.Errorf("holds %g, which float16 does not", x)
		}
	}
	data := make([]byte, 2*size)
	graph.PutFloats(data, graph.Float16, v)
	return data, nil
}

// taps turns [out, in, 3] into [out, 3, in], the order in which values lie in frames that
// follow each other.
func taps(w []float32, out int) []float32 {
	in := len(w) / 3 / out
	turned := make([]float32, 0, len(w))
	for o := range out {
		for tap := range 3 {
			for c := range in {
				turned = append(turned, w[(o*in+c)*3+tap])
			}
		}
	}
	return turned
}

// bytes returns the values from to to-1 of a tensor.
func (p *Parameters) bytes(name string, from, to int) []byte {
	if p.tensors == nil || strings.HasSuffix(name, "key.bias") { // keys have no bias
		return p.zeros[:2*(to-from)]
	}
	data, known := p.tensors[name]
	if !known {
		panic("BUG: no parameter " + name)
	}
	return data[2*from : 2*to]
}
