package backendtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"earshot/whisper"
)

// tokens makes up n tokens of the vocabulary, differing with seed.
func (s suite) tokens(seed, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = (seed*7919 + i*i*31 + i*101) % s.dims.Vocab
	}
	return list
}

// copied keeps a row past the next step, which may overwrite it.
func copied(rows [][]float32) [][]float32 {
	out := make([][]float32, len(rows))
	for i, r := range rows {
		out[i] = slices.Clone(r)
	}
	return out
}

func (s suite) decoderValues(t *testing.T) {
	got := s.begin(t, s.Backend, whisper.SessionOptions{}, 2*s.dims.AudioCtx)
	want := s.begin(t, s.ref, whisper.SessionOptions{}, 2*s.dims.AudioCtx)
	at := 0
	for i, n := range []int{4, 1, 1, 1, 7, 1} {
		in := whisper.Input{At: at, Tokens: s.tokens(i, n), Rows: n}
		g, w := step(t, got, in), step(t, want, in)
		for r := range g.Logits {
			s.near(t, "logits", g.Logits[r], w.Logits[r])
		}
		if g.Alignment != nil {
			t.Error("alignment that was not asked for")
		}
		at += n
	}
}

func (s suite) alignment(t *testing.T) {
	last := s.dims.TextLayers - 1
	opts := whisper.SessionOptions{Alignment: []whisper.Head{{Layer: last, Head: 0}, {Layer: 0, Head: s.dims.TextHeads - 1}}}
	const frames = 38
	got, want := s.begin(t, s.Backend, opts, frames), s.begin(t, s.ref, opts, frames)
	in := whisper.Input{Tokens: s.tokens(1, 5), Rows: 2}
	g, w := step(t, got, in), step(t, want, in)
	if len(g.Alignment) != 2 {
		t.Fatalf("%d alignment rows, want 2", len(g.Alignment))
	}
	for r := range g.Alignment {
		s.near(t, "alignment", g.Alignment[r], w.Alignment[r])
		for h := range opts.Alignment {
			var sum float64
			for _, v := range g.Alignment[r][h*frames/2 : (h+1)*frames/2] {
				sum += float64(v)
			}
			if math.Abs(sum-1) > 1e-4 {
				t.Errorf("row %d, head %d: weights sum to %g", r, h, sum)
			}
		}
	}
}

func (s suite) promptPieces(t *testing.T) {
	tokens := s.tokens(3, 9)
	whole := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	want := step(t, whole, whisper.Input{Tokens: tokens, Rows: len(tokens)}).Logits
	single := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	for i := range tokens {
		got := step(t, single, whisper.Input{At: i, Tokens: tokens[i : i+1], Rows: 1})
		same(t, "logits", got.Logits[0], want[i])
	}
}

// company decodes three sequences together, over windows of their own, and each
// alone: equal to the last bit.
func (s suite) company(t *testing.T) {
	frames := []int{20, 2 * s.dims.AudioCtx, 46}
	together := s.begin(t, s.Backend, whisper.SessionOptions{}, frames...)
	var rounds [][][]float32
	lengths := [][]int{{3, 1, 1}, {5, 1, 2}, {3, 1, 1}} // by sequence, by round
	at := []int{0, 0, 0}
	for round := range 3 {
		var in []whisper.Input
		for i := range frames {
			q := (i + round) % len(frames) // the order of inputs is free
			n := lengths[q][round]
			in = append(in, whisper.Input{Sequence: q, At: at[q], Tokens: s.tokens(q*10+round, n), Rows: 1})
			at[q] += n
		}
		out := copied(step(t, together, in...).Logits)
		ordered := make([][]float32, len(frames))
		for i, x := range in {
			ordered[x.Sequence] = out[i]
		}
		rounds = append(rounds, ordered)
	}
	for q := range frames {
		alone := s.begin(t, s.Backend, whisper.SessionOptions{}, frames[q])
		at := 0
		for round := range 3 {
			n := lengths[q][round]
			got := step(t, alone, whisper.Input{At: at, Tokens: s.tokens(q*10+round, n), Rows: 1})
			same(t, "logits", got.Logits[0], rounds[round][q])
			at += n
		}
	}
}

// selects widens, reorders and narrows; each sequence goes on as its parent would
// have, and copies do not touch each other.
func (s suite) selects(t *testing.T) {
	session := s.begin(t, s.Backend, whisper.SessionOptions{}, 20, 30)
	a, b := s.tokens(1, 4), s.tokens(2, 2)
	step(t, session, whisper.Input{Sequence: 0, Tokens: a}, whisper.Input{Sequence: 1, Tokens: b})
	if err := session.Select([]int{1, 0, 0}); err != nil {
		t.Fatal(err)
	}
	next := []int{5, 6, 7}
	got := copied(step(t, session,
		whisper.Input{Sequence: 0, At: 2, Tokens: next[:1], Rows: 1},
		whisper.Input{Sequence: 1, At: 4, Tokens: next[1:2], Rows: 1},
		whisper.Input{Sequence: 2, At: 4, Tokens: next[2:], Rows: 1}).Logits)
	got = append(got, copied(step(t, session,
		whisper.Input{Sequence: 1, At: 5, Tokens: []int{9}, Rows: 1},
		whisper.Input{Sequence: 2, At: 5, Tokens: []int{8}, Rows: 1}).Logits)...)
	if err := session.Select([]int{2}); err != nil {
		t.Fatal(err)
	}
	got = append(got, step(t, session, whisper.Input{At: 6, Tokens: []int{4}, Rows: 1}).Logits[0])

	for i, c := range []struct {
		frames int
		tokens []int
	}{{30, append(slices.Clone(b), 5)}, {20, append(slices.Clone(a), 6)}, {20, append(slices.Clone(a), 7)},
		{20, append(slices.Clone(a), 6, 9)}, {20, append(slices.Clone(a), 7, 8)}, {20, append(slices.Clone(a), 7, 8, 4)}} {
		alone := s.begin(t, s.Backend, whisper.SessionOptions{}, c.frames)
		same(t, "logits", got[i], step(t, alone, whisper.Input{Tokens: c.tokens, Rows: 1}).Logits[0])
	}
	for _, bad := range [][]int{nil, {1}, {-1}} {
		if session.Select(bad) == nil {
			t.Errorf("select %v of one sequence: no error", bad)
		}
	}
}

