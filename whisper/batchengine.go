package whisper

import (
	"context"
	"slices"
	"sync"
)

// batchEngine lets several goroutines use one Engine, each through a copy of its own.
// The encoder and the decoder work in turn: on one processor neither would be faster
// beside the other, and while the encoder is ahead more pieces come together for
// the decoder's next step.
type batchEngine struct {
	engine  *Engine
	compute sync.Mutex // held by the encoder or the decoder at work
	hearing sync.Mutex // guards the extractor
	steps   steps
}

func newBatchEngine(e *Engine) *batchEngine {
	b := &batchEngine{engine: e}
	b.steps = steps{decoder: e.Decoder, compute: &b.compute}
	return b
}

// seat is the engine for one goroutine.
func (b *batchEngine) seat() *Engine {
	e := *b.engine
	e.Features, e.Encoder, e.Decoder = b, b, &seat{steps: &b.steps}
	return &e
}

// LogMel implements Extractor. Its result belongs to the caller.
func (b *batchEngine) LogMel(samples []float32, frames int) []float32 {
	b.hearing.Lock()
	defer b.hearing.Unlock()
	return slices.Clone(b.engine.Features.LogMel(samples, frames))
}

// Encode implements Encoder.
func (b *batchEngine) Encode(ctx context.Context, mel Mel) (Encoded, error) {
	b.compute.Lock()
	defer b.compute.Unlock()
	return b.engine.Encoder.Encode(ctx, mel)
}
