package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"earshot/audio"
)

// supervisor keeps a capture process going for a device.
type supervisor struct {
	*stream
	device string       // as it was asked for
	asked  audio.Format // 0 where the process chooses
	start  func() (*process, error)
	last   *process // that was started
	clock  clock

	failed  int           // attempts without sound in a row
	startup time.Duration // the longest that the open device took to its first sound; 0 before any
}

const (
	// silent is how long a device that has given sound may give none. Then it hangs.
	silent = 900 * time.Millisecond
	// opening is how long it may take to look for a device and to open it: PortAudio
	// asks every device that there is.
	opening = 5 * time.Second
	// Attempts are cycle apart, from start to start, and pause behind the end of the
	// one before: five in ten seconds, and a device that is back is heard within two.
	cycle = 1850 * time.Millisecond
	pause = 850 * time.Millisecond
	// After patience attempts the cycle grows, up to longest, with some chance in it.
	// A device that is plugged in then doesn't wait: see rest.
	patience = 30
	// A device that was heard before gets no more time than it took then, or silent, in
	// the first hurried attempts (ten seconds); after that opening, like one that never was.
	hurried = 5
	longest = 15 * time.Second
)

func newSupervisor(s *stream, p spec) *supervisor {
	v := &supervisor{stream: s, device: p.name, asked: p.format}
	v.start = v.startProcess
	return v
}

// run makes attempts until ctx is done.
func (v *supervisor) run(ctx context.Context) error {
	stop := v.clock.count(ctx, v.ring)
	defer stop()
	for ctx.Err() == nil {
		began := time.Now()
		v.attempt(ctx)
		wait := max(pause, time.Until(began.Add(cycle)))
		if v.failed > patience {
			grown := min(longest, cycle<<min(8, (v.failed-patience)/4))
			wait = max(wait, time.Duration(float64(grown)*(0.8+0.2*rand.Float64())))
		}
		v.rest(ctx, wait)
	}
	return ctx.Err()
}

// attempt is the life of one capture process.
func (v *supervisor) attempt(ctx context.Context) {
	v.mu.Lock()
	v.status.Attempts++
	reason := v.status.Reason
	v.mu.Unlock()
	v.set(Event{State: Searching, Reason: reason})
	v.failed++
	if !v.last.ended() {
		v.set(Event{State: Searching, Reason: "the capture process hangs in the sound driver and can't be ended"})
		return
	}
	p, err := v.start()
	if err != nil {
		v.set(Event{State: Searching, Reason: err.Error()})
		return
	}
	v.last = p
	a := &attempt{v: v, in: newWireReader(p.out)}
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	a.watch = time.AfterFunc(opening, func() { a.hung.Store(true); p.kill() })
	err = a.listen(ctx)
	a.watch.Stop()
	said := p.end()
	if ctx.Err() != nil {
		return
	}
	state := Searching
	if a.ran {
		state, v.failed = Lost, 0
		v.clock.stop(v.ring)
	}
	v.set(Event{State: state, Reason: a.reason(err, said)})
}

// firstSound is how long a device that is open may take to its first sound. Most take
// a few milliseconds, a sound server that slept up to two seconds.
func (v *supervisor) firstSound() time.Duration {
	if v.startup == 0 || v.failed > hurried {
		return opening
	}
	return max(silent, v.startup*3/2)
}

// rest waits before the next attempt, but not long once sound hardware comes or goes.
func (v *supervisor) rest(ctx context.Context, wait time.Duration) {
	before, end := hardware(), time.Now().Add(wait)
	for left := wait; left > 0 && ctx.Err() == nil; left = time.Until(end) {
		sleep(ctx, min(left, cycle/4))
		if wait > cycle && hardware() != before {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// attempt reads what one capture process sends.
type attempt struct {
	v      *supervisor
	in     *wireReader
	watch  *time.Timer // kills the process when it fires
	hung   atomic.Bool // it has
	opened time.Time   // when the device was open
	ran    bool        // there was sound

	format  audio.Format
	pending []float32 // of a message, not handed out yet
	lost    uint64    // frames that the next message is behind by
	gap     bool      // an overflow ended the stretch
	err     error     // how the messages ended
	failure *failure
}

// listen takes in stretch after stretch: what lies between two gaps.
func (a *attempt) listen(ctx context.Context) error {
	for a.format.Channels == 0 {
		if a.receive(); a.err != nil {
			return a.err
		}
	}
	for a.err == nil {
		in, err := audio.LiveMono(a, a.v.channel)
		if err == nil {
			err = a.v.takeIn(ctx, in)
		}
		if err != nil {
			return err
		}
		if a.gap {
			a.v.overflowed(int64(a.lost) * audio.SampleRate / int64(a.format.Rate))
			a.gap = false
		}
	}
	return a.err
}

// Format implements audio.Source.
func (a *attempt) Format() audio.Format { return a.format }

// Read implements audio.Source for one stretch.
func (a *attempt) Read(dst []float32) (int, error) {
	for len(a.pending) == 0 {
		if a.gap || a.err != nil {
			return 0, io.EOF
		}
		a.receive()
	}
	n := copy(dst[:len(dst)/a.format.Channels*a.format.Channels], a.pending)
	a.pending = a.pending[n:]
	return n, nil
}

// receive takes one message.
func (a *attempt) receive() {
	m, err := a.in.next()
	if err != nil {
		a.err = err
		return
	}
	switch m.kind {
	case msgFound:
		a.v.mu.Lock()
		a.v.status.Device = m.device.Name
		a.v.mu.Unlock()
		a.v.set(Event{State: Opening})
	case msgOpened:
		a.format, a.opened = m.format, time.Now()
	case msgError:
		a.failure = &m.failure
	case msgOverflow:
		a.lost, a.gap = m.frames, a.ran
	case msgSamples:
		a.pending = m.samples
		if !a.ran {
			a.v.startup = max(a.v.startup, time.Since(a.opened))
			a.v.running(a.format)
		}
		length := time.Duration(len(m.samples)/a.format.Channels) * time.Second / time.Duration(a.format.Rate)
		if pos, n := a.v.clock.sound(a.v.ring, length, !a.ran); n > 0 {
			a.v.tell(Event{Pos: pos, Gap: n, Reason: "the device is back"})
		}
		a.ran = true
	}
	switch {
	case a.ran:
		a.watch.Reset(silent)
	case a.format.Channels != 0:
		a.watch.Reset(a.v.firstSound())
	}
}

// reason says why the attempt ended; said is what the process left.
func (a *attempt) reason(err error, said string) string {
	switch {
	case a.failure != nil:
		return a.failure.Text
	case a.hung.Load() && a.format.Channels == 0:
		return fmt.Sprintf("looking for the device took longer than %v", opening)
	case a.hung.Load():
		return "the device hangs: it is open and gives nothing"
	case err != nil && !errors.Is(err, io.EOF):
		return err.Error()
	}
	return said
}

// overflowed says that the driver lost about n samples.
func (v *supervisor) overflowed(n int64) {
	v.mu.Lock()
	v.status.Overflow++
	v.mu.Unlock()
	pos, _ := v.ring.written()
	v.ring.miss(n)
	v.tell(Event{Pos: pos, Gap: n, Reason: "the sound driver lost samples"})
}
