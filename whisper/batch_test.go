package whisper_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
	"earshot/whisper/ref"
)

// Pieces decoded together give what they give one after the other, to the last bit.

// hearPieces transcribes pieces with so much room. What depends on the clock is left
// out.
func hearPieces(t *testing.T, l whisper.Listener, pieces [][]float32) []whisper.Heard {
	t.Helper()
	var all []whisper.Heard
	buf := make([]float32, whisper.WindowSeconds*whisper.SampleRate)
	err := l.Pieces(context.Background(), func(_ context.Context, more func(whisper.Piece) bool) error {
		for _, x := range pieces {
			n := copy(buf, x) // as a reader does that uses its buffer again
			more(whisper.Piece{Samples: buf[:n], Breaks: []float64{1}, Done: func(h whisper.Heard, err error) error {
				h.EncodeTime, h.DecodeTime = 0, 0
				all = append(all, h)
				return err
			}})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func compareHeard(t *testing.T, name string, got, want []whisper.Heard) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d pieces, want %d", name, len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s, piece %d:\n got %+v\nwant %+v", name, i, got[i], want[i])
		}
	}
}

// shape makes features of a small model up from samples. Like the real extractor it
// uses its memory again.
type shape struct {
	bands int
	buf   []float32
}

func (s *shape) LogMel(samples []float32, frames int) []float32 {
	s.buf = append(s.buf[:0], make([]float32, s.bands*frames)...)
	for i := range s.buf {
		s.buf[i] = samples[i*37%len(samples)] * float32(1+i%5)
	}
	return s.buf
}

func TestPiecesTogether(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	pool := cpu.NewPool(2)
	defer pool.Close()
	tokenizer, err := m.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	network, err := oncpu.New(m, pool, oncpu.Int8)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := ref.New(m) // steps each session for itself
	if err != nil {
		t.Fatal(err)
	}
	var pieces [][]float32
	for i := range 5 {
		x := make([]float32, 80000+1500*i) // beyond the model's 1.5 s: the rest is encoded once more
		for j := range x[8000*i:] {
			x[8000*i+j] = float32((j*j/7+j*(i+3))%2001-1000) / 2000
		}
		pieces = append(pieces, x)
	}
	for name, opts := range map[string]whisper.Options{
		"greedy":       {Temperatures: []float64{0}},
		"words":        {Language: "en", Words: true, Temperatures: []float64{0}},
		"temperatures": {Temperatures: []float64{0, 0.6}},
		"beam":         {Beam: 3, Words: true, RawWords: true, Temperatures: []float64{0}},
		"bare":         {NoGuards: true, Temperatures: []float64{0.4}, MaxTokens: 9},
	} {
		for backend, d := range map[string]whisper.Decoder{"oncpu": network.Decoder, "ref": slow} {
			if backend == "ref" && name != "greedy" {
				continue
			}
			l := whisper.Listener{Options: opts, Engine: &whisper.Engine{
				Dims: whisper.Dims(m.Header.Dims), Tokenizer: tokenizer, Features: &shape{bands: m.Header.Dims.Mels}, Encoder: network.Encoder, Decoder: d,
				AlignmentHeads: []whisper.Head{{Layer: 1, Head: 2}, {Layer: 2, Head: 0}},
			}}
			want := hearPieces(t, l, pieces)
			for _, room := range []int{450, 1 << 20} { // two or three pieces, and all
				l.Batch = whisper.NewBatch(l.Engine, room)
				compareHeard(t, fmt.Sprintf("%s, %s, room %d", name, backend, room), hearPieces(t, l, pieces), want)
			}
		}
	}
}

// TestRealPiecesTogether does so with real models and real speech; base tells the
// language of each piece.
func TestRealPiecesTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real model")
	}
	for _, c := range []struct {
		model string
		files []string
		opts  []whisper.Options
	}{
		{"tiny.en", []string{"jfk/jfk.wav", "librispeech-test-other/367-130732-0001.flac", "librispeech-test-other/1688-142285-0003.flac"}, []whisper.Options{
			{Words: true}, {Temperatures: []float64{0.4}}}},
		{"base", []string{"azure-customspeech/fr-FR_training_audio2.flac", "jfk/jfk.wav"}, []whisper.Options{{Words: true}}},
	} {
		r := newRig(t, c.model)
		var pieces [][]float32
		for _, f := range c.files {
			x, _ := readClip(t, backendtest.Shared(t, "audio/"+f))
			pieces = append(pieces, x[:min(len(x), whisper.WindowSeconds*whisper.SampleRate)])
		}
		for i, opts := range c.opts {
			l := whisper.Listener{Options: opts, Engine: r.engine}
			want := hearPieces(t, l, pieces)
			l.Batch = whisper.NewBatch(l.Engine, 1<<20)
			got := hearPieces(t, l, pieces)
			compareHeard(t, fmt.Sprintf("%s, options %d", c.model, i), got, want)
			for k, h := range got {
				if h.Text == "" {
					t.Errorf("%s, options %d: %s has no text", c.model, i, c.files[k])
				}
			}
		}
	}
}
