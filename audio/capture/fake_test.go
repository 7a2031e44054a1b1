package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot/audio"
)

// fake is a sound system in time that the test makes. Its devices give a tone.
type fake struct {
	mu      sync.Mutex
	devices []Device
	takes   func(audio.Format) error // what open says; nil takes everything
	read    func() (lost bool, err error)

	opens  []audio.Format
	lists  int
	played time.Duration
	end    chan struct{}  // closed at the end of the test: lets what hangs go
	wg     sync.WaitGroup // the processes
}

func newFake(devices ...Device) *fake {
	return &fake{devices: devices, end: make(chan struct{})}
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) inputs() ([]Device, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists++
	return f.devices, nil
}

func (f *fake) open(d Device, format audio.Format) (input, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.takes != nil {
		if err := f.takes(format); err != nil {
			return nil, err
		}
	}
	f.opens = append(f.opens, format)
	return &fakeInput{f: f, device: d, format: format, start: time.Now()}, nil
}

func (f *fake) close() {}

// fakeInput gives each block when it would be complete.
type fakeInput struct {
	f      *fake
	device Device
	format audio.Format
	start  time.Time
	frames int64
}

func (in *fakeInput) read(buf []float32) (bool, error) {
	n := len(buf) / in.format.Channels
	in.frames += int64(n)
	time.Sleep(time.Until(in.start.Add(time.Duration(in.frames) * time.Second / time.Duration(in.format.Rate))))
	in.f.mu.Lock()
	read, there := in.f.read, false
	for _, d := range in.f.devices {
		there = there || d.index == in.device.index
	}
	in.f.mu.Unlock()
	if !there {
		return false, errors.New("no such device")
	}
	for i, s := range sine(1000, 0.5, in.format.Rate, n) {
		for c := range in.format.Channels {
			buf[i*in.format.Channels+c] = s
		}
	}
	if read == nil {
		return false, nil
	}
	lost, err := read()
	if lost { // what would have come until now
		in.frames = int64(time.Since(in.start).Seconds() * float64(in.format.Rate))
	}
	return lost, err
}

func (in *fakeInput) waiting() int { return 0 }
func (in *fakeInput) close()       {}

// process runs what a capture process does, here.
func (f *fake) process(run func(context.Context, io.Writer) error) func() (*process, error) {
	return func() (*process, error) {
		out, in := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		p := &process{out: out, gone: make(chan struct{})}
		f.wg.Go(func() {
			err := run(ctx, in)
			in.CloseWithError(err) // nil is io.EOF
		})
		var once sync.Once
		p.kill = func() {
			once.Do(func() {
				cancel()
				out.Close()
				close(p.gone) // killed, whatever it hangs in
			})
		}
		p.left = func() string { return processEnded }
		return p, nil
	}
}

// openFake opens a device of f in the bubble of a synctest.
func openFake(t *testing.T, f *fake, name string, o Options) *stream {
	t.Helper()
	o.Convert = options().Convert
	s := newStream(o, spec{name: name})
	v := newSupervisor(s, spec{name: name})
	v.start = f.process(func(ctx context.Context, out io.Writer) error {
		w := &wireWriter{out: out}
		err := record(ctx, f, ChildOptions{Device: name}, w)
		if err != nil && ctx.Err() == nil {
			_ = w.failed(failure{Text: err.Error()})
		}
		return nil
	})
	s.begin(t.Context(), v.run)
	t.Cleanup(func() {
		close(f.end)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		f.wg.Wait()
	})
	return s
}

// timeline keeps the events of a source.
type timeline struct {
	mu     sync.Mutex
	events []Event
}

func (l *timeline) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func (l *timeline) all() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Event(nil), l.events...)
}

// states are the states in order, each once.
func (l *timeline) states() string {
	text, last := "", State("")
	for _, e := range l.all() {
		if e.State != last {
			text += fmt.Sprintf("%s ", e.State)
		}
		last = e.State
	}
	return text
}

var usb = Device{Name: "USB PnP Audio: Audio (hw:1,0)", System: "ALSA", Rate: 44100, Channels: 1, index: 1}

