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
		e.blocks = append(e.blocks, encoderBlock{
			norm: r.norm(name+"attn_ln", d.AudioState),
			attn: r.selfAttention(name+"attn", d.AudioState, d.AudioHeads),
			mlp:  r.mlp(name, d.AudioState),
		})
	}
	e.post = r.norm("encoder.ln_post", d.AudioState)
	return e
}

// encoderScratch is reused from call to call; sizes follow the longest window seen.
type encoderScratch struct {
	frames []float32    // [T+2, M]: features by frame, between two frames of zeros
	conv   []float32    // [T+2, D]: the same for conv2's input
	x, y   []float32    // [P, D]
	wide   []float32    // [P, 4D]: MLP hidden state, or Q, K and V
	cache  *cpu.KVCache // of the layer at work
}

// Encode implements whisper.Encoder.
func (e *Encoder) Encode(ctx context.Context, mel whisper.Mel) (whisper.Encoded, error) {
	if err := mel.Check(e.dims); err != nil {
		return whisper.Encoded{}, err
	}
	positions, width := mel.Frames/2, e.dims.AudioState
	e.stem(mel)
	s := &e.scratch
	x, y := s.x[:positions*width], s.y[:positions*width]
	for i := range e.blocks {
		if err := ctx.Err(); err != nil {
			return whisper.Encoded{}, err
		}
		b := &e.blocks[i]
		b.norm.apply(e.pool, y, x)
		b.attn.qkv.apply(e.pool, s.wide, y, positions)
		e.attend(y, s.wide, positions)
		b.attn.out.apply(e.pool, s.wide, y, positions)
		e.pool.AddF32(x, s.wide[:len(x)])
		b.mlp.add(e.pool, x, y, s.wide[:positions*4*width], positions)
	}
	out := whisper.Encoded{Positions: positions, Data: make([]float32, len(x))}
	e.post.apply(e.pool, out.Data, x)
	return out, nil
}

// stem runs both convolutions over mel and adds the position table; the result
// lies in scratch.x.
func (e *Encoder) stem(mel whisper.Mel) {
	s, width, bands := &e.scratch, e.dims.AudioState, mel.Bands
	positions := mel.Frames / 2
	s.grow(mel.Frames, bands, width, e.dims.AudioHeads)
	clear(s.frames[:bands])
	for t := range mel.Frames {
		row := s.frames[(t+1)*bands : (t+2)*bands]
		for b := range row {
			row[b] = mel.Data[b*mel.Frames+t]
		}
	}
	clear(s.frames[(mel.Frames+1)*bands : (mel.Frames+2)*bands])

	clear(s.conv[:width])
	mid := s.conv[width : (mel.Frames+1)*width]
	e.conv1.applyTo(e.pool, mid, width, s.frames, bands, mel.Frames)
	e.pool.GeluF32(mid)
	clear(s.conv[(mel.Frames+1)*width : (mel.Frames+2)*width])

	x := s.x[:positions*width]
	e.conv2.applyTo(e.pool, x, width, s.conv, 2*width, positions)
	e.pool.GeluF32(x)
	e.pool.AddF32(x, e.positions[:len(x)])
}

// attend is softmax(Q·Kᵀ)·V for each head, for qkv [P, 3D], into out [P, D].
func (e *Encoder) attend(out, qkv []float32, positions int) {
	width, cache := e.dims.AudioState, e.scratch.cache
	e.pool.PutKV(cache, 0, positions, qkv[width:], 3*width, qkv[2*width:], 3*width)
	all := [...]cpu.Query{{Cache: cache, Rows: positions, N: positions}}
	e.pool.AttendF32(out, width, qkv, 3*width, all[:], nil, 0)
}

// grow makes room for a window of so many frames.
func (s *encoderScratch) grow(frames, bands, width, heads int) {
	if len(s.frames) >= (frames+2)*bands {
		return
	}
	positions := frames / 2
	*s = encoderScratch{
		frames: make([]float32, (frames+2)*bands),
		conv:   make([]float32, (frames+2)*width),
		x:      make([]float32, positions*width),
		y:      make([]float32, positions*width),
		wide:   make([]float32, positions*4*width),
		cache:  cpu.NewKVCache(heads, width/heads, positions),
	}
}
