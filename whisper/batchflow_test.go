package whisper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// watched is a stub that sees how many of its sessions are open, and may refuse a window.
type watched struct {
	*stub
	mu         sync.Mutex
	open, most int
	broken     map[int]error

	positions, mostPositions int // of the sessions
}

func newWatched(t *testing.T) (*watched, *Engine) {
	e := newStub(t, func(window int, _ string) said {
		return said{text: fmt.Sprint(" number ", window), logProb: -0.1}
	})
	w := &watched{stub: e.Decoder.(*stub)}
	e.Decoder = w
	return w, e
}

func (w *watched) Begin(ctx context.Context, audios []Encoded, opts SessionOptions) (Session, error) {
	number := int(audios[0].Data[0])
	if err := w.broken[number]; err != nil {
		return nil, err
	}
	session, err := w.stub.Begin(ctx, audios, opts)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open++
	w.most = max(w.most, w.open)
	w.positions += audios[0].Positions
	w.mostPositions = max(w.mostPositions, w.positions)
	return &watchedSession{session, w, audios[0].Positions}, err
}

type watchedSession struct {
	Session
	w         *watched
	positions int
}

func (s *watchedSession) Step(ctx context.Context, in []Input) (Output, error) {
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	return s.Session.Step(ctx, in)
}

func (s *watchedSession) Close() error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.open--
	s.w.positions -= s.positions
	return s.Session.Close()
}

// told collects what comes out of Pieces for n pieces of 10 s.
type told struct {
	texts  []string
	handed atomic.Int32 // pieces that were asked for
	done   func(i int) error
}

func (o *told) run(ctx context.Context, l *Listener, n int, end error) error {
	return l.Pieces(ctx, func(ctx context.Context, more func(Piece) bool) error {
		sound := voice(10)
		for i := range n {
			o.handed.Add(1)
			ok := more(Piece{Samples: sound, Done: func(h Heard, err error) error {
				if err != nil {
					return fmt.Errorf("piece %d: %w", i, err)
				}
				o.texts = append(o.texts, h.Text)
				if o.done != nil {
					return o.done(i)
				}
				return nil
			}})
			if !ok {
				return nil
			}
		}
		return end
	})
}

// numbers are the texts of the first n pieces.
func numbers(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("number ", i))
	}
	return all
}

// pieceRoom is what a piece of told.run takes of a Batch.
const pieceRoom = 608 + 62

// batchOf is a batch with so much room; nil for none.
func batchOf(e *Engine, room int) *Batch {
	if room == 0 {
		return nil
	}
	return NewBatch(e, room)
}

func TestPiecesKeepToTheRoom(t *testing.T) {
	for _, c := range []struct{ room, most int }{{0, 1}, {1, 1}, {2*pieceRoom - 1, 1}, {3*pieceRoom + 7, 3}, {1 << 30, maxFlights + 2}} {
		w, e := newWatched(t)
		var out told
		if err := out.run(context.Background(), &Listener{Engine: e, Options: Options{Language: "en"}, Batch: batchOf(e, c.room)}, 24, nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(out.texts, numbers(24)) {
			t.Errorf("room %d: %q", c.room, out.texts)
		}
		if w.most > c.most || w.open != 0 {
			t.Errorf("room %d: %d windows at once, want at most %d; %d left open", c.room, w.most, c.most, w.open)
		}
	}
}

// TestLongerWindowsKeepToTheRoom sees that a window which is encoded again waits for the
// room that it takes more than before, or for all others to end.
func TestLongerWindowsKeepToTheRoom(t *testing.T) {
	for _, room := range []int{1000, 2100, 3500} {
		w, e := newWatched(t)
		w.short = true
		w.script = func(int, string) said { return said{text: " who knows", logProb: -3} }
		var out told
		l := &Listener{Engine: e, Options: Options{Language: "en", Temperatures: []float64{0}}, Batch: batchOf(e, room)}
		if err := out.run(context.Background(), l, 24, nil); err != nil {
			t.Fatal(err)
		}
		if len(out.texts) != 24 || len(w.asked) != 3*24 || w.mostPositions > max(room, 1500) {
			t.Errorf("room %d: %d pieces in %d windows, %d positions at once", room, len(out.texts), len(w.asked), w.mostPositions)
		}
	}
}

// TestSlowPiece sees that pieces behind one that takes its time are decoded, up to a
// bound, and told behind it.
func TestSlowPiece(t *testing.T) {
	w, e := newWatched(t)
	w.script = func(window int, _ string) said {
		if window == 0 {
			return said{text: " number 0" + talkOf(60), logProb: -0.1}
		}
		return said{text: fmt.Sprint(" number ", window), logProb: -0.1}
	}
	var out told
	var handed int32
	out.done = func(i int) error {
		if i == 0 {
			handed = out.handed.Load()
		}
		return nil
	}
	opts := Options{Language: "en", Partial: func(string) { time.Sleep(time.Millisecond) }} // the stub itself takes no time
	if err := out.run(context.Background(), &Listener{Engine: e, Options: opts, Batch: batchOf(e, 2*pieceRoom)}, 20, nil); err != nil {
		t.Fatal(err)
	}
	if out.texts[0] != "number 0"+talkOf(60) || !slices.Equal(out.texts[1:], numbers(20)[1:]) {
		t.Errorf("%q", out.texts)
	}
	if handed < 4 || handed > maxFlights+2 {
		t.Errorf("%d pieces were asked for before the first was told", handed)
	}
}

// talkOf is a text of n different words.
func talkOf(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, " %c", 'a'+i%26)
	}
	return text.String()
}

