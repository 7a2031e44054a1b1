package oncpu_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
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

// TestTogether encodes on one goroutine while another decodes, on one pool: results
// are what they are one after the other.
func TestTogether(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	pool := cpu.NewPool(3)
	defer pool.Close()
	network, err := oncpu.New(m, pool, oncpu.Int8)
	if err != nil {
		t.Fatal(err)
	}
	encode := func() whisper.Encoded {
		d := backendtest.Small
		mel := whisper.Mel{Bands: d.Mels, Frames: 2 * d.AudioCtx, Data: make([]float32, d.Mels*2*d.AudioCtx)}
		for i := range mel.Data {
			mel.Data[i] = float32(i%17) / 17
		}
		enc, err := network.Encoder.Encode(context.Background(), mel)
		if err != nil {
			t.Error(err)
		}
		return enc
	}
	decode := func(enc whisper.Encoded) []float32 {
		s, err := network.Decoder.Begin(context.Background(), []whisper.Encoded{enc}, whisper.SessionOptions{})
		if err != nil {
			t.Error(err)
			return nil
		}
		defer s.Close()
		var last []float32
		for at := range 20 {
			out, err := s.Step(context.Background(), []whisper.Input{{At: at, Tokens: []int{at}, Rows: 1}})
			if err != nil {
				t.Error(err)
				return nil
			}
			last = slices.Clone(out.Logits[0])
		}
		return last
	}
	enc := encode()
	want := decode(enc)
	var other sync.WaitGroup
	other.Go(func() {
		for range 20 {
			if again := encode(); !slices.Equal(again.Data, enc.Data) {
				t.Error("encoder differs beside a decoder")
			}
		}
	})
	for range 10 {
		if !slices.Equal(decode(enc), want) {
			t.Error("decoder differs beside an encoder")
		}
	}
	other.Wait()
}

// TestRecycled opens sessions one after the other over windows of other lengths, with
// beams that come and go: what an earlier one left in a cache must not be heard.
func TestRecycled(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	pool := cpu.NewPool(2)
	defer pool.Close()
	run := func(network *oncpu.Network, positions int) []float32 {
		enc := whisper.Encoded{Positions: positions, Data: make([]float32, positions*backendtest.Small.AudioState)}
		for i := range enc.Data {
			enc.Data[i] = float32((i+positions)%13)/6 - 1
		}
		s, err := network.Decoder.Begin(context.Background(), []whisper.Encoded{enc, enc}, whisper.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var all []float32
		step := func(in ...whisper.Input) {
			out, err := s.Step(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range out.Logits {
				all = append(all, l...)
			}
		}
		choose := func(from ...int) {
			if err := s.Select(from); err != nil {
				t.Fatal(err)
			}
		}
		step(whisper.Input{Tokens: []int{1, 2, 3}, Rows: 1}, whisper.Input{Sequence: 1, Tokens: []int{4}, Rows: 1})
		choose(0, 1, 0, 0)
		step(whisper.Input{At: 3, Tokens: []int{5}, Rows: 1}, whisper.Input{Sequence: 2, At: 3, Tokens: []int{6}, Rows: 1})
		choose(2, 2, 0)
		step(whisper.Input{At: 4, Tokens: make([]int, 65), Rows: 1}, whisper.Input{Sequence: 2, At: 2, Tokens: []int{7}, Rows: 1})
		choose(1, 0, 0)
		step(whisper.Input{At: 4, Tokens: []int{8}, Rows: 1}, whisper.Input{Sequence: 2, At: 69, Tokens: []int{9}, Rows: 1})
		return all
	}
	used, err := oncpu.New(m, pool, oncpu.Float32)
	if err != nil {
		t.Fatal(err)
	}
	for _, positions := range []int{40, 75, 3, 60, 75} {
		fresh, err := oncpu.New(m, pool, oncpu.Float32)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(run(used, positions), run(fresh, positions)) {
			t.Errorf("%d positions: a decoder that was used before differs", positions)
		}
	}
}
