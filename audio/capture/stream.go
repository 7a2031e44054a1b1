package capture

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"earshot/audio"
)

// stream is every Source: a goroutine that makes sound, the ring, and the status.
type stream struct {
	options  Options
	ring     *ring
	filter   *highPass // nil: off
	gain     *gain     // nil: off
	level    level
	channel  audio.Channel
	lossless bool      // the writer waits for the reader
	paced    time.Time // where set, samples come no sooner than they would from a microphone that started then

	mu         sync.Mutex
	status     Status
	logged     map[string]time.Time // complaints in the log, and when; nil before the first line
	complained bool                 // since the log was told that sound comes

	behind bool // the last samples were dropped
	buf    []float32
	cancel context.CancelFunc
	done   chan struct{}
}

// chunk is how many samples pass through at once: 20 ms.
const chunk = audio.SampleRate / 50

func newStream(o Options, p spec) *stream {
	if o.Buffer <= 0 {
		o.Buffer = defaultBuffer
	}
	s := &stream{options: o, channel: p.channel, buf: make([]float32, chunk)}
	s.ring = newRing(max(maxBlock, int(o.Buffer.Seconds()*audio.SampleRate)))
	if p.filter {
		s.filter = newHighPass()
	}
	if p.gain {
		s.gain = &gain{}
	}
	s.status = Status{State: Searching, Since: time.Now(), Device: p.name, Unpaced: p.unpaced}
	return s
}

// begin starts the goroutine.
func (s *stream) begin(ctx context.Context, run func(context.Context) error) *stream {
	ctx, s.cancel = context.WithCancel(ctx)
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		err := run(ctx)
		reason := ""
		switch {
		case err == nil:
			err = io.EOF
		case ctx.Err() != nil:
			err = ctx.Err()
		default:
			reason = err.Error()
		}
		s.set(Event{State: Ended, Reason: reason})
		s.ring.finish(err)
	}()
	return s
}

// Read implements Source.
func (s *stream) Read(ctx context.Context) (Block, error) { return s.ring.read(ctx) }

// closeWait is for a reader that can't be interrupted: standard input.
const closeWait = 3 * time.Second

// Close implements Source.
func (s *stream) Close() error {
	s.cancel()
	select {
	case <-s.done:
		return nil
	case <-time.After(closeWait):
		return errors.New("close the source: it still waits for its input")
	}
}

// Status implements Source.
func (s *stream) Status() Status {
	pos, missing := s.ring.written()
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Pos, status.Missing, status.Live = pos, missing, !s.lossless
	status.LevelDB = s.level.db()
	if s.gain != nil {
		status.GainDB = s.gain.db()
	}
	status.History = append([]Event(nil), s.status.History...)
	return status
}

const history = 64 // events kept

// set changes the state. What changes nothing is no event.
func (s *stream) set(e Event) {
	s.mu.Lock()
	if e.State == s.status.State && e.Reason == s.status.Reason && s.status.History != nil {
		s.mu.Unlock()
		return
	}
	s.status.State, s.status.Reason, s.status.Since = e.State, e.Reason, time.Now()
	s.mu.Unlock()
	e.Pos, _ = s.ring.written()
	s.tell(e)
}

// tell keeps an event and passes it on.
func (s *stream) tell(e Event) {
	e.Time = time.Now()
	s.mu.Lock()
	e.State, e.Device = s.status.State, s.status.Device
	if len(s.status.History) == history {
		s.status.History = append(s.status.History[:0], s.status.History[1:]...)
	}
	s.status.History = append(s.status.History, e)
	s.mu.Unlock()
	s.log(e)
	if s.options.Notify != nil {
		s.options.Notify(e)
	}
}

// logEvery is how often the log hears the same complaint.
const logEvery = time.Minute

// log complains once a minute about the same thing, so that a device that fails all
// the time doesn't fill the disk, and says when what it complained about is over.
func (s *stream) log(e Event) {
	if s.options.Log == nil || !s.worthLogging(e) {
		return
	}
	if e.State == Running && e.Reason == "" {
		s.options.Log.Info("sound comes", "device", e.Device, "pos", e.Pos)
		return
	}
	s.options.Log.Warn("no sound", "state", e.State, "reason", e.Reason, "device", e.Device, "pos", e.Pos, "missing", e.Gap)
}

func (s *stream) worthLogging(e Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.State == Running && e.Reason == "" {
		first := s.logged == nil || s.complained
		s.complained = false
		if s.logged == nil {
			s.logged = map[string]time.Time{}
		}
		return first
	}
	if last, found := s.logged[e.Reason]; e.Reason == "" || found && e.Time.Sub(last) < logEvery {
		return false
	}
	if s.logged == nil || len(s.logged) == history {
		s.logged = map[string]time.Time{}
	}
	s.logged[e.Reason] = e.Time
	s.complained = s.complained || e.State != Running
	return true
}

// put takes 16 kHz mono samples in; it changes them.
func (s *stream) put(ctx context.Context, samples []float32) error {
	if len(samples) == 0 {
		return nil
	}
	if s.filter != nil {
		s.filter.apply(samples)
	}
	s.level.add(samples)
	if s.gain != nil {
		s.gain.apply(samples)
	}
	if err := s.pace(ctx, len(samples)); err != nil {
		return err
	}
	if s.lossless {
		if err := s.ring.wait(ctx, len(samples)); err != nil {
			return err
		}
	}
	at, _ := s.ring.written()
	kept := s.ring.write(samples)
	if !kept && !s.behind {
		s.mu.Lock()
		s.status.Dropped++
		s.mu.Unlock()
		s.tell(Event{Pos: at, Gap: int64(len(samples)), Reason: reasonDropped})
	}
	s.behind = !kept
	return nil
}

// reasonDropped comes with the first of the samples that are dropped in a row.
const reasonDropped = "the reader is too slow: samples are dropped"

// pace waits until a microphone would have heard n more samples.
func (s *stream) pace(ctx context.Context, n int) error {
	if s.paced.IsZero() {
		return ctx.Err()
	}
	at, _ := s.ring.written()
	select {
	case <-time.After(time.Until(s.paced.Add(duration(at + int64(n))))):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// takeIn takes in all of src, which must be without gaps.
func (s *stream) takeIn(ctx context.Context, src audio.Source) error {
	in, err := s.options.Convert(src)
	if err != nil {
		return err
	}
	for {
		n, err := in.Read(s.buf)
		if err := s.put(ctx, s.buf[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sampleTime is exactly what a sample takes. (Samples × seconds would overflow after a
// week.)
const sampleTime = time.Second / audio.SampleRate

// duration is the time that n samples take.
func duration(n int64) time.Duration { return time.Duration(n) * sampleTime }

// samples is how many samples t takes.
func samples(t time.Duration) int64 { return int64(t / sampleTime) }
