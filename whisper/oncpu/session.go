package oncpu

import (
	"context"
	"slices"

	"earshot/cpu"
	"earshot/whisper"
)

// session implements whisper.Session.
type session struct {
	dec       *Decoder
	audios    []*audio
	sequences []*sequence
	scratch   stepScratch
}

// sequence is one token sequence with its self-attention cache.
type sequence struct {
	audio  *audio
	heads  []whisper.Head // whose alignment is wanted; nil for none
	length int            // tokens held
	caches []*cpu.KVCache // by layer; nil while empty
}

// row is one token on its way through a step.
type row struct {
	seq    *sequence
	token  int
	at     int // position in the sequence
	wanted int // index into the step's results, or -1
}

// stepScratch is reused from step to step.
type stepScratch struct {
	lengths     []int
	rows        []row
	self, cross []cpu.Query // both for all rows
	x, y        []float32   // [rows, D]
	wide        []float32   // [rows, 4D]
	weights     []float32   // [rows, H, P]: of the layer at work, P of the longest audio

	// The step's results.
	logits    []float32 // [wanted, V]
	alignment []float32 // [wanted, heads, P]
	out       whisper.Output
}

// Step implements whisper.Session.
func (s *session) Step(ctx context.Context, in []whisper.Input) (whisper.Output, error) {
	if err := s.check(in); err != nil {
		return whisper.Output{}, err
	}
	wanted := s.take(in)
	s.grow(wanted)
	s.embed()
	for i := range s.dec.blocks {
		if err := ctx.Err(); err != nil {
			return whisper.Output{}, err
		}
		s.block(i)
	}
	s.logits(wanted)
	return s.scratch.out, nil
}

func (s *session) check(in []whisper.Input) error {
	s.scratch.lengths = s.scratch.lengths[:0]
	for _, seq := range s.sequences {
		s.scratch.lengths = append(s.scratch.lengths, seq.length)
	}
	return whisper.CheckStep(s.dec.dims, s.scratch.lengths, in)
}

// take puts the inputs into the sequences and lists their tokens, and what they
// attend over. Neighbours that listen to the same audio do so together.
func (s *session) take(in []whisper.Input) (wanted int) {
	t := &s.scratch
	t.rows, t.self, t.cross = t.rows[:0], t.self[:0], t.cross[:0]
	var heard *audio
	for _, x := range in {
		seq := s.sequences[x.Sequence]
		s.dec.hold(seq, x.At, len(x.Tokens))
		for i, token := range x.Tokens {
			r := row{seq: seq, token: token, at: x.At + i, wanted: -1}
			if len(x.Tokens)-i <= x.Rows {
				r.wanted = wanted
				wanted++
			}
			t.rows = append(t.rows, r)
		}
		t.self = append(t.self, cpu.Query{Rows: len(x.Tokens), N: x.At + 1, Causal: true})
		if seq.audio != heard {
			heard = seq.audio
			t.cross = append(t.cross, cpu.Query{N: heard.positions})
		}
		t.cross[len(t.cross)-1].Rows += len(x.Tokens)
	}
	return wanted
}

// embed is token embedding plus position, into scratch.x.
func (s *session) embed() {
	width := s.dec.dims.TextState
	for i, r := range s.scratch.rows {
		x := s.scratch.x[i*width : (i+1)*width]
		s.dec.tokens.embed(r.token, x)
		cpu.AddF32(x, s.dec.positions[r.at*width:(r.at+1)*width])
	}
}

// block runs one layer over all rows, in place in scratch.x.
func (s *session) block(layer int) {
	b, pool, n := &s.dec.blocks[layer], s.dec.pool, len(s.scratch.rows)
	width := s.dec.dims.TextState
	x, y, wide := s.scratch.x[:n*width], s.scratch.y[:n*width], s.scratch.wide

	b.norm.apply(pool, y, x)
	b.attn.qkv.apply(pool, wide, y, n)
	s.selfAttend(layer, y, wide)
	b.attn.out.apply(pool, wide, y, n)
	pool.AddF32(x, wide[:len(x)])

	b.crossNorm.apply(pool, y, x)
	b.cross.query.apply(pool, wide, y, n)
	s.crossAttend(layer, y, wide)
	b.cross.out.apply(pool, wide, y, n)
	pool.AddF32(x, wide[:len(x)])

	b.mlp.add(pool, x, y, wide[:n*4*width], n)
}

// selfAttend puts the rows' keys and values into their sequences' caches and attends
// over what each sequence holds up to the row: qkv [rows, 3D] → out [rows, D].
func (s *session) selfAttend(layer int, out, qkv []float32) {
	width, from := s.dec.dims.TextState, 0
	for i := range s.scratch.self {
		query, r := &s.scratch.self[i], s.scratch.rows[from]
		query.Cache = r.seq.caches[layer]
		kv := qkv[from*3*width:]
		s.dec.pool.PutKV(query.Cache, r.at, query.Rows, kv[width:], 3*width, kv[2*width:], 3*width)
		from += query.Rows
	}
	s.dec.pool.AttendF32(out, width, qkv, 3*width, s.scratch.self, nil, 0)
}

