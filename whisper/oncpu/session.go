package oncpu

import (
	"context"

	"earshot/cpu"
	"earshot/whisper"
)

// session implements whisper.Session.
type session struct {
	dec       *Decoder
	sequences []*sequence
	scratch   stepScratch
}

// sequence is one token sequence with its self-attention cache.
type sequence struct {
	audio    *audio
	heads    []whisper.Head // whose alignment is wanted; nil for none
	length   int            // tokens held
	capacity int            // positions the caches have room for
	caches   []headCache
}

// row is one token on its way through a step.
type row struct {
	seq    *sequence
	token  int
	at     int // position in the sequence
	wanted int // index into the step's results, or -1
}

// stepScratch is reused from step to step; sizes are for `rows` rows.
type stepScratch struct {
	rows   int
	x, y   []float32   // [rows, D]
	wide   []float32   // [rows, 4D]
	scores [][]float32 // by head: [rows, AudioCtx], as both caches may be that long
	logits []float32   // [wanted, V]
}

// Step implements whisper.Session.
func (s *session) Step(ctx context.Context, in []whisper.Input) (whisper.Output, error) {
	if err := s.check(in); err != nil {
		return whisper.Output{}, err
	}
	rows, wanted := s.rows(in)
	s.scratch.grow(len(rows), s.dec.dims)
	alignment := newAlignment(rows, wanted)

	s.embed(rows)
	for i := range s.dec.blocks {
		if err := ctx.Err(); err != nil {
			return whisper.Output{}, err
		}
		s.block(i, rows, alignment)
	}
	return whisper.Output{Logits: s.logits(rows, wanted), Alignment: alignment}, nil
}

func (s *session) check(in []whisper.Input) error {
	lengths := make([]int, len(s.sequences))
	for i, seq := range s.sequences {
		lengths[i] = seq.length
	}
	return whisper.CheckStep(s.dec.dims, lengths, in)
}

// rows takes the inputs into the sequences and lists their tokens.
func (s *session) rows(in []whisper.Input) (rows []row, wanted int) {
	for _, x := range in {
		seq := s.sequences[x.Sequence]
		seq.length = x.At + len(x.Tokens)
		seq.grow(s.dec.dims)
		for i, token := range x.Tokens {
			r := row{seq: seq, token: token, at: x.At + i, wanted: -1}
			if len(x.Tokens)-i <= x.Rows {
				r.wanted = wanted
				wanted++
			}
			rows = append(rows, r)
		}
	}
	return rows, wanted
}

// embed is token embedding plus position, into scratch.x.
func (s *session) embed(rows []row) {
	width := s.dec.dims.TextState
	for i, r := range rows {
		x := s.scratch.x[i*width : (i+1)*width]
		s.dec.tokens.Row(r.token, x)
		cpu.AddF32(x, s.dec.positions[r.at*width:(r.at+1)*width])
	}
}

// block runs one layer over all rows, in place in scratch.x.
func (s *session) block(layer int, rows []row, alignment [][]float32) {
	b, pool, n := &s.dec.blocks[layer], s.dec.pool, len(rows)
	width := s.dec.dims.TextState
	x, y, wide := s.scratch.x[:n*width], s.scratch.y[:n*width], s.scratch.wide

	b.norm.apply(y, x)
	b.attn.qkv.apply(pool, wide, y, n)
	s.selfAttend(layer, rows, y, wide)
	b.attn.out.apply(pool, wide, y, n)
	cpu.AddF32(x, wide[:len(x)])

	b.crossNorm.apply(y, x)
	b.cross.query.apply(pool, wide, y, n)
	s.crossAttend(layer, rows, y, wide, alignment)
	b.cross.out.apply(pool, wide, y, n)
	cpu.AddF32(x, wide[:len(x)])

	b.mlp.add(pool, x, y, wide[:n*4*width], n)
}

// selfAttend puts each row's key and value into its sequence's cache and attends
// over what the sequence holds up to that row: qkv [rows, 3D] → out [rows, D].
// Tokens of one sequence come in order, so a row never sees a later one.
func (s *session) selfAttend(layer int, rows []row, out, qkv []float32) {
	width, heads := s.dec.dims.TextState, s.dec.dims.TextHeads
	d := width / heads
	s.dec.pool.Run(heads, func(h int) {
		for i, r := range rows {
			c := r.seq.caches[layer*heads+h]
			at := i*3*width + h*d
			c.keys.SetRow(r.at, qkv[at+width:at+width+d])
			c.values.SetCol(r.at, qkv[at+2*width:at+2*width+d])
			c.attend(out[i*width+h*d:i*width+(h+1)*d], qkv[at:at+d], s.scratch.scores[h], r.at+1)
		}
	})
}

