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

// eachNetwork runs f for two models in both precisions on one and two threads.
func eachNetwork(b *testing.B, f func(b *testing.B, n *oncpu.Network, d whisper.Dims)) {
	for _, model := range []string{"tiny.en", "base"} {
		m := backendtest.Model(b, model)
		for _, p := range []oncpu.Precision{oncpu.Int8, oncpu.Float32} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/threads=%d", model, p, threads), func(b *testing.B) {
					pool := cpu.NewPool(threads)
					defer pool.Close()
					n, err := oncpu.New(m, pool, p)
					if err != nil {
						b.Fatal(err)
					}
					f(b, n, whisper.Dims(m.Header.Dims))
				})
			}
		}
	}
}

// BenchmarkEncode encodes a short and a full window.
func BenchmarkEncode(b *testing.B) {
	eachNetwork(b, func(b *testing.B, n *oncpu.Network, d whisper.Dims) {
		for _, positions := range []int{483, 1500} {
			b.Run(fmt.Sprintf("positions=%d", positions), func(b *testing.B) {
				mel := whisper.Mel{Bands: d.Mels, Frames: 2 * positions, Data: make([]float32, d.Mels*2*positions)}
				for i := range mel.Data {
					mel.Data[i] = float32(i%37)/37 - 0.3
				}
				best(b, func() {
					if _, err := n.Encoder.Encode(context.Background(), mel); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	})
}

// BenchmarkStep decodes one token of one and of five sequences that hold 30.
func BenchmarkStep(b *testing.B) {
	eachNetwork(b, func(b *testing.B, n *oncpu.Network, d whisper.Dims) {
		enc := whisper.Encoded{Positions: 483, Data: make([]float32, 483*d.AudioState)}
		for i := range enc.Data {
			enc.Data[i] = float32(i%41)/20 - 1
		}
		for _, beams := range []int{1, 5} {
			b.Run(fmt.Sprintf("beams=%d", beams), func(b *testing.B) {
				s, err := n.Decoder.Begin(context.Background(), []whisper.Encoded{enc}, whisper.SessionOptions{})
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
			})
		}
	})
}
