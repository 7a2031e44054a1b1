package oncpu_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
)

// best is the time of the fastest run of f, in milliseconds.
func best(b *testing.B, f func()) {
	least := time.Hour
	for b.Loop() {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	b.ReportMetric(least.Seconds()*1e3, "ms-best")
}

func network(b *testing.B, model string, threads int) (whisper.Encoder, whisper.Decoder, whisper.Dims) {
	m := backendtest.Model(b, model)
	pool := cpu.NewPool(threads)
	b.Cleanup(pool.Close)
	encoder, err := oncpu.NewEncoder(m, pool)
	if err != nil {
		b.Fatal(err)
	}
	decoder, err := oncpu.NewDecoder(m, pool)
	if err != nil {
		b.Fatal(err)
	}
	return encoder, decoder, whisper.Dims(m.Header.Dims)
}

// BenchmarkEncode encodes a short and a full window.
func BenchmarkEncode(b *testing.B) {
	each(b, func(b *testing.B, model string, threads int) {
		encoder, _, d := network(b, model, threads)
		for _, positions := range []int{483, 1500} {
			b.Run(fmt.Sprintf("positions=%d", positions), func(b *testing.B) {
				mel := whisper.Mel{Bands: d.Mels, Frames: 2 * positions, Data: make([]float32, d.Mels*2*positions)}
				for i := range mel.Data {
					mel.Data[i] = float32(i%37)/37 - 0.3
				}
				best(b, func() {
					if _, err := encoder.Encode(context.Background(), mel); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	})
}

// each runs f for two models on one and two threads.
func each(b *testing.B, f func(b *testing.B, model string, threads int)) {
	for _, model := range []string{"tiny.en", "base"} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", model, threads), func(b *testing.B) { f(b, model, threads) })
		}
	}
}

// BenchmarkStep decodes one token of one and of five sequences that hold 30.
func BenchmarkStep(b *testing.B) {
	each(b, func(b *testing.B, model string, threads int) {
		_, decoder, d := network(b, model, threads)
		for _, beams := range []int{1, 5} {
			b.Run(fmt.Sprintf("beams=%d", beams), func(b *testing.B) { benchmarkStep(b, decoder, d.AudioState, beams) })
		}
	})
}

func benchmarkStep(b *testing.B, decoder whisper.Decoder, width, beams int) {
	enc := whisper.Encoded{Positions: 483, Data: make([]float32, 483*width)}
	for i := range enc.Data {
		enc.Data[i] = float32(i%41)/20 - 1
	}
	s, err := decoder.Begin(context.Background(), []whisper.Encoded{enc}, whisper.SessionOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	step := func(in ...whisper.Input) {
		if _, err := s.Step(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
	step(whisper.Input{Tokens: make([]int, 30)})
	if err := s.Select(make([]int, beams)); err != nil {
		b.Fatal(err)
	}
	in := make([]whisper.Input, beams)
	for i := range in {
		in[i] = whisper.Input{Sequence: i, At: 30, Tokens: []int{1000 + i}, Rows: 1}
	}
	b.ReportAllocs()
	best(b, func() { step(in...) })
}
