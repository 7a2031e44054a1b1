package whisper

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// bilingual is a watched stub whose windows are in turn: a piece in English up to its
// middle and in Chinese from there on, what of it is English, and the rest. Of the two
// languages, the second is marked in what is encoded.
type bilingual struct{ *watched }

const secondLanguage = 0.5

func (b bilingual) Encode(ctx context.Context, mel Mel) (Encoded, error) {
	enc, err := b.stub.Encode(ctx, mel)
	from := [...]int{325, enc.Positions, 0}[b.window%3]
	for i := from; i < enc.Positions; i++ {
		enc.Data[i] += secondLanguage
	}
	return enc, err
}

func (b bilingual) Begin(ctx context.Context, audios []Encoded, opts SessionOptions) (Session, error) {
	s, err := b.watched.Begin(ctx, audios, opts)
	if err != nil {
		return nil, err
	}
	first := audios[0].Data[0]
	return bilingualSession{s, b.tok.FirstLanguage, first != float32(int(first))}, nil
}

type bilingualSession struct {
	Session
	language int
	second   bool
}

func (s bilingualSession) Step(ctx context.Context, in []Input) (Output, error) {
	out, err := s.Session.Step(ctx, in)
	if err == nil && s.second {
		out.Logits[0][s.language+1] = 20
	} else if err == nil {
		out.Logits[0][s.language] = 20
	}
	return out, err
}

// TestPiecesInTwoLanguages hears another language begin in the middle of every piece, and
// has the second piece's first half fail, or its rest.
func TestPiecesInTwoLanguages(t *testing.T) {
	sound := slices.Concat(voice(6), quiet(1), voice(6))
	broken := errors.New("it is broken")
	all := []string{"en number 1", "zh number 2", "en number 4", "zh number 5", "en number 7", "zh number 8"}
	for _, room := range []int{0, 4000} {
		for bad, want := range map[int][]string{-1: all, 4: all[:2], 5: all[:2]} {
			w, e := newWatched(t)
			w.broken = map[int]error{bad: broken}
			e.Encoder, e.Decoder = bilingual{w}, bilingual{w}
			var got []string
			err := (&Listener{Engine: e, Batch: batchOf(e, room)}).Pieces(context.Background(), func(_ context.Context, more func(Piece) bool) error {
				done := func(h Heard, err error) error {
					for _, s := range h.Segments {
						got = append(got, s.Language+" "+s.Text)
					}
					return err
				}
				for i := 0; i < 3 && more(Piece{Samples: sound, Done: done}); i++ {
				}
				return nil
			})
			if !slices.Equal(got, want) || (bad < 0) != (err == nil) || w.open != 0 {
				t.Errorf("room %d, window %d broken: got %q and %v, want %q; %d sessions left open", room, bad, got, err, want, w.open)
			}
		}
	}
}