func (s suite) takesBack(t *testing.T) {
	session := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	kept, draft, better := s.tokens(1, 4), s.tokens(2, 3), s.tokens(3, 2)
	step(t, session, whisper.Input{Tokens: kept})
	step(t, session, whisper.Input{At: 4, Tokens: draft, Rows: 3})
	got := step(t, session, whisper.Input{At: 4, Tokens: better, Rows: 1})
	alone := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	want := step(t, alone, whisper.Input{Tokens: append(slices.Clone(kept), better...), Rows: 1})
	same(t, "logits", got.Logits[0], want.Logits[0])
}

// lastPosition fills a sequence token by token, through every growth of its cache.
func (s suite) lastPosition(t *testing.T) {
	n := s.dims.TextCtx
	tokens := s.tokens(4, n)
	session := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	var got whisper.Output
	for i := range tokens {
		got = step(t, session, whisper.Input{At: i, Tokens: tokens[i : i+1], Rows: 1})
	}
	alone := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	want := step(t, alone, whisper.Input{Tokens: tokens, Rows: 1})
	same(t, "logits at the last position", got.Logits[0], want.Logits[0])
	if _, err := session.Step(ctx, []whisper.Input{{At: n, Tokens: []int{1}}}); err == nil {
		t.Error("a token past the last position: no error")
	}
}

// decoderRefuses sees that a refused step leaves the session as it was.
func (s suite) decoderRefuses(t *testing.T) {
	session := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	step(t, session, whisper.Input{Tokens: []int{1, 2}})
	for name, bad := range map[string][]whisper.Input{
		"no such sequence": {{Sequence: 1, Tokens: []int{1}}},
		"twice":            {{At: 2, Tokens: []int{1}}, {At: 3, Tokens: []int{1}}},
		"hole":             {{At: 3, Tokens: []int{1}}},
		"no tokens":        {{At: 2}},
		"unknown token":    {{At: 2, Tokens: []int{s.dims.Vocab}}},
		"negative token":   {{At: 2, Tokens: []int{-1}}},
		"too many rows":    {{At: 2, Tokens: []int{1}, Rows: 2}},
		"second is bad":    {{At: 0, Tokens: []int{9}}, {Sequence: 7, Tokens: []int{1}}},
	} {
		if _, err := session.Step(ctx, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	got := step(t, session, whisper.Input{At: 2, Tokens: []int{3}, Rows: 1})
	alone := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	want := step(t, alone, whisper.Input{Tokens: []int{1, 2, 3}, Rows: 1})
	same(t, "logits after refused steps", got.Logits[0], want.Logits[0])

	audio := s.encode(t, s.ref, 20)
	head := func(layer, head int) whisper.SessionOptions {
		return whisper.SessionOptions{Alignment: []whisper.Head{{Layer: layer, Head: head}}}
	}
	for name, begin := range map[string]func() (whisper.Session, error){
		"no audio": func() (whisper.Session, error) { return s.Decoder.Begin(ctx, nil, whisper.SessionOptions{}) },
		"short audio": func() (whisper.Session, error) {
			return s.Decoder.Begin(ctx, []whisper.Encoded{{Positions: 10, Data: audio.Data[1:]}}, whisper.SessionOptions{})
		},
		"no such layer": func() (whisper.Session, error) {
			return s.Decoder.Begin(ctx, []whisper.Encoded{audio}, head(s.dims.TextLayers, 0))
		},
		"no such head": func() (whisper.Session, error) {
			return s.Decoder.Begin(ctx, []whisper.Encoded{audio}, head(0, s.dims.TextHeads))
		},
	} {
		if _, err := begin(); err == nil {
			t.Errorf("begin with %s: no error", name)
		}
	}
}

func (s suite) decoderInterrupted(t *testing.T) {
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := s.Decoder.Begin(stopped, []whisper.Encoded{s.encode(t, s.ref, 20)}, whisper.SessionOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("begin: got %v", err)
	}
	session := s.begin(t, s.Backend, whisper.SessionOptions{}, 20)
	if _, err := session.Step(stopped, []whisper.Input{{Tokens: []int{1}, Rows: 1}}); !errors.Is(err, context.Canceled) {
		t.Errorf("step: got %v", err)
	}
}
