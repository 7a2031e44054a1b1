package pipeline

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"earshot/audio/capture"
	"earshot/audio/vad"
	"earshot/store"
	"earshot/whisper"
)

// Transcriber turns up to 30 s of 16 kHz samples into text: a *whisper.Listener.
type Transcriber interface {
	Piece(ctx context.Context, samples []float32, breaks ...float64) (whisper.Heard, error)
}

// Model is one that can write down what is said.
type Model struct {
	Name  string
	Final Transcriber
	// Caption decodes what is not said to its end; its words need no times.
	Caption Transcriber
}

// Options say how to listen. Zero values are replaced by those of Defaults, but for
// Captions and KeepAudio.
type Options struct {
	Endpoints vad.Options
	Ahead     time.Duration // silence after which an utterance is decoded ahead
	Captions  time.Duration // between captions of what is being said; 0 shows none
	// KeepCaptions shows them even while speech waits.
	KeepCaptions bool
	// Waiting is how much speech may wait in memory; what comes then is kept as clips and
	// transcribed later.
	Waiting time.Duration
	// Apart is the silence behind which another recording begins.
	Apart time.Duration
	// Grace is how long what is waiting may take when the pipeline is told to end; the
	// rest is kept as clips.
	Grace time.Duration

	KeepAudio bool   // keep clips of all that is said
	Title     string // of the recordings
	Source    string // where the sound comes from, as they say
	Language  string // that was asked for
	Backend   string // that the models run on
	// WriteClip encodes 16 kHz mono, ReadClip decodes what it wrote, of type ClipType.
	WriteClip func(io.WriteSeeker, []float32) error
	ReadClip  func(path string) ([]float32, error)
	ClipType  string

	Now func() time.Time // the wall clock, for what people read; nil is time.Now
	Log *slog.Logger
}

// Defaults are what is right for a microphone on a desk.
func Defaults() Options {
	return Options{
		Endpoints: vad.LiveOptions(),
		Ahead:     200 * time.Millisecond,
		Captions:  700 * time.Millisecond,
		Waiting:   30 * time.Second,
		Apart:     10 * time.Minute,
		Grace:     10 * time.Second,
		Now:       time.Now,
		Log:       slog.New(slog.DiscardHandler),
	}
}

// withDefaults fills in what must not be zero.
func (o Options) withDefaults() Options {
	d := Defaults()
	for _, f := range []struct{ v, d *time.Duration }{
		{&o.Ahead, &d.Ahead}, {&o.Waiting, &d.Waiting}, {&o.Apart, &d.Apart}, {&o.Grace, &d.Grace},
	} {
		if *f.v <= 0 {
			*f.v = *f.d
		}
	}
	if o.Endpoints == (vad.Options{}) {
		o.Endpoints = d.Endpoints
	}
	if o.Now == nil {
		o.Now = d.Now
	}
	if o.Log == nil {
		o.Log = d.Log
	}
	return o
}

// Pipeline listens to one source. Create it with New; Run does the work.
type Pipeline struct {
	Hub *Hub

	source   capture.Source
	detector vad.Detector
	models   []Model // from the one that was asked for to the quickest
	opts     Options
	muted    atomic.Bool
	queue    *queue
	ladder   ladder

	storing sync.RWMutex // held while something is stored, and whole while the store is replaced
	store   *store.Store
	closed  error // why there is none

	mu    sync.Mutex
	state state
}

// New returns a pipeline. models has one at least; the others are for times when it is
// too slow.
func New(source capture.Source, detector vad.Detector, s *store.Store, models []Model, o Options) *Pipeline {
	o = o.withDefaults()
	return &Pipeline{
		Hub: NewHub(), source: source, detector: detector, models: models, opts: o, store: s,
		queue:  newQueue(samplesIn(o.Waiting)),
		ladder: ladder{steps: len(models), keep: o.KeepCaptions},
	}
}

// Run listens until the source or ctx ends. Then what was said is written down, clips
// too; where ctx has ended, what takes longer than Options.Grace is kept for the next
// time. It returns nil when ctx ended it, or the source was at its end.
func (p *Pipeline) Run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	written := make(chan struct{})
	go func() {
		defer close(written)
		s := &scribe{Pipeline: p}
		s.write(work)
		s.clips(ctx)
	}()
	err := p.listen(ctx)
	p.queue.close()
	select {
	case <-written:
	case <-ctx.Done():
		defer time.AfterFunc(p.opts.Grace, stop).Stop()
		<-written
	}
	p.Hub.close()
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		err = nil
	}
	return err
}

// SetMuted turns listening off or on. What is said meanwhile is thrown away before
// anything looks for speech in it; what was said before is written down.
func (p *Pipeline) SetMuted(muted bool) {
	if p.muted.Swap(muted) != muted {
		p.Hub.publish(Message{Kind: Changed, Reason: map[bool]string{true: "muted", false: "listening"}[muted]})
	}
}

// Muted says whether nobody listens.
func (p *Pipeline) Muted() bool { return p.muted.Load() }

// Store is the store in use.
func (p *Pipeline) Store() *store.Store {
	p.storing.RLock()
	defer p.storing.RUnlock()
	return p.store
}

// Reopen closes the store and goes on with what open returns. What is said meanwhile, and
// until it succeeds, waits to be stored. A recording that goes on begins anew.
func (p *Pipeline) Reopen(open func() (*store.Store, error)) error {
	p.storing.Lock()
	defer p.storing.Unlock()
	closed := p.store.Close() // of a damaged one it may fail, and that is all the same
	db, err := open()
	if err != nil {
		p.closed = errors.Join(err, closed)
		p.problem("store", p.closed)
		return p.closed
	}
	p.store, p.closed = db, nil
	return nil
}

// with lets do use the store.
func (p *Pipeline) with(do func(*store.Store) error) error {
	p.storing.RLock()
	defer p.storing.RUnlock()
	if p.closed != nil {
		return p.closed
	}
	return do(p.store)
}

func samplesIn(d time.Duration) int { return int(d * whisper.SampleRate / time.Second) }

func timeOf(samples int) time.Duration {
	return time.Duration(samples) * time.Second / whisper.SampleRate
}

func timeAt(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}
