package oncpu

import (
	"context"
	"fmt"

	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/weights"
)

// Decoder implements whisper.Decoder.
type Decoder struct {
	dims      whisper.Dims
	pool      *cpu.Pool
	tokens    *cpu.PackedF32 // [V, D]: embedding and output projection are one matrix
	positions []float32      // [TextCtx, D]
	blocks    []decoderBlock
	post      norm
	joined    session // for the time of a StepAll: the sequences of all its sessions
}

type decoderBlock struct {
	norm      norm
	attn      attention
	crossNorm norm
	cross     crossAttention
	mlp       mlp
}

// NewDecoder packs the decoder's weights of m for use on pool.
func NewDecoder(m *weights.Model, pool *cpu.Pool) (*Decoder, error) {
	d := whisper.Dims(m.Header.Dims)
	r := reader{model: m}
	dec := &Decoder{
		dims:      d,
		pool:      pool,
		tokens:    cpu.PackF32(r.tensor("decoder.token_embedding.weight", d.Vocab, d.TextState), d.Vocab, d.TextState, d.TextState, 1),
		positions: r.tensor("decoder.positional_embedding", d.TextCtx, d.TextState),
		post:      r.norm("decoder.ln", d.TextState),
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
	if r.err != nil {
		return nil, r.err
	}
	return dec, nil
}

// Begin implements whisper.Decoder.
func (d *Decoder) Begin(ctx context.Context, audios []whisper.Encoded, opts whisper.SessionOptions) (whisper.Session, error) {
	if err := whisper.CheckBegin(d.dims, audios, opts); err != nil {
		return nil, err
	}
	s := &session{dec: d}
	for _, enc := range audios {
		a, err := d.listen(ctx, enc)
		if err != nil {
			return nil, err
		}
		s.sequences = append(s.sequences, &sequence{audio: a, heads: opts.Alignment})
	}
	return s, nil
}

// StepAll implements whisper.Joiner: for the time of a step the sequences of all
// sessions are those of one.
func (d *Decoder) StepAll(ctx context.Context, sessions []whisper.Session, in [][]whisper.Input) ([]whisper.Output, error) {
	all := &d.joined
	all.dec, all.sequences = d, all.sequences[:0]
	defer func() { clear(all.sequences) }() // they belong to their sessions
	var inputs []whisper.Input
	for i := range sessions {
		s := sessions[i].(*session)
		if err := s.check(in[i]); err != nil {
			return nil, err
		}
		for _, x := range in[i] {
			x.Sequence += len(all.sequences)
			inputs = append(inputs, x)
		}
		all.sequences = append(all.sequences, s.sequences...)
	}
	out, err := all.Step(ctx, inputs)
	if err != nil {
		return nil, err
	}
	return share(out, in), nil
}

// share gives each session the rows that it asked for.
func share(all whisper.Output, in [][]whisper.Input) []whisper.Output {
	out := make([]whisper.Output, len(in))
	at := 0
	for i := range in {
		from := at
		for _, x := range in[i] {
			at += x.Rows
		}
		if at == from {
			continue
		}
		out[i].Logits = all.Logits[from:at]
		if all.Alignment != nil && all.Alignment[from] != nil {
			out[i].Alignment = all.Alignment[from:at]
		}
	}
	return out
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