// crossAttend attends over each row's audio: q [rows, D] → out [rows, D]. It keeps
// the weights of the alignment heads for the rows that are wanted.
func (s *session) crossAttend(layer int, out, q []float32) {
	width, from := s.dec.dims.TextState, 0
	for i := range s.scratch.cross {
		query := &s.scratch.cross[i]
		query.Cache = s.scratch.rows[from].seq.audio.caches[layer]
		from += query.Rows
	}
	aligned := func(h whisper.Head) bool { return h.Layer == layer }
	if len(s.scratch.out.Alignment) == 0 || !slices.ContainsFunc(s.scratch.rows, func(r row) bool { return slices.ContainsFunc(r.seq.heads, aligned) }) {
		s.dec.pool.AttendF32(out, width, q, width, s.scratch.cross, nil, 0)
		return
	}
	heads, longest := s.dec.dims.TextHeads, s.longest()
	s.dec.pool.AttendF32(out, width, q, width, s.scratch.cross, s.scratch.weights, longest)
	for i, r := range s.scratch.rows {
		for j, h := range r.seq.heads {
			if r.wanted >= 0 && aligned(h) {
				n := r.seq.audio.positions
				copy(s.scratch.out.Alignment[r.wanted][j*n:(j+1)*n], s.scratch.weights[(i*heads+h.Head)*longest:])
			}
		}
	}
}

// logits projects the wanted rows onto the vocabulary.
func (s *session) logits(wanted int) {
	if wanted == 0 {
		return
	}
	width := s.dec.dims.TextState
	hidden := s.scratch.y[:wanted*width]
	for i, r := range s.scratch.rows {
		if r.wanted >= 0 {
			copy(hidden[r.wanted*width:], s.scratch.x[i*width:(i+1)*width])
		}
	}
	s.dec.post.apply(s.dec.pool, hidden, hidden)
	s.dec.tokens.logits(s.dec.pool, s.scratch.logits, hidden, wanted)
}

// grow makes room for the rows listed and for the results of those wanted.
func (s *session) grow(wanted int) {
	t, d := &s.scratch, s.dec.dims
	rows := len(t.rows)
	t.x = atLeast(t.x, rows*d.TextState)
	t.y = atLeast(t.y, rows*d.TextState)
	t.wide = atLeast(t.wide, rows*4*d.TextState)

	t.logits = atLeast(t.logits, wanted*d.Vocab)
	t.out.Logits = t.out.Logits[:0]
	for i := range wanted {
		t.out.Logits = append(t.out.Logits, t.logits[i*d.Vocab:(i+1)*d.Vocab])
	}

	t.out.Alignment = t.out.Alignment[:0]
	size := 0
	for _, r := range t.rows {
		if r.wanted >= 0 {
			size += len(r.seq.heads) * r.seq.audio.positions
		}
	}
	if size == 0 {
		return
	}
	t.weights = atLeast(t.weights, rows*d.TextHeads*s.longest())
	t.alignment = atLeast(t.alignment, size)
	rest := t.alignment
	for _, r := range t.rows {
		if r.wanted >= 0 {
			n := len(r.seq.heads) * r.seq.audio.positions
			t.out.Alignment = append(t.out.Alignment, rest[:n])
			rest = rest[n:]
		}
	}
}

// longest is the number of positions of the longest audio that rows listen to.
func (s *session) longest() int {
	n := 0
	for _, r := range s.scratch.rows {
		n = max(n, r.seq.audio.positions)
	}
	return n
}

// atLeast returns x, or a larger one if it is shorter than n.
func atLeast(x []float32, n int) []float32 {
	if len(x) < n {
		return make([]float32, n)
	}
	return x
}

// Select implements whisper.Session. A sequence that goes on alone keeps its
// cache; only further copies are copied.
func (s *session) Select(from []int) error {
	if err := whisper.CheckSelect(len(s.sequences), from); err != nil {
		return err
	}
	taken := make([]bool, len(s.sequences))
	chosen := make([]*sequence, len(from))
	for i, f := range from {
		if !taken[f] {
			chosen[i], taken[f] = s.sequences[f], true
		}
	}
	for i, seq := range s.sequences {
		if !taken[i] {
			s.dec.freeSequences = append(s.dec.freeSequences, seq)
		}
	}
	for i, f := range from {
		if chosen[i] == nil {
			chosen[i] = s.dec.clone(s.sequences[f])
		}
	}
	s.sequences = chosen
	return nil
}

// Close implements whisper.Session.
func (s *session) Close() error {
	s.dec.release(s.audios, s.sequences)
	s.audios, s.sequences, s.scratch = nil, nil, stepScratch{}
	return nil
}
