package whisper

import (
	"context"
	"sync"
	"time"
)

// Batch lets Listeners that share an Engine decode together, so that weights are read
// once for all of their pieces. Its Listeners may be used at the same time, the Engine
// itself may not.
type Batch struct {
	engine *batchEngine
	room   *room
}

// NewBatch returns a batch that decodes as much at the same time as positions say, of
// the decoder's caches, of audio and of text: each takes 2·L·D values. A piece that
// needs more is decoded alone.
func NewBatch(e *Engine, positions int) *Batch {
	return &Batch{engine: newBatchEngine(e), room: newRoom(positions)}
}

// Busy is how long the encoder and the decoder have been at work.
func (b *Batch) Busy() (encoder, decoder time.Duration) {
	b.engine.compute.Lock()
	defer b.engine.compute.Unlock()
	return b.engine.encoding, b.engine.steps.decoding
}

// batchEngine lets several goroutines use one Engine, each through a copy of its own.
// The encoder and the decoder work in turn: on one processor neither would be faster
// beside the other, and while the encoder is ahead more pieces come together for
// the decoder's next step.
type batchEngine struct {
	engine  *Engine
	compute sync.Mutex // held by the encoder or the decoder at work
	hearing sync.Mutex // held from features until they are encoded
	steps   steps

	encoding time.Duration // at work, guarded by compute
}

func newBatchEngine(e *Engine) *batchEngine {
	b := &batchEngine{engine: e}
	b.steps = steps{decoder: e.Decoder, compute: &b.compute}
	return b
}

// seat is the engine for one goroutine, that has taken so much of the room: for text,
// and for the window in which a piece is encoded first.
func (b *batchEngine) seat(room *room, window, text int) *Engine {
	e := *b.engine
	e.turn = &turn{hearing: &b.hearing, room: room, window: window, text: text}
	e.Encoder, e.Decoder = b, &seat{steps: &b.steps}
	return &e
}

// turn is one goroutine's part in what all use.
type turn struct {
	hearing      *sync.Mutex
	room         *room
	window, text int // what it has of the room, in positions
}

// begin waits until it may compute the features of a window, and until there is room for
// it. No session may be open: others would wait for its next step.
func (t *turn) begin(positions int) {
	if positions > t.window {
		t.room.swap(t.window+t.text, positions+t.text)
		t.window = positions
	}
	t.hearing.Lock()
}

// encoded says that the features are done with.
func (t *turn) encoded() { t.hearing.Unlock() }

// leave gives back the room.
func (t *turn) leave() { t.room.give(t.window + t.text) }

// Windows implements Windower.
func (b *batchEngine) Windows() []int {
	if w, ok := b.engine.Encoder.(Windower); ok {
		return w.Windows()
	}
	return nil
}

// Encode implements Encoder.
func (b *batchEngine) Encode(ctx context.Context, mel Mel) (Encoded, error) {
	b.compute.Lock()
	defer b.compute.Unlock()
	start := time.Now()
	defer func() { b.encoding += time.Since(start) }()
	return b.engine.Encoder.Encode(ctx, mel)
}
