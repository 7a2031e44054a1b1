package oncpu

import (
	"context"
	"fmt"

	"earshot/cpu"
	"earshot/whisper"
)

// Decoder implements whisper.Decoder.
type Decoder struct {
	dims      whisper.Dims
	pool      *cpu.Pool
	tokens    linear    // [V, D]: embedding and output projection are one matrix
	positions []float32 // [TextCtx, D]
	blocks    []decoderBlock
	post      norm
}

type decoderBlock struct {
	norm      norm
	attn      attention
	crossNorm norm
	cross     crossAttention
	mlp       mlp
}

func newDecoder(r *reader, d whisper.Dims, pool *cpu.Pool) *Decoder {
	dec := &Decoder{
		dims:      d,
		pool:      pool,
		tokens:    r.table("decoder.token_embedding.weight", d.Vocab, d.TextState),
		positions: r.floats("decoder.positional_embedding", d.TextCtx, d.TextState),
	}
	for i := range d.TextLayers {
		name := fmt.Sprintf("decoder.blocks.%d.", i)
		dec.blocks = append(dec.blocks, decoderBlock{
			norm:      r.norm(name+"attn_ln", d.TextState),
			attn:      r.selfAttention(name+"attn", d.TextState, d.TextHeads),
			crossNorm: r.norm(name+"cross_attn_ln", d.TextState),
			cross:     r.crossAttention(name+"cross_attn", d.TextState, d.TextHeads),
			mlp:       r.mlp(name, d.TextState),
		})
	}
	dec.post = r.norm("decoder.ln", d.TextState)
	return dec
}

// Begin implements whisper.Decoder.
func (d *Decoder) Begin(ctx context.Context, audios []whisper.Encoded, opts whisper.SessionOptions) (whisper.Session, error) {
	if err := whisper.CheckBegin(d.dims, audios, opts); err != nil {
		return nil, err
	}
	s := &session{dec: d, options: opts}
	for _, enc := range audios {
		a, err := d.listen(ctx, enc)
		if err != nil {
			return nil, err
		}
		s.sequences = append(s.sequences, &sequence{audio: a})
	}
	return s, nil
}

// audio is one window's cross-attention cache, shared by all sequences that listen
// to it and not changed after listen.
type audio struct {
	positions int
	caches    []headCache // [layers·heads]
}

// headCache holds one head's keys [n, d] and values [d, n], both packed as the
// right-hand side of a multiplication.
type headCache struct{ keys, values *cpu.PackedF32 }

// listen computes the cross-attention keys and values of one window.
func (d *Decoder) listen(ctx context.Context, enc whisper.Encoded) (*audio, error) {
	width, heads := d.dims.TextState, d.dims.TextHeads
	head := width / heads
	a := &audio{positions: enc.Positions, caches: make([]headCache, len(d.blocks)*heads)}
	kv := make([]float32, enc.Positions*2*width)
	for i := range d.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.blocks[i].cross.kv.apply(d.pool, kv, enc.Data, enc.Positions)
		d.pool.Run(heads, func(h int) {
			a.caches[i*heads+h] = headCache{
				keys:   cpu.PackF32(kv[h*head:], enc.Positions, head, 2*width, 1),
				values: cpu.PackF32(kv[width+h*head:], head, enc.Positions, 1, 2*width),
			}
		})
	}
	return a, nil
}
