package ref

import (
	"context"
	"slices"

	"earshot/whisper"
)

// audio is what the decoder keeps of one Encoded: per layer, keys and values
// [positions, D].
type audio struct {
	positions    int
	keys, values [][]float32
}

// sequence is one token sequence's self-attention cache: per layer, keys and
// values [length, D].
type sequence struct {
	audio        *audio
	length       int
	keys, values [][]float32
}

type session struct {
	net       *Network
	options   whisper.SessionOptions
	sequences []sequence
}

// Begin implements whisper.Decoder.
func (n *Network) Begin(ctx context.Context, audios []whisper.Encoded, opts whisper.SessionOptions) (whisper.Session, error) {
	if err := whisper.CheckBegin(n.dims, audios, opts); err != nil {
		return nil, err
	}
	s := &session{net: n, options: opts}
	for _, enc := range audios {
		a := &audio{positions: enc.Positions}
		for i := range n.decoder.blocks {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			cross := &n.decoder.blocks[i].cross
			a.keys = append(a.keys, cross.key.apply(enc.Data))
			a.values = append(a.values, cross.value.apply(enc.Data))
		}
		s.sequences = append(s.sequences, sequence{audio: a, keys: make([][]float32, n.dims.TextLayers), values: make([][]float32, n.dims.TextLayers)})
	}
	return s, nil
}

// Step implements whisper.Session (TextDecoder.forward in model.py), one token at
// a time.
func (s *session) Step(ctx context.Context, in []whisper.Input) (whisper.Output, error) {
	var out whisper.Output
	lengths := make([]int, len(s.sequences))
	for i := range s.sequences {
		lengths[i] = s.sequences[i].length
	}
	if err := whisper.CheckStep(s.net.dims, lengths, in); err != nil {
		return out, err
	}
	for _, input := range in {
		seq := &s.sequences[input.Sequence]
		seq.truncate(input.At, s.net.dims.TextState)
		for i, token := range input.Tokens {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			x, alignment := s.net.token(seq, token, s.options.Alignment)
			if len(input.Tokens)-i > input.Rows {
				continue
			}
			out.Logits = append(out.Logits, s.net.logits(x))
			if s.options.Alignment != nil {
				out.Alignment = append(out.Alignment, alignment)
			}
		}
	}
	return out, nil
}

// token runs one token through the decoder, extends seq's cache by it and returns
// its last hidden state [D] and the cross-attention weights of the heads asked for,
// [heads, positions].
func (n *Network) token(seq *sequence, token int, heads []whisper.Head) (x, alignment []float32) {
	d := &n.decoder
	width := n.dims.TextState
	x = slices.Clone(d.tokens[token*width : (token+1)*width])
	add(x, d.positions[seq.length*width:(seq.length+1)*width])
	seq.length++
	alignment = make([]float32, len(heads)*seq.audio.positions)
	for i := range d.blocks {
		b := &d.blocks[i]
		y := b.attnNorm.apply(x)
		seq.keys[i] = append(seq.keys[i], b.attn.key.apply(y)...)
		seq.values[i] = append(seq.values[i], b.attn.value.apply(y)...)
		mixed, _ := b.attn.row(y, seq.keys[i], seq.values[i])
		add(x, mixed)

		mixed, weights := b.cross.row(b.crossNorm.apply(x), seq.audio.keys[i], seq.audio.values[i])
		add(x, mixed)
		for j, head := range heads {
			if head.Layer == i {
				copy(alignment[j*seq.audio.positions:], weights[head.Head])
			}
		}
		b.addMLP(x)
	}
	return d.post.apply(x), alignment
}

// logits multiplies a hidden state [D] by the token embeddings [V, D].
func (n *Network) logits(x []float32) []float32 {
	return linear{weight: n.decoder.tokens, out: n.dims.Vocab, in: n.dims.TextState}.apply(x)
}

// row attends from one row x [D] over cached keys and values [n, D]; it returns
// the projected result [D] and each head's softmax weights [n].
func (a *attention) row(x, keys, values []float32) (out []float32, weights [][]float32) {
	width := a.query.out
	head := width / a.heads
	q := a.query.apply(x)
	mixed := make([]float32, width)
	for h := range a.heads {
		at := h * head
		weights = append(weights, attend(mixed[at:at+head], q[at:at+head], keys, values, len(keys)/width, width, at))
	}
	return a.out.apply(mixed), weights
}

func (q *sequence) truncate(length, width int) {
	q.length = length
	for i := range q.keys {
		q.keys[i] = q.keys[i][:length*width]
		q.values[i] = q.values[i][:length*width]
	}
}

// Select implements whisper.Session.
func (s *session) Select(from []int) error {
	if err := whisper.CheckSelect(len(s.sequences), from); err != nil {
		return err
	}
	chosen := make([]sequence, len(from))
	for i, f := range from {
		old := s.sequences[f]
		chosen[i] = sequence{audio: old.audio, length: old.length}
		for l := range old.keys {
			chosen[i].keys = append(chosen[i].keys, slices.Clone(old.keys[l]))
			chosen[i].values = append(chosen[i].values, slices.Clone(old.values[l]))
		}
	}
	s.sequences = chosen
	return nil
}

// Close implements whisper.Session.
func (s *session) Close() error {
	s.sequences = nil
	return nil
}
