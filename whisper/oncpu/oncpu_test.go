package oncpu_test

import (
	"context"
	"fmt"
	"testing"

	"earshot/audio/mel"
	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
)

// TestLargeV3 runs a window through a network with large-v3's bands and vocabulary.
func TestLargeV3(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.LargeV3)
	pool := cpu.NewPool(2)
	defer pool.Close()
	network, err := oncpu.New(m, pool, oncpu.Float32)
	if err != nil {
		t.Fatal(err)
	}
	features, err := mel.New(m.Header.Dims.Mels)
	if err != nil {
		t.Fatal(err)
	}
	tokenizer, err := m.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tokenizer.Languages()); n != 100 || tokenizer.FirstTimestamp != 50365 {
		t.Errorf("%d languages, timestamps from %d; large-v3 has 100, from 50365", n, tokenizer.FirstTimestamp)
	}
	engine := &whisper.Engine{
		Dims: whisper.Dims(m.Header.Dims), Tokenizer: tokenizer, Features: features, Encoder: network.Encoder, Decoder: network.Decoder,
		AlignmentHeads: []whisper.Head{{Layer: 0, Head: 1}},
	}
	for _, opts := range []whisper.Options{{Words: true}, {Timestamps: true, Words: true}, {Beam: 3}, {Language: "yue", Translate: true}} {
		opts.Temperatures = []float64{0, 1}
		r, err := engine.Transcribe(context.Background(), make([]float32, 16_000), opts)
		if err != nil {
			t.Fatalf("%+v: %v", opts, err)
		}
		if len(r.Tokens) == 0 || r.Language == "" {
			t.Errorf("%+v: %d tokens, language %q", opts, len(r.Tokens), r.Language)
		}
	}
}

func TestContract(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	for _, threads := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("%d threads", threads), func(t *testing.T) {
			pool := cpu.NewPool(threads)
			defer pool.Close()
			network, err := oncpu.New(m, pool, oncpu.Float32)
			if err != nil {
				t.Fatal(err)
			}
			// Sums of up to 240 values of size 1, each rounded to 24 bits, through 3 layers.
			backendtest.Run(t, m, backendtest.Backend{Encoder: network.Encoder, Decoder: network.Decoder, Tolerance: 2e-5})
		})
	}
}
