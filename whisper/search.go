package whisper

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// search decodes one window. It is used once.
type search struct {
	session   Session
	filter    filter
	end       int // end-of-text
	prompt    int // tokens in front of the text
	limit     int // tokens that the text may have
	guard     bool
	short     bool // the window is shorter than the model's own
	positions int  // of the window
	alike     func(a, b int) bool
	room      int // tokens that the voiced sound can hold; repeats up to there may be spoken
	random    *rand.Rand
	partial   func(text []int)
	align     int // positions that word times may lie at; 0 where nobody asks for them

	logSumExp func(x []float32) float64
}

// start is what the decoder said behind the prompt.
type start struct {
	logits    []float32
	attention []float32
}

// run decodes the window and returns the likeliest text by mean log-probability
// (MaximumLikelihoodRanker in decoding.py, without length penalty). One that looped
// is returned only where all did, or in a short window, where a longer one is the
// remedy and the others may be the same text with something at its end that made the
// guard miss it.
func (s *search) run(ctx context.Context, from start, beam int, temperature float64) (*hypothesis, error) {
	var texts []*hypothesis
	var err error
	first := s.row(nil, from.attention)
	switch {
	case temperature > 0:
		texts, err = s.sample(ctx, from.logits, nil, candidates, temperature)
	case beam > 1:
		texts, err = s.beam(ctx, from.logits, beam)
	default:
		texts, err = s.sample(ctx, from.logits, first, 1, 0)
	}
	if err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, errors.New("decode: every token is suppressed")
	}
	best := slices.MaxFunc(texts, func(a, b *hypothesis) int {
		if loops := a.stop == Looped; loops != (b.stop == Looped) && !s.short {
			return map[bool]int{true: -1, false: 1}[loops]
		}
		return cmp.Compare(a.mean(), b.mean())
	})
	if s.align > 0 && best.attention == nil {
		err = s.attend(ctx, best, first)
	}
	return best, err
}

// attendTokens bounds what attend has in memory: each token of a step has logits, and so
// had each candidate.
const attendTokens = candidates

// attend finds the alignment of a text that was decoded beside others: it is read to the
// decoder again, behind the prompt. The rows of all texts together would take more
// memory than the decoder. first is the row behind the prompt.
func (s *search) attend(ctx context.Context, h *hypothesis, first [][]float32) error {
	h.attention = first
	if err := s.session.Select([]int{0}); err != nil {
		return err
	}
	rest := h.tokens
	if h.stop == Capped {
		rest = rest[:len(rest)-1] // as if it had been alone
	}
	for at := s.prompt; len(rest) > 0; {
		n := min(len(rest), attendTokens)
		out, err := s.session.Step(ctx, []Input{{At: at, Tokens: rest[:n], Rows: n}})
		if err != nil {
			return err
		}
		for _, row := range out.Alignment {
			h.attention = s.row(h.attention, row)
		}
		at, rest = at+n, rest[n:]
	}
	return nil
}

// sample decodes n texts, each token drawn with the given temperature, and returns
// them all (GreedyDecoder in decoding.py). At temperature 0 the likeliest token is
// taken, and n is 1. attention is where the text's alignment begins, or nil where it is
// not to be kept.
func (s *search) sample(ctx context.Context, from []float32, attention [][]float32, n int, temperature float64) ([]*hypothesis, error) {
	live := make([]*hypothesis, n)
	for i := range live {
		live[i] = &hypothesis{attention: attention}
	}
	if n > 1 {
		if err := s.session.Select(make([]int, n)); err != nil {
			return nil, err
		}
	}
	var done []*hypothesis
	logits := slices.Repeat([][]float32{from}, n)
	for {
		var next []*hypothesis
		var keep []int
		for i, h := range live {
			row := logits[i]
			if n > 1 && len(h.tokens) == 0 {
				row = slices.Clone(row) // the rows of the first step are one
			}
			s.filter.apply(row, h.tokens)
			token := s.draw(row, temperature)
			h.logProbs = append(h.logProbs, float64(row[token])-s.logSumExp(row))
			if token == s.end {
				h.stop = EndOfText
			} else {
				h.tokens = append(h.tokens, token)
				s.bound(h)
			}
			if h.stop != "" {
				done = append(done, h)
				continue
			}
			next, keep = append(next, h), append(keep, i)
		}
		if s.partial != nil && n == 1 {
			s.partial(slices.Concat(next, done)[0].tokens)
		}
		if len(next) == 0 {
			return done, nil
		}
		var err error
		if logits, err = s.step(ctx, live, next, keep); err != nil {
			return nil, err
		}
		live = next
	}
}