// crossAttend attends over each row's audio: q [rows, D] → out [rows, D]. It keeps
// the weights of the alignment heads for the rows that are wanted.
func (s *session) crossAttend(layer int, rows []row, out, q []float32, alignment [][]float32) {
	width, heads := s.dec.dims.TextState, s.dec.dims.TextHeads
	d := width / heads
	s.dec.pool.Run(heads, func(h int) {
		scores := s.scratch.scores[h]
		for i, r := range rows {
			at, n := i*width+h*d, r.seq.audio.positions
			r.seq.audio.caches[layer*heads+h].attend(out[at:at+d], q[at:at+d], scores, n)
			if r.wanted < 0 {
				continue
			}
			for j, head := range r.seq.heads {
				if head.Layer == layer && head.Head == h {
					copy(alignment[r.wanted][j*n:(j+1)*n], scores)
				}
			}
		}
	})
}

// attend is softmax(q·Kᵀ)·V over the first n cached positions, for one row q [d];
// the weights stay in scores[:n].
func (c headCache) attend(out, q, scores []float32, n int) {
	d := len(q)
	cpu.GemmF32(scores, n, q, d, 1, c.keys, n, d, nil)
	cpu.SoftmaxF32(scores[:n])
	cpu.GemmF32(out, d, scores, n, 1, c.values, d, n, nil)
}

// logits projects the wanted rows onto the vocabulary.
func (s *session) logits(rows []row, wanted int) [][]float32 {
	if wanted == 0 {
		return nil
	}
	width, vocab := s.dec.dims.TextState, s.dec.dims.Vocab
	hidden := s.scratch.y[:wanted*width]
	for i, r := range rows {
		if r.wanted >= 0 {
			s.dec.post.apply(hidden[r.wanted*width:(r.wanted+1)*width], s.scratch.x[i*width:(i+1)*width])
		}
	}
	if len(s.scratch.logits) < wanted*vocab {
		s.scratch.logits = make([]float32, wanted*vocab)
	}
	s.dec.pool.GemmF32(s.scratch.logits, vocab, hidden, width, wanted, s.dec.tokens, vocab, width, nil)
	out := make([][]float32, wanted)
	for i := range out {
		out[i] = s.scratch.logits[i*vocab : (i+1)*vocab]
	}
	return out
}

// newAlignment makes room for the alignment heads' weights of the wanted rows. It is
// nil where no row has any.
func newAlignment(rows []row, wanted int) [][]float32 {
	var out [][]float32
	for _, r := range rows {
		if r.wanted < 0 || r.seq.heads == nil {
			continue
		}
		if out == nil {
			out = make([][]float32, wanted)
		}
		out[r.wanted] = make([]float32, len(r.seq.heads)*r.seq.audio.positions)
	}
	return out
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
		if taken[f] {
			continue
		}
		chosen[i], taken[f] = s.sequences[f], true
	}
	for i, f := range from {
		if chosen[i] == nil {
			chosen[i] = s.sequences[f].clone(s.dec.dims)
		}
	}
	s.sequences = chosen
	return nil
}

// Close implements whisper.Session.
func (s *session) Close() error {
	s.sequences, s.scratch = nil, stepScratch{}
	return nil
}

func (q *sequence) clone(d whisper.Dims) *sequence {
	c := &sequence{audio: q.audio, heads: q.heads, length: q.length}
	if q.caches == nil {
		return c
	}
	c.reserve(q.capacity, d)
	for i := range c.caches {
		c.caches[i].copyFrom(q.caches[i], q.length, d.TextState/d.TextHeads)
	}
	return c
}

// grow makes room for the sequence's length. Room is doubled: most utterances need
// a fraction of the 448 positions, and large models many caches.
func (q *sequence) grow(d whisper.Dims) {
	if q.length <= q.capacity {
		return
	}
	old, held := q.caches, q.capacity
	q.reserve(min(d.TextCtx, max(64, 2*q.capacity, q.length)), d)
	for i := range old {
		q.caches[i].copyFrom(old[i], held, d.TextState/d.TextHeads)
	}
}

func (q *sequence) reserve(capacity int, d whisper.Dims) {
	head := d.TextState / d.TextHeads
	q.capacity = capacity
	q.caches = make([]headCache, d.TextLayers*d.TextHeads)
	for i := range q.caches {
		q.caches[i] = headCache{cpu.NewPackedF32(capacity, head), cpu.NewPackedF32(head, capacity)}
	}
}

// copyFrom copies the first n positions of a head of width d.
func (c headCache) copyFrom(old headCache, n, d int) {
	c.keys.CopyFrom(old.keys, n, d)
	c.values.CopyFrom(old.values, d, n)
}

func (s *stepScratch) grow(rows int, d whisper.Dims) {
	if rows <= s.rows {
		return
	}
	s.rows = rows
	s.x = make([]float32, rows*d.TextState)
	s.y = make([]float32, rows*d.TextState)
	s.wide = make([]float32, rows*4*d.TextState)
	s.scores = make([][]float32, d.TextHeads)
	for h := range s.scores {
		s.scores[h] = make([]float32, max(d.AudioCtx, d.TextCtx))
	}
}
