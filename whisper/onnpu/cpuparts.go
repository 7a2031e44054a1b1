package onnpu

import (
	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/weights"
)

// cpuStem is the convolutions in float32 on the CPU.
type cpuStem struct {
	conv1, conv2 *cpu.PackedF32 // [D, 3·in]: a convolution is a product with three frames in a row
	bias1, bias2 []float32
	positions    []float32 // [AudioCtx, D]
	dims         whisper.Dims
}

func newCPUStem(m *weights.Model) (*cpuStem, error) {
	s := &cpuStem{dims: whisper.Dims(m.Header.Dims)}
	d, bands := s.dims.AudioState, s.dims.Mels
	var err error
	read := func(name string, shape ...int) (v []float32) {
		if err == nil {
			v, err = m.F32(name, shape...)
		}
		return v
	}
	w1, w2 := read("encoder.conv1.weight", d, bands, 3), read("encoder.conv2.weight", d, d, 3)
	s.bias1, s.bias2 = read("encoder.conv1.bias", d), read("encoder.conv2.bias", d)
	s.positions = read("encoder.positional_embedding", s.dims.AudioCtx, d)
	if err != nil {
		return nil, err
	}
	s.conv1 = cpu.PackF32(taps(w1, d), d, 3*bands, 3*bands, 1)
	s.conv2 = cpu.PackF32(taps(w2, d), d, 3*d, 3*d, 1)
	return s, nil
}

// run computes [n, D] from frames [2n+2, M], with a frame of zeros on either side.
func (s *cpuStem) run(pool *cpu.Pool, frames []float32) []float32 {
	d, bands := s.dims.AudioState, s.dims.Mels
	n := len(frames)/bands/2 - 1
	mid := make([]float32, (2*n+1)*d) // with zeros before conv1's first frame
	pool.GemmF32(mid[d:], d, frames, bands, 2*n, s.conv1, d, 3*bands, s.bias1)
	pool.GeluF32(mid[d:])
	x := make([]float32, n*d)
	pool.GemmF32(x, d, mid, 2*d, n, s.conv2, d, 3*d, s.bias2)
	pool.GeluF32(x)
	pool.AddF32(x, s.positions[:n*d])
	return x
}

// attend is softmax(Q·Kᵀ)·V for every head, for q, k, v [n, D], with the result in q.
func attend(pool *cpu.Pool, d whisper.Dims, q, k, v []float32) {
	width := d.AudioState
	n := len(q) / width
	cache := cpu.NewKVCache(d.AudioHeads, width/d.AudioHeads, n)
	pool.PutKV(cache, 0, n, k, width, v, width)
	pool.AttendF32(q, width, q, width, []cpu.Query{{Cache: cache, Rows: n, N: n}}, nil, 0)
}