// C97: a source that hangs, and one that errs as fast as it is read.
func TestC97(t *testing.T) {
	for _, tc := range []struct {
		name string
		read func(*fake) func() (bool, error)
	}{
		{"read never returns", func(f *fake) func() (bool, error) {
			return func() (bool, error) { <-f.end; return false, io.ErrClosedPipe }
		}},
		{"read fails", func(*fake) func() (bool, error) {
			return func() (bool, error) { return false, errors.New("input/output error") }
		}},
		{"read gives too little", func(f *fake) func() (bool, error) { // a block, then nothing
			n := 0
			return func() (bool, error) {
				first := false
				if f.set(func() { n++; first = n%2 == 1 }); first {
					return false, nil
				}
				<-f.end
				return false, io.ErrClosedPipe
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(usb)
				var seen timeline
				log := &lines{}
				s := openFake(t, f, "USB PnP", Options{Notify: seen.add, Log: log.logger()})
				drain(t, s)
				time.Sleep(3 * time.Second)
				if s.Status().State != Running {
					t.Fatalf("at first: %+v", s.Status())
				}
				before, logged := s.Status().Attempts, log.count()
				f.set(func() { f.read = tc.read(f) })
				time.Sleep(2 * time.Second)
				lost := false
				for _, e := range seen.all() {
					lost = lost || e.State == Lost
				}
				if !lost {
					t.Errorf("not lost within 2 s: %s", seen.states())
				}
				time.Sleep(8 * time.Second)
				if n := s.Status().Attempts - before; n < 3 || n > 5 {
					t.Errorf("%d attempts in 10 s, want up to 5", n)
				}
				if n := log.count() - logged; n < 1 || n > 10 {
					t.Errorf("%d lines in the log, want up to 10", n)
				}
				missing := s.Status().Missing
				f.set(func() { f.read = nil })
				time.Sleep(2 * time.Second)
				if s.Status().State != Running {
					t.Errorf("2 s after it works again: %+v", s.Status())
				}
				now := s.Status()
				if now.Missing <= missing || now.Missing < 9*audio.SampleRate || now.Missing > 12*audio.SampleRate {
					t.Errorf("%v are marked as missing", duration(now.Missing))
				}
				if off := now.Pos - 15*audio.SampleRate; off < -1600 || off > 1600 {
					t.Errorf("the sample clock is at %v after 15 s", duration(now.Pos))
				}
			})
		})
	}
}

// C98: a consumer that is busy for 5 s at a time loses nothing.
func TestC98(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(Device{Name: "mic", Rate: 16000, Channels: 1, Default: true})
		s := openFake(t, f, "", Options{})
		heard, began := int64(0), time.Now()
		for time.Since(began) < 60*time.Second {
			time.Sleep(5 * time.Second) // busy
			for end, _ := s.ring.written(); heard < end; {
				b, err := s.Read(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if b.Missing != 0 || b.Pos != heard {
					t.Fatalf("%d missing at %d, want sound at %d", b.Missing, b.Pos, heard)
				}
				heard += int64(len(b.Samples))
			}
		}
		if off := heard - 60*audio.SampleRate; off < -4*chunk || off > 0 {
			t.Errorf("heard %d samples in 60 s", heard)
		}
		if status := s.Status(); status.Missing != 0 || status.Dropped != 0 || status.Overflow != 0 {
			t.Errorf("lost: %+v", status)
		}
	})
	// What stands in for the callback: taking 10 ms in. It must not wait or allocate.
	s := newStream(options(), spec{filter: true, gain: true})
	block, late := sine(440, 0.01, audio.SampleRate, audio.SampleRate/100), 0
	const calls = 6000 // 60 s
	if n := testing.AllocsPerRun(calls, func() {
		began := time.Now()
		if err := s.put(t.Context(), block); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > time.Millisecond {
			late++
		}
		for b, ok, _ := s.ring.next(); ok; b, ok, _ = s.ring.next() {
			_ = b
		}
	}); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
	if late > calls/100 && !testing.Short() { // which is how the race detector runs, slowly
		t.Errorf("%d of %d calls took more than 1 ms", late, calls)
	}
}

// C100: unplugged at 5 s, plugged in again at 8 s under another number.
func TestC100(t *testing.T) {
	for _, away := range []time.Duration{3 * time.Second, 40 * time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				other := Device{Name: "HDA Intel: Analog (hw:0,0)", Rate: 48000, Channels: 2, index: 7, Default: true}
				f := newFake(other, usb)
				var seen timeline
				s := openFake(t, f, "USB PnP Audio", Options{Notify: seen.add})
				drain(t, s)
				time.Sleep(5 * time.Second)
				f.set(func() { f.devices = []Device{other} })
				time.Sleep(away)
				status := s.Status()
				if status.State == Running {
					t.Errorf("running without the device: %+v", status)
				}
				if off := 5*time.Second + away - duration(status.Pos); off < 0 || off > time.Second {
					t.Errorf("the sample clock is %v behind while the device is away", off)
				}
				back := usb
				back.Name, back.index = "USB PnP Audio: Audio (hw:3,0)", 3
				f.set(func() { f.devices = []Device{other, back} })
				time.Sleep(2 * time.Second)
				status = s.Status()
				if status.State != Running || status.Device != back.Name {
					t.Errorf("2 s after it is back: %+v", status)
				}
				if want := "opening running lost searching opening running "; seen.states() != "searching "+want && seen.states() != want {
					t.Errorf("the states were %s", seen.states())
				}
				last := seen.all()[len(seen.all())-1]
				if gap := duration(last.Gap); gap < away || gap > away+2*time.Second || last.Gap != status.Missing {
					t.Errorf("the gap is marked as %v; %v are missing", gap, duration(status.Missing))
				}
				if at := duration(last.Pos); at < 4900*time.Millisecond || at > 5*time.Second {
					t.Errorf("the gap begins at %v", at)
				}
				for i := 1; i < len(status.History); i++ {
					if status.History[i].Time.Before(status.History[i-1].Time) {
						t.Error("the history is out of order")
					}
				}
			})
		})
	}
}

