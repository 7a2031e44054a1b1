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
	tokens    vocabulary
	positions []float32 // [TextCtx, D]
	blocks    []decoderBlock
	post      norm

	// Kept from window to window.
	kv            []float32 // [blockRows, 2D]
	freeAudios    []*audio
	freeSequences []*sequence
	joined        session // for the time of a StepAll: the sequences of all its sessions
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
		tokens:    r.vocabulary("decoder.token_embedding.weight", d.Vocab, d.TextState),
		positions: r.floats("decoder.positional_embedding", d.TextCtx, d.TextState),
	}
	for i := range d.TextLayers {
		name := fmt.Sprintf("decoder.blocks.%d.", i)
		dec.blocks = append(dec.blocks, decoderBlock{
			norm:      r.norm(name+"attn_ln", d.TextState),
			attn:      r.selfAttention(name+"attn", d.TextState, d.TextHeads, r.linear),
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
	s := &session{dec: d}
	for _, enc := range audios {
		a := d.newAudio(enc.Positions)
		s.audios = append(s.audios, a)
		s.sequences = append(s.sequences, d.newSequence(a, opts.Alignment))
		if err := d.listen(ctx, a, enc); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// StepAll implements whisper.Joiner: for the time of a step the sequences of all
// sessions are those of one.
func (d *Decoder) StepAll(ctx context.Context, sessions []whisper.Session, in [][]whisper.Input) ([]whisper.Output, error) {
	all := &d.joined
	all.dec, all.sequences = d, all.sequences[:0]
	defer all.forget()
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

// forget lets go of the sequences, which belong to their sessions, and of the caches that
// were attended over: they would be kept until the next step.
func (s *session) forget() {
	clear(s.sequences)
	clear(s.scratch.rows)
	clear(s.scratch.self)
	clear(s.scratch.cross)
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
		if len(all.Alignment) > 0 && len(all.Alignment[from]) > 0 {
			out[i].Alignment = all.Alignment[from:at]
		}
	}
	return out
}

// audio is one window's cross-attention cache, shared by all sequences that listen
// to it and not changed after listen.
type audio struct {
	positions int
	caches    []*cpu.KVCache // by layer
}

// listen computes the cross-attention keys and values of one window.
func (d *Decoder) listen(ctx context.Context, a *audio, enc whisper.Encoded) error {
	width := d.dims.TextState
	d.kv = atLeast(d.kv, blockRows*2*width)
	for i := range d.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		eachBlock(enc.Positions, func(from, to int) {
			d.blocks[i].cross.kv.apply(d.pool, d.kv, enc.Data[from*width:], to-from)
			d.pool.PutKV(a.caches[i], from, to-from, d.kv, 2*width, d.kv[width:], 2*width)
		})
	}
	return nil
}
