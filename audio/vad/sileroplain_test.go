package vad

import (
	"math"
	"testing"
)

// TestSileroPlain compares with the equations in plain loops over the tensors as they
// are stored, on weights of no meaning.
func TestSileroPlain(t *testing.T) {
	s, weights := randomSilero(t)
	plain := &plainSilero{w: weights}
	x := whiteNoise(6*ChunkSamples, -20)
	for i, got := range probabilities(s, x) {
		want := plain.probability(x[i*ChunkSamples:][:ChunkSamples])
		if math.Abs(float64(got)-want) > 1e-5 {
			t.Errorf("chunk %d: %g, want %g", i, got, want)
		}
	}
	s.Reset()
	plain = &plainSilero{w: weights}
	if got, want := s.Probability(x[:ChunkSamples]), plain.probability(x[:ChunkSamples]); math.Abs(float64(got)-want) > 1e-5 {
		t.Errorf("after Reset: %g, want %g", got, want)
	}
}

type plainSilero struct {
	w       map[string][]float32
	context [64]float32
	h, c    [128]float64
}

func (p *plainSilero) probability(chunk []float32) float64 {
	signal := append(append([]float32{}, p.context[:]...), chunk...)
	copy(p.context[:], chunk[len(chunk)-64:])
	for i := range 64 {
		signal = append(signal, signal[574-i])
	}
	dft := p.w["stft_conv.weight"]
	frames := make([][]float64, 4) // [frames][channels]
	for t := range frames {
		for bin := range 129 {
			var re, im float64
			for i, v := range signal[t*128:][:256] {
				re += float64(v) * float64(dft[bin*256+i])
				im += float64(v) * float64(dft[(129+bin)*256+i])
			}
			frames[t] = append(frames[t], math.Hypot(re, im))
		}
	}
	for i, stride := range []int{1, 2, 2, 1} {
		frames = p.conv(frames, "conv"+string(rune('1'+i)), stride)
	}
	p.step(frames[0])
	sum := float64(p.w["final_conv.bias"][0])
	for i, h := range p.h {
		sum += max(0, h) * float64(p.w["final_conv.weight"][i])
	}
	return 1 / (1 + math.Exp(-sum))
}

func (p *plainSilero) conv(x [][]float64, name string, stride int) (out [][]float64) {
	w := p.w[name+".weight"]
	for centre := 0; centre < len(x); centre += stride {
		var y []float64
		for o, sum := range p.w[name+".bias"] {
			v := float64(sum)
			for tap := range 3 {
				if t := centre + tap - 1; t >= 0 && t < len(x) {
					for i, in := range x[t] {
						v += in * float64(w[(o*len(x[t])+i)*3+tap])
					}
				}
			}
			y = append(y, max(0, v))
		}
		out = append(out, y)
	}
	return out
}

func (p *plainSilero) step(x []float64) {
	var gates [512]float64
	input, hidden := p.w["lstm_cell.weight_ih"], p.w["lstm_cell.weight_hh"]
	for g := range gates {
		gates[g] = float64(p.w["lstm_cell.bias_ih"][g]) + float64(p.w["lstm_cell.bias_hh"][g])
		for i := range 128 {
			gates[g] += x[i]*float64(input[g*128+i]) + p.h[i]*float64(hidden[g*128+i])
		}
	}
	logistic := func(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
	for i := range 128 {
		p.c[i] = logistic(gates[128+i])*p.c[i] + logistic(gates[i])*math.Tanh(gates[256+i])
		p.h[i] = logistic(gates[384+i]) * math.Tanh(p.c[i])
	}
}