// draw chooses a token from filtered logits.
func (s *search) draw(logits []float32, temperature float64) int {
	if temperature == 0 {
		return argmax(logits)
	}
	// Tokens more than 30 temperatures below the likeliest are as good as never drawn.
	largest := float64(logits[argmax(logits)])
	weight := func(v float32) float64 {
		if x := (float64(v) - largest) / temperature; x > -30 {
			return math.Exp(x)
		}
		return 0
	}
	var sum float64
	for _, v := range logits {
		sum += weight(v)
	}
	at := s.random.Float64() * sum
	for i, v := range logits {
		if at -= weight(v); at < 0 {
			return i
		}
	}
	return argmax(logits)
}

// beam keeps the size likeliest texts at each step, and ends when patience·size of
// them have ended (BeamSearchDecoder in decoding.py; Kasai et al. 2022 for the
// patience, which is 1 here).
func (s *search) beam(ctx context.Context, from []float32, size int) ([]*hypothesis, error) {
	live, logits := []*hypothesis{{}}, [][]float32{from}
	var done []*hypothesis
	for {
		next, parents, ended := s.extend(live, logits, size)
		done = append(done, ended...)
		if s.partial != nil && len(next) > 0 {
			s.partial(next[0].tokens)
		}
		if len(done) >= size || len(next) == 0 {
			return atLeastOne(done, next), nil
		}
		var err error
		if logits, err = s.step(ctx, live, next, parents); err != nil {
			return nil, err
		}
		live = next
	}
}

func atLeastOne(done, live []*hypothesis) []*hypothesis {
	if len(done) > 0 {
		return done
	}
	return live
}

// extend gives the likeliest continuations of all beams: those that go on, at most
// size of them with the index of the beam they come from, and those that ended and
// were likelier than the last of these.
func (s *search) extend(live []*hypothesis, logits [][]float32, size int) (next []*hypothesis, parents []int, ended []*hypothesis) {
	type candidate struct {
		beam, token  int
		logProb, sum float64
	}
	var all []candidate
	for i, h := range live {
		row := logits[i]
		s.filter.apply(row, h.tokens)
		total := s.logSumExp(row)
		for _, t := range largest(row, size+1) {
			p := float64(row[t]) - total
			all = append(all, candidate{i, t, p, h.sum() + p})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.sum, a.sum) })
	for _, c := range all {
		if len(next) == size {
			break
		}
		if c.token == s.end {
			h := live[c.beam].with(0, c.logProb)
			h.tokens = h.tokens[:len(h.tokens)-1]
			h.stop = EndOfText
			ended = append(ended, h)
			continue
		}
		h := live[c.beam].with(c.token, c.logProb)
		if s.bound(h); h.stop != "" {
			ended = append(ended, h)
			continue
		}
		next, parents = append(next, h), append(parents, c.beam)
	}
	return next, parents, ended
}

// largest returns the indices of the n largest finite values, largest first.
func largest(x []float32, n int) []int {
	top := make([]int, 0, n+1)
	for i, v := range x {
		if v == never || len(top) == n && v <= x[top[n-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, v, func(j int, v float32) int {
			if x[j] >= v {
				return -1
			}
			return 1
		})
		top = slices.Insert(top, at, i)
		if len(top) > n {
			top = top[:n]
		}
	}
	return top
}

// bound ends a text that loops or has reached the limit.
func (s *search) bound(h *hypothesis) {
	if s.guard && s.short {
		if keep, again := cutRepeat(h.tokens, s.alike); again {
			h.cut(keep)
			h.stop = Looped
			return
		}
	}
	if keep, looped := cutLoop(h.tokens); looped && s.guard && len(h.tokens) > s.room {
		h.cut(keep)
		h.stop = Looped
		return
	}
	if len(h.tokens) >= s.limit {
		h.stop = Capped
	}
}

// step feeds the last token of each text in next, which continues sequence
// parents[i] of the session, and returns the logits behind it.
func (s *search) step(ctx context.Context, live, next []*hypothesis, parents []int) ([][]float32, error) {
	if len(next) != len(live) || !inOrder(parents) {
		if err := s.session.Select(parents); err != nil {
			return nil, err
		}
	}
	in := make([]Input, len(next))
	for i, h := range next {
		n := len(h.tokens)
		in[i] = Input{Sequence: i, At: s.prompt + n - 1, Tokens: h.tokens[n-1:], Rows: 1}
	}
	out, err := s.session.Step(ctx, in)
	if err != nil {
		return nil, err
	}
	for i, h := range next {
		if h.attention != nil {
			h.attention = s.row(h.attention, out.Alignment[i])
		}
	}
	return out.Logits, nil
}

func inOrder(parents []int) bool {
	for i, p := range parents {
		if i != p {
			return false
		}
	}
	return true
}

// row appends a copy of one alignment row [heads, positions] up to position align of each
// head; the session may reuse its own.
func (s *search) row(rows [][]float32, row []float32) [][]float32 {
	if s.align == 0 {
		return nil
	}
	heads := len(row) / s.positions
	used := make([]float32, heads*s.align)
	for h := range heads {
		copy(used[h*s.align:(h+1)*s.align], row[h*s.positions:])
	}
	return append(rows, used)
}