// TestSeats sees that a step waits for all seats with an open session, and for no other.
func TestSeats(t *testing.T) {
	w, _ := newWatched(t)
	steps := &steps{decoder: w, compute: new(sync.Mutex)}
	a, b := &seat{steps: steps}, &seat{steps: steps}
	ctx := context.Background()
	open := func(s *seat) Session {
		session, err := s.Begin(ctx, []Encoded{{Positions: 1500, Data: make([]float32, 1500)}}, SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return session
	}
	in := []Input{{Tokens: []int{w.tok.StartOfTranscript}, Rows: 1}}
	first, second := open(a), open(b)
	done := make(chan error)
	go func() {
		_, err := first.Step(ctx, in)
		done <- err
	}()
	select {
	case <-done:
		t.Fatal("a step was made without the second seat")
	case <-time.After(20 * time.Millisecond):
	}
	if second.Close() != nil || second.Close() != nil {
		t.Error("close fails")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	inner := open(a) // a second session of one seat does not wait for the first
	if _, err := inner.Step(ctx, in); err != nil {
		t.Error(err)
	}
	inner.Close()
	first.Close()
	if w.open != 0 || steps.active != 0 {
		t.Errorf("%d sessions left open, %d seats active", w.open, steps.active)
	}
}

func TestPiecesErrors(t *testing.T) {
	broken := errors.New("it is broken")
	for _, room := range []int{0, 5 * pieceRoom} {
		for name, c := range map[string]struct {
			window error // of window 3
			told   error // of Done of piece 3
			read   error // behind piece 5
			want   int   // texts
		}{
			"a window":         {window: broken, want: 3},
			"what is told":     {told: broken, want: 4},
			"the end of input": {read: broken, want: 6},
			"input and window": {window: broken, read: errors.New("later"), want: 3},
		} {
			w, e := newWatched(t)
			w.broken = map[int]error{3: c.window}
			out := told{done: func(i int) error {
				if i == 3 {
					return c.told
				}
				return nil
			}}
			n := 6
			if c.read == nil {
				n = 1000
			}
			err := out.run(context.Background(), &Listener{Engine: e, Options: Options{Language: "en"}, Batch: batchOf(e, room)}, n, c.read)
			if !errors.Is(err, broken) || !slices.Equal(out.texts, numbers(c.want)) {
				t.Errorf("room %d, %s: got %v and %q", room, name, err, out.texts)
			}
			if out.handed.Load() > 100 || w.open != 0 {
				t.Errorf("room %d, %s: %d pieces were asked for, %d sessions left open", room, name, out.handed.Load(), w.open)
			}
		}
	}
}

func TestPiecesInterrupted(t *testing.T) {
	for _, room := range []int{0, 5 * pieceRoom} {
		w, e := newWatched(t)
		ctx, stop := context.WithCancel(context.Background())
		out := told{done: func(i int) error {
			if i == 4 {
				stop()
			}
			return nil
		}}
		err := out.run(ctx, &Listener{Engine: e, Options: Options{Language: "en"}, Batch: batchOf(e, room)}, 1000, nil)
		if len(out.texts) < 5 || len(out.texts) > 5+maxFlights+2 || !slices.Equal(out.texts, numbers(len(out.texts))) {
			t.Errorf("room %d: %q", room, out.texts)
		}
		if !errors.Is(err, context.Canceled) || w.open != 0 {
			t.Errorf("room %d: got %v, %d sessions left open", room, err, w.open)
		}
	}
}

// sameMemory is an extractor that writes its results over each other.
type sameMemory []float32

func (s sameMemory) LogMel(samples []float32, _ int) []float32 {
	copy(s, samples)
	return s
}

// slowEncoder takes its time and returns its features.
type slowEncoder struct{}

func (slowEncoder) Encode(_ context.Context, mel Mel) (Encoded, error) {
	time.Sleep(time.Millisecond)
	return Encoded{Positions: 1, Data: slices.Clone(mel.Data)}, nil
}

// TestFeaturesLast sees that features last until they are encoded, whoever else asks for
// some.
func TestFeaturesLast(t *testing.T) {
	b := newBatchEngine(&Engine{Features: make(sameMemory, 1), Encoder: slowEncoder{}})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			want := float32(i)
			enc, err := b.seat(nil, 1, 0).encode(context.Background(), []float32{want}, 1)
			if err != nil || enc.Data[0] != want {
				t.Errorf("got %v and %v, want %v", enc.Data, err, want)
			}
		})
	}
	all.Wait()
}

// TestPartialOfTheNext sees that partial texts come of one piece at a time, in order.
func TestPartialOfTheNext(t *testing.T) {
	_, e := newWatched(t)
	var out told
	l := &Listener{Engine: e, Batch: batchOf(e, 8*pieceRoom)}
	l.Options = Options{Language: "en", Partial: func(text string) {
		if want := fmt.Sprint(" number ", len(out.texts)); !strings.HasPrefix(want, text) {
			t.Errorf("partial text %q of piece %d", text, len(out.texts))
		}
	}}
	if err := out.run(context.Background(), l, 30, nil); err != nil {
		t.Fatal(err)
	}
}

// TestContextIsInTurn sees that a piece which is to follow on the text before waits for
// it, whatever the room.
func TestContextIsInTurn(t *testing.T) {
	var prompts []string
	e := newStub(t, func(window int, prompt string) said {
		if len(prompts) == window {
			prompts = append(prompts, strings.TrimSpace(prompt))
		}
		return said{text: fmt.Sprint(" number ", window), logProb: -0.1}
	})
	var out told
	if err := out.run(context.Background(), &Listener{Engine: e, Options: Options{Language: "en"}, Context: true, Batch: batchOf(e, 1<<30)}, 4, nil); err != nil {
		t.Fatal(err)
	}
	if want := append([]string{""}, numbers(3)...); !slices.Equal(prompts, want) {
		t.Errorf("prompts %q, want %q", prompts, want)
	}
}
