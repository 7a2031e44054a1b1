package backendtest

import (
	"context"
	"errors"
	"testing"

	"earshot/whisper"
)

// sessionsTogether steps three sessions as one, where the decoder can, and each alone:
// equal to the last bit. They differ in their windows, in how many sequences they
// have and in what is asked of them; one joins late and one leaves early.
func (s suite) sessionsTogether(t *testing.T) {
	joiner, ok := s.Decoder.(whisper.Joiner)
	if !ok {
		t.Log("this decoder steps each session for itself")
		return
	}
	aligned := whisper.SessionOptions{Alignment: []whisper.Head{{Layer: 0, Head: s.dims.TextHeads - 1}}}
	open := func() []whisper.Session {
		all := []whisper.Session{
			s.begin(t, s.Backend, aligned, 20),
			s.begin(t, s.Backend, whisper.SessionOptions{}, 2*s.dims.AudioCtx),
			s.begin(t, s.Backend, aligned, 46, 30),
		}
		if err := all[1].Select([]int{0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	type call struct {
		session int
		in      []whisper.Input
	}
	together, alone := open(), open()
	for round, calls := range [][]call{
		{{2, []whisper.Input{{Sequence: 1, Tokens: s.tokens(1, 3), Rows: 3}, {Tokens: s.tokens(2, 2)}}}},
		{{0, []whisper.Input{{Tokens: s.tokens(3, 5), Rows: 1}}}, {2, []whisper.Input{{Sequence: 0, At: 2, Tokens: s.tokens(4, 1), Rows: 1}}}},
		{{1, []whisper.Input{{Sequence: 2, Tokens: s.tokens(5, 2), Rows: 2}, {Tokens: s.tokens(6, 1), Rows: 1}}}, {0, []whisper.Input{{At: 5, Tokens: s.tokens(7, 1)}}},
			{2, []whisper.Input{{Sequence: 1, At: 1, Tokens: s.tokens(8, 1), Rows: 1}}}},
		{{1, []whisper.Input{{At: 1, Tokens: s.tokens(9, 1), Rows: 1}}}, {0, []whisper.Input{{At: 6, Tokens: s.tokens(10, 2), Rows: 2}}}},
	} {
		var sessions []whisper.Session
		var in [][]whisper.Input
		for _, c := range calls {
			sessions, in = append(sessions, together[c.session]), append(in, c.in)
		}
		got, err := joiner.StepAll(ctx, sessions, in)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range calls {
			want := step(t, alone[c.session], c.in...)
			if len(got[i].Logits) != len(want.Logits) || len(got[i].Alignment) != len(want.Alignment) {
				t.Fatalf("round %d: session %d has %d rows and %d of alignment, want %d and %d", round, c.session,
					len(got[i].Logits), len(got[i].Alignment), len(want.Logits), len(want.Alignment))
			}
			for r := range want.Logits {
				same(t, "logits", got[i].Logits[r], want.Logits[r])
			}
			for r := range want.Alignment {
				same(t, "alignment", got[i].Alignment[r], want.Alignment[r])
			}
		}
	}
	s.togetherRefuses(t, joiner, together, alone)
}

// togetherRefuses sees that an input refused in one session changes nothing in any.
func (s suite) togetherRefuses(t *testing.T, joiner whisper.Joiner, together, alone []whisper.Session) {
	good := []whisper.Input{{At: 8, Tokens: []int{1}, Rows: 1}}
	for name, bad := range map[string][]whisper.Input{
		"no such sequence": {{Sequence: 2, Tokens: []int{1}}}, // as the one behind it has
		"hole":             {{Sequence: 1, At: 9, Tokens: []int{1}}},
	} {
		for _, order := range [][2]int{{0, 2}, {2, 0}} {
			in := [][]whisper.Input{good, bad}
			if order[0] == 2 {
				in = [][]whisper.Input{bad, good}
			}
			if _, err := joiner.StepAll(ctx, []whisper.Session{together[order[0]], together[order[1]]}, in); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
	next := []whisper.Input{{At: 8, Tokens: []int{2}, Rows: 1}}
	got, err := joiner.StepAll(ctx, together[:1], [][]whisper.Input{next})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "logits after refused steps", got[0].Logits[0], step(t, alone[0], next...).Logits[0])

	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := joiner.StepAll(stopped, together[:1], [][]whisper.Input{next}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v", err)
	}
}
