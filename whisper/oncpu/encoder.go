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
	frames []float32 // [T+2, M]: features by frame, between two frames of zeros
	conv   []float32 // [T+2, D]: the same for conv2's input
	x, y   []float32 // [P, D]
	wide   []float32 // [P, 4D]: MLP hidden state, or Q, K and V
	heads  []headScratch
}

// headScratch is what one attention head needs for itself.
type headScratch struct {
	keys, values *cpu.PackedF32 // [P, d] and [d, P]
	scores       []float32      // [queryBlock, P]
}

// queryBlock is how many query rows' scores are held at once: 64 rows of 1500
// scores stay in the second-level cache.
const queryBlock = 64

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
		forRows(e.pool, positions, func(from, to int) { b.norm.apply(y[from*width:to*width], x[from*width:to*width]) })
		b.attn.qkv.apply(e.pool, s.wide, y, positions)
		e.attend(y, s.wide, positions, b.attn.heads)
		b.attn.out.apply(e.pool, s.wide, y, positions)
		cpu.AddF32(x, s.wide[:len(x)])
		b.mlp.add(e.pool, x, y, s.wide[:positions*4*width], positions)
	}
	out := whisper.Encoded{Positions: positions, Data: make([]float32, len(x))}
	e.post.apply(out.Data, x)
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
	forRows(e.pool, mel.Frames, func(from, to int) { cpu.GeluF32(mid[from*width : to*width]) })
	clear(s.conv[(mel.Frames+1)*width : (mel.Frames+2)*width])

	x := s.x[:positions*width]
	e.conv2.applyTo(e.pool, x, width, s.conv, 2*width, positions)
	forRows(e.pool, positions, func(from, to int) { cpu.GeluF32(x[from*width : to*width]) })
	cpu.AddF32(x, e.positions[:len(x)])
}

// attend is softmax(Q·Kᵀ)·V for each head, for qkv [P, 3D], into out [P, D].
func (e *Encoder) attend(out, qkv []float32, positions, heads int) {
	width := e.dims.AudioState
	d := width / heads
	e.pool.Run(heads, func(h int) {
		s := &e.scratch.heads[h]
		s.keys.Pack(qkv[width+h*d:], positions, d, 3*width, 1)
		s.values.Pack(qkv[2*width+h*d:], d, positions, 1, 3*width)
		for from := 0; from < positions; from += queryBlock {
			rows := min(queryBlock, positions-from)
			cpu.GemmF32(s.scores, positions, qkv[from*3*width+h*d:], 3*width, rows, s.keys, positions, d, nil)
			for r := range rows {
				cpu.SoftmaxF32(s.scores[r*positions : (r+1)*positions])
			}
			cpu.GemmF32(out[from*width+h*d:], width, s.scores, positions, rows, s.values, d, positions, nil)
		}
	})
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
		heads:  make([]headScratch, heads),
	}
	for h := range s.heads {
		s.heads[h] = headScratch{
			keys:   cpu.NewPackedF32(positions, width/heads),
			values: cpu.NewPackedF32(width/heads, positions),
			scores: make([]float32, queryBlock*positions),
		}
	}
}
