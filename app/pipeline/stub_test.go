package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"earshot/audio/capture"
	"earshot/audio/wave"
	"earshot/store"
	"earshot/whisper"
)

// sound is a source of blocks that come as a microphone's do, 100 ms apart.
type sound struct {
	blocks []capture.Block
	paced  bool // else as fast as it is read
	pos    atomic.Int64
}

// loud takes for speech what is loud.
type loud struct{}

func (loud) Reset() {}

func (loud) Probability(chunk []float32) float32 {
	for _, v := range chunk {
		if v > 0.1 {
			return 1
		}
	}
	return 0
}

const blockSamples = whisper.SampleRate / 10

// voice adds speech: something loud. quiet adds silence, gap
// what was not heard.
func (s *sound) voice(d time.Duration) *sound { return s.add(d, 0.2) }
func (s *sound) quiet(d time.Duration) *sound { return s.add(d, 0) }

func (s *sound) gap(d time.Duration) *sound {
	s.blocks = append(s.blocks, capture.Block{Missing: int64(samplesIn(d))})
	return s
}

func (s *sound) add(d time.Duration, level float64) *sound {
	for n := samplesIn(d); n > 0; n -= blockSamples {
		x := make([]float32, min(n, blockSamples))
		for i := range x {
			x[i] = float32(level * math.Sin(float64(i)*0.2))
		}
		s.blocks = append(s.blocks, capture.Block{Samples: x})
	}
	return s
}

func (s *sound) Read(ctx context.Context) (capture.Block, error) {
	if len(s.blocks) == 0 {
		return capture.Block{}, io.EOF
	}
	b := s.blocks[0]
	n := int64(len(b.Samples)) + b.Missing
	if s.paced {
		select {
		case <-ctx.Done():
			return capture.Block{}, ctx.Err()
		case <-time.After(timeOf(int(n))):
		}
	}
	s.blocks = s.blocks[1:]
	b.Pos = s.pos.Add(n) - n
	return b, nil
}

func (s *sound) Status() capture.Status {
	return capture.Status{Pos: s.pos.Load(), Unpaced: !s.paced}
}
func (s *sound) Close() error { return nil }

// stub says how long it was listening, after cost times that long, or fails.
type stub struct {
	cost float64
	now  func() float64 // the cost, where it changes
	fail func() bool
	say  func(call int, seconds float64) string

	mu    sync.Mutex
	calls int
}

func (s *stub) Piece(ctx context.Context, samples []float32, _ ...float64) (whisper.Heard, error) {
	s.mu.Lock()
	s.calls++
	call := s.calls
	s.mu.Unlock()
	seconds := float64(len(samples)) / whisper.SampleRate
	cost := s.cost
	if s.now != nil {
		cost = s.now()
	}
	select {
	case <-ctx.Done():
		return whisper.Heard{}, ctx.Err()
	case <-time.After(timeAt(cost * seconds)):
	}
	if s.fail != nil && s.fail() {
		return whisper.Heard{}, errors.New("the engine is out of order")
	}
	text := fmt.Sprintf("%.1f s", seconds)
	if s.say != nil {
		text = s.say(call, seconds)
	}
	r := whisper.Result{Text: text, Segments: []whisper.Segment{{Start: 0.3, End: seconds, Text: text}}}
	return whisper.Heard{Result: r, Coverage: 1}, nil
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// testOptions are for the stub: clips are WAV files.
func testOptions() Options {
	o := Defaults()
	o.Captions = 0
	o.ClipType = "wav"
	o.WriteClip = func(w io.WriteSeeker, x []float32) error { return wave.WriteMono16(w, whisper.SampleRate, x) }
	o.ReadClip = func(path string) ([]float32, error) {
		f, err := wave.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		x := make([]float32, 1<<20)
		n := 0
		for {
			m, err := f.Read(x[n:])
			if n += m; errors.Is(err, io.EOF) {
				return x[:n], nil
			} else if err != nil {
				return nil, err
			}
		}
	}
	return o
}

func newPipeline(s *sound, db *store.Store, o Options, models ...*stub) *Pipeline {
	var all []Model
	for i, m := range models {
		all = append(all, Model{Name: fmt.Sprintf("model %d", i), Final: m})
	}
	return New(s, loud{}, db, all, o)
}

// stored is all segments and events of a store, recording by recording, oldest first.
type stored struct {
	recordings []store.Recording
	segments   [][]store.Segment
	events     [][]store.Event
}

func read(t *testing.T, db *store.Store) (all stored) {
	t.Helper()
	recordings, err := db.Recordings(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(recordings) - 1; i >= 0; i-- {
		r := recordings[i]
		var segments []store.Segment
		for g, err := range db.Segments(t.Context(), r.ID) {
			if err != nil {
				t.Fatal(err)
			}
			segments = append(segments, g)
		}
		events, err := db.Events(t.Context(), r.ID, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		all.recordings = append(all.recordings, r)
		all.segments, all.events = append(all.segments, segments), append(all.events, events)
	}
	return all
}

func near(a, b, tolerance time.Duration) bool { return (a - b).Abs() <= tolerance }