// C101: the device refuses 16 kHz.
func TestC101(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(usb)
		f.takes = func(format audio.Format) error {
			if format.Rate != 44100 && format.Rate != 48000 {
				return errors.New("invalid sample rate")
			}
			return nil
		}
		s := openFake(t, f, "usb", Options{})
		got, _ := hear(t, s, time.Second)
		if want := (audio.Format{Rate: 48000, Channels: 1}); len(f.opens) != 1 || f.opens[0] != want {
			t.Errorf("opened in %v, want %v", f.opens, want)
		}
		if level := dB(got[1600:]); level < -9.13 || level > -8.93 {
			t.Errorf("the tone is at %.2f dBFS", level)
		}
	})
	for _, frames := range []int{441, 480, 512, 1024} {
		t.Run(fmt.Sprint(frames, " frames"), func(t *testing.T) {
			tone := sine(1000, 0.5, 48000, 10*48000)
			f := newFake()
			s := newStream(Options{Convert: options().Convert}, spec{})
			v := newSupervisor(s, spec{})
			v.start = f.process(func(_ context.Context, out io.Writer) error {
				w := &wireWriter{out: out}
				if err := w.json(msgOpened, audio.Format{Rate: 48000, Channels: 1}); err != nil {
					return err
				}
				for at := 0; at < len(tone); at += frames {
					if err := w.sound(tone[at:min(len(tone), at+frames)]); err != nil {
						return err
					}
				}
				<-f.end
				return nil
			})
			s.begin(t.Context(), v.run)
			defer s.Close()
			defer close(f.end)
			got, missing := hear(t, s, 9900*time.Millisecond)
			if missing != 0 {
				t.Errorf("%d samples are missing", missing)
			}
			want := sine(1000, 0.5, audio.SampleRate, len(got))
			worst := float32(0)
			for i := 400; i < len(got); i++ {
				worst = max(worst, got[i]-want[i], want[i]-got[i])
			}
			if worst > 0.001 { // 0.1 dB of 0.5 would be 0.006; a click far more
				t.Errorf("off by %g from a tone without clicks", worst)
			}
		})
	}
	f := newFake()
	f.takes = func(audio.Format) error { return errors.New("invalid sample rate") }
	if _, _, err := openAny(f, usb, audio.Format{}); err == nil || err.Error() != `open "USB PnP Audio: Audio (hw:1,0)" (13 formats tried): 48000 Hz with 1 channels: invalid sample rate` {
		t.Errorf("a device that takes nothing: %v", err)
	}
	f.takes = func(audio.Format) error { f.lists++; return errBusy }
	if _, _, err := openAny(f, usb, audio.Format{}); !errors.Is(err, errBusy) || f.lists != 1 {
		t.Errorf("a device that is in use: %v after %d tries", err, f.lists)
	}
}

// Of a device, too, one channel can be taken; that there is none such is a state.
func TestDeviceChannel(t *testing.T) {
	for channel, want := range map[audio.Channel]float64{audio.Mix: -9.03, 1: Quietest, 2: -9.03} {
		got, _ := hear(t, openStereo(t, channel), time.Second)
		if level := dB(got[1600:]); level < want-0.1 || level > want+0.1 {
			t.Errorf("channel %d: %.1f dBFS, want %.1f", channel, level, want)
		}
	}
	s := openStereo(t, 3)
	until(t, s, "given a reason", 5*time.Second, func(s Status) bool {
		return s.State == Searching && s.Reason == "take channel 3 of 2: there is no such channel"
	})
}

