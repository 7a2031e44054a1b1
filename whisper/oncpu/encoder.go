package oncpu

import (
	"context"
	"fmt"

	"earshot/cpu"
	"earshot/whisper"
)

// Encoder implements whisper.Encoder.
type Encoder struct {
	dims         whisper.Dims
	pool         *cpu.Pool
	conv1, conv2 linear    // [D, 3·in]: a convolution is a multiplication over three frames in a row
	positions    []float32 // [AudioCtx, D]
	blocks       []encoderBlock
	post         norm
	scratch      encoderScratch
}

type encoderBlock struct {
	norm norm
	attn attention
	mlp  mlp
}

func newEncoder(r *reader, d whisper.Dims, pool *cpu.Pool) *Encoder {
	e := &Encoder{
		dims:      d,
		pool:      pool,
		conv1:     r.conv("encoder.conv1", d.AudioState, d.Mels),
		conv2:     r.conv("encoder.conv2", d.AudioState, d.AudioState),
		positions: r.floats("encoder.positional_embedding", d.AudioCtx, d.AudioState),
	}
	for i := range d.AudioLayers {
		name := fmt.Sprintf("encoder.blocks.%d.", i)
		out := r.linear
		if i == 0 {
			// A small product, and the one in the block where int8 costs most: with it what
			// tiny.en's encoder returns is off by 2.3 instead of 1.9 % (LibriSpeech test-other).
			out = r.exact
		}
		e.blocks = append(e.blocks, encoderBlock{
			norm: r.norm(name+"attn_ln", d.AudioState),
			attn: r.selfAttention(name+"attn", d.AudioState, d.AudioHeads, out),
			mlp:  r.mlp(name, d.AudioState),
		})
	}
	e.post = r.norm("encoder.ln_post", d.AudioState)
	return e
}

// blockRows is how many rows go through a layer's products at a time: their hidden
// states then stay in caches, and memory is for them and not for the window.
const blockRows = 256

// encoderScratch is reused from call to call, all but x, which becomes the result; q and
// cache follow the longest window seen.
type encoderScratch struct {
	x, q   []float32    // [P, D]: the stream through the layers, and queries or what they attend to
	cache  *cpu.KVCache // of the layer at work
	y      []float32    // [blockRows, D]
	wide   []float32    // [blockRows, 4D]: MLP hidden state, Q, K and V, or conv2's input
	frames []float32    // [2·blockRows+3, M]: features by frame
}

// Encode implements whisper.Encoder.
func (e *Encoder) Encode(ctx context.Context, mel whisper.Mel) (whisper.Encoded, error) {
	if err := mel.Check(e.dims); err != nil {
		return whisper.Encoded{}, err
	}
	positions := mel.Frames / 2
	e.scratch.grow(positions, e.dims)
	eachBlock(positions, func(from, to int) { e.stem(mel, from, to) })
	for i := range e.blocks {
		if err := ctx.Err(); err != nil {
			return whisper.Encoded{}, err
		}
		b := &e.blocks[i]
		eachBlock(positions, func(from, to int) { e.project(b, from, to) })
		e.attend(positions)
		eachBlock(positions, func(from, to int) { e.finish(b, from, to) })
	}
	out := whisper.Encoded{Positions: positions, Data: e.scratch.x}
	e.scratch.x = nil
	e.post.apply(e.pool, out.Data, out.Data)
	return out, nil
}

func eachBlock(rows int, f func(from, to int)) {
	for from := 0; from < rows; from += blockRows {
		f(from, min(rows, from+blockRows))
	}
}

// stem runs both convolutions and adds the position table, for positions from to to-1,
// into x. Position p sees conv1's frames 2p-1 to 2p+1, a frame one more of mel on each
// side; beyond the window both are zeros.
func (e *Encoder) stem(mel whisper.Mel, from, to int) {
	s, width, bands := &e.scratch, e.dims.AudioState, mel.Bands
	first, rows := 2*from-1, 2*(to-from)+1 // of conv1's frames
	for r := range rows + 2 {
		row, t := s.frames[r*bands:(r+1)*bands], first-1+r
		if t < 0 || t >= mel.Frames {
			clear(row)
			continue
		}
		for b := range row {
			row[b] = mel.Data[b*mel.Frames+t]
		}
	}
	mid := s.wide[:rows*width]
	e.conv1.applyTo(e.pool, mid, width, s.frames, bands, rows)
	e.pool.GeluF32(mid)
	if first < 0 {
		clear(mid[:width])
	}
	x := s.x[from*width : to*width]
	e.conv2.applyTo(e.pool, x, width, mid, 2*width, to-from)
	e.pool.GeluF32(x)
	e.pool.AddF32(x, e.positions[from*width:to*width])
}

// project puts the keys and values of x's rows into the cache and the queries into q.
func (e *Encoder) project(b *encoderBlock, from, to int) {
	s, width, rows := &e.scratch, e.dims.AudioState, to-from
	y := s.y[:rows*width]
	b.norm.apply(e.pool, y, s.x[from*width:to*width])
	b.attn.qkv.apply(e.pool, s.wide, y, rows)
	e.pool.PutKV(s.cache, from, rows, s.wide[width:], 3*width, s.wide[2*width:], 3*width)
	for r := range rows {
		copy(s.q[(from+r)*width:(from+r+1)*width], s.wide[r*3*width:])
	}
}

// attend is softmax(Q·Kᵀ)·V for every head, in place in q.
func (e *Encoder) attend(positions int) {
	s, width := &e.scratch, e.dims.AudioState
	all := [...]cpu.Query{{Cache: s.cache, Rows: positions, N: positions}}
	e.pool.AttendF32(s.q, width, s.q, width, all[:], nil, 0)
}

// finish adds what was attended to, and then the MLP, to x's rows.
func (e *Encoder) finish(b *encoderBlock, from, to int) {
	s, width, rows := &e.scratch, e.dims.AudioState, to-from
	x, y := s.x[from*width:to*width], s.y[:rows*width]
	b.attn.out.apply(e.pool, y, s.q[from*width:to*width], rows)
	e.pool.AddF32(x, y)
	b.mlp.add(e.pool, x, y, s.wide[:rows*4*width], rows)
}

// grow makes room for a window of so many positions.
func (s *encoderScratch) grow(positions int, d whisper.Dims) {
	width := d.AudioState
	if s.y == nil {
		s.y = make([]float32, blockRows*width)
		s.wide = make([]float32, blockRows*4*width)
		s.frames = make([]float32, (2*blockRows+3)*d.Mels)
	}
	s.x = make([]float32, positions*width)
	if len(s.q) < positions*width {
		s.q = make([]float32, positions*width)
		s.cache = cpu.NewKVCache(d.AudioHeads, width/d.AudioHeads, positions)
	}
}