// openStereo has a device that gives a tone on the second of its two channels.
func openStereo(t *testing.T, channel audio.Channel) *stream {
	f := newFake()
	s := newStream(Options{Convert: options().Convert}, spec{channel: channel})
	v := newSupervisor(s, spec{})
	v.start = f.process(func(ctx context.Context, out io.Writer) error {
		w := &wireWriter{out: out}
		if err := w.json(msgOpened, audio.Format{Rate: audio.SampleRate, Channels: 2}); err != nil {
			return err
		}
		both := make([]float32, 4*audio.SampleRate)
		for i, v := range sine(1000, 0.5, audio.SampleRate, 2*audio.SampleRate) {
			both[2*i+1] = v
		}
		for block := range slices.Chunk(both, 1280) {
			if err := w.sound(block); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return nil
	})
	s.begin(t.Context(), v.run)
	t.Cleanup(func() { s.Close() })
	return s
}

// What the driver lost is estimated from the clock, and marked where it is.
func TestOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(Device{Name: "mic", Rate: 48000, Channels: 2, Default: true})
		blocks := 0
		f.read = func() (bool, error) {
			if blocks++; blocks == 25 || blocks == 35 { // behind what ends at 0.96 s, and 0.4 s later
				time.Sleep(300 * time.Millisecond)
				return true, nil
			}
			return false, nil
		}
		var seen timeline
		began := time.Now()
		s := openFake(t, f, "", Options{Notify: seen.add})
		got, missing := hear(t, s, 3*time.Second)
		if off := time.Since(began) - duration(int64(len(got))); off < -time.Millisecond || off > 100*time.Millisecond {
			t.Errorf("%v of sound in %v", duration(int64(len(got))), time.Since(began))
		}
		if off := missing - samples(600*time.Millisecond); off < -160 || off > 160 {
			t.Errorf("%v are marked as missing, want twice 0.3 s", duration(missing))
		}
		if status := s.Status(); status.Overflow != 2 || status.Missing != missing {
			t.Errorf("the status is %+v", status)
		}
		var gap Event
		for _, e := range seen.all() {
			if e.Gap > 0 && gap.Gap == 0 {
				gap = e
			}
		}
		if 2*gap.Gap != missing || gap.Pos != samples(960*time.Millisecond) {
			t.Errorf("the gap is marked as %+v", gap)
		}
		if quiet := dB(got[gap.Pos : gap.Pos+gap.Gap]); quiet > Quietest {
			t.Errorf("sound of %.1f dBFS in the gap", quiet)
		}
	})
}

// A reader that is away for longer than the buffer holds loses the end, and knows where.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(Device{Name: "mic", Rate: 16000, Channels: 1, Default: true})
		var seen timeline
		s := openFake(t, f, "", Options{Buffer: 2 * time.Second, Notify: seen.add})
		time.Sleep(5 * time.Second)
		_, missing := hear(t, s, 6*time.Second)
		if missing < samples(2900*time.Millisecond) || missing > samples(3100*time.Millisecond) {
			t.Errorf("%v are missing, want 3 s", duration(missing))
		}
		told := 0
		for _, e := range seen.all() {
			if e.Reason == reasonDropped {
				told++
			}
		}
		if status := s.Status(); status.Dropped != 1 || told != 1 || status.Missing != missing || status.State != Running {
			t.Errorf("told %d times, status %+v", told, status)
		}
	})
}

// Capture processes that misbehave, for real.
func TestMisbehaving(t *testing.T) {
	for _, tc := range []struct{ what, reason string }{
		{"garbage", `the capture process sent garbage: no message begins with "this is "`},
		{"crash", "the driver is unhappy; SIGABRT"},
		{"mute", processEnded},
		{"nonsense", "no misbehaviour"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Setenv(misbehave, tc.what)
			s := open(t, "", options())
			status := until(t, s, "given a reason", 3*time.Second, func(s Status) bool { return s.Reason != "" })
			if status.State != Searching || !strings.Contains(status.Reason, tc.reason) {
				t.Errorf("got %+v, want %q", status, tc.reason)
			}
		})
	}
	t.Run("C88 flood", func(t *testing.T) {
		t.Setenv(misbehave, "flood")
		s := open(t, "", options())
		until(t, s, "running", 5*time.Second, is(Running))
	})
	t.Run("short", func(t *testing.T) {
		t.Setenv(misbehave, "short")
		s := open(t, "", options())
		until(t, s, "lost", 3*time.Second, is(Lost))
		until(t, s, "running again", 3*time.Second, is(Running))
	})
	t.Run("no program", func(t *testing.T) {
		o := options()
		o.Command = []string{"/nowhere/earshot"}
		s := open(t, "", o)
		status := until(t, s, "given a reason", time.Second, func(s Status) bool { return s.Reason != "" })
		if status.State != Searching || !strings.Contains(status.Reason, "start the capture process") {
			t.Errorf("got %+v", status)
		}
		if _, err := Devices(t.Context(), o); err == nil {
			t.Error("a list from no program")
		}
	})
	t.Run("garbage for a list", func(t *testing.T) {
		t.Setenv(misbehave, "garbage")
		if _, err := Devices(t.Context(), options()); !errors.Is(err, errGarbage) {
			t.Errorf("got %v", err)
		}
	})
}

// lines counts what is logged.
type lines struct {
	mu sync.Mutex
	n  int
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	return len(p), nil
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
