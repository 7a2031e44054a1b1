package capture

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/audio"
	"earshot/audio/resample"
	"earshot/audio/wave"
)

// TestMain makes the test binary a capture process too: what tests start is a real one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "capture" {
		os.Exit(captureMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// misbehave names, in the environment, what a capture process is to do instead.
const misbehave = "EARSHOT_TEST_MISBEHAVE"

func captureMain(args []string) int {
	var o ChildOptions
	flags := flag.NewFlagSet("capture", flag.ExitOnError)
	flags.StringVar(&o.Device, "device", "", "")
	flags.IntVar(&o.Format.Rate, "rate", 0, "")
	flags.IntVar(&o.Format.Channels, "channels", 0, "")
	list := flags.Bool("list", false, "")
	flags.Bool("until-eof", false, "")
	fd := flags.Int("fd", 1, "")
	_ = flags.Parse(args) // it exits
	out := os.NewFile(uintptr(*fd), "pipe")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	var err error
	switch what := os.Getenv(misbehave); {
	case what != "":
		err = misbehaving(what, out)
	case *list:
		err = List(out)
	default:
		err = Child(context.Background(), o, out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func misbehaving(what string, out io.Writer) error {
	w := &wireWriter{out: out}
	switch what {
	case "garbage":
		_, _ = out.Write([]byte(strings.Repeat("this is no message\n", 100)))
		time.Sleep(time.Hour)
	case "crash":
		fmt.Fprintln(os.Stderr, "the driver is unhappy")
		_ = syscall.Kill(os.Getpid(), syscall.SIGABRT)
		time.Sleep(time.Hour)
	case "flood": // C88: a pipe that nobody reads would stop it here
		line := strings.Repeat("x", 1023) + "\n"
		for range 1024 {
			fmt.Fprint(os.Stderr, line)
			fmt.Fprint(os.Stdout, line)
		}
		return pretend(w, time.Hour)
	case "mute": // opens and gives nothing
		return w.json(msgOpened, audio.Format{Rate: 16000, Channels: 1})
	case "short": // sound for a moment, again and again
		return pretend(w, 300*time.Millisecond)
	}
	return fmt.Errorf("no misbehaviour %q", what)
}

// pretend is a device that gives silence for a while.
func pretend(w *wireWriter, howLong time.Duration) error {
	if err := w.json(msgFound, Device{Name: "pretended"}); err != nil {
		return err
	}
	if err := w.json(msgOpened, audio.Format{Rate: 16000, Channels: 1}); err != nil {
		return err
	}
	for end := time.Now().Add(howLong); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err := w.sound(make([]float32, 320)); err != nil {
			return err
		}
	}
	return nil
}

// options are those of the product, with the test binary as capture process.
func options() Options {
	return Options{
		Convert:  resample.To16k,
		OpenFile: func(path string) (File, error) { return wave.Open(path) },
	}
}

func open(t *testing.T, spec string, o Options) Source {
	t.Helper()
	s, err := Open(t.Context(), spec, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// hear reads until it has that much of the sample clock, gaps included as zeros, and
// returns how much was missing. At the end of s it returns what there was.
func hear(t *testing.T, s Source, d time.Duration) (sound []float32, missing int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d+20*time.Second)
	defer cancel()
	want := -1
	for int64(len(sound)) < samples(d) {
		b, err := s.Read(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d samples: %v; status %+v", len(sound), err, s.Status())
		}
		if want >= 0 && b.Pos != int64(want) {
			t.Fatalf("a block at %d, want %d", b.Pos, want)
		}
		sound = append(sound, b.Samples...)
		sound = append(sound, make([]float32, b.Missing)...)
		missing += b.Missing
		want = int(b.Pos) + len(b.Samples) + int(b.Missing)
	}
	return sound, missing
}

// until waits until the status is as it should be.
func until(t *testing.T, s Source, what string, limit time.Duration, ok func(Status) bool) Status {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		status := s.Status()
		if ok(status) {
			return status
		}
		if time.Now().After(end) {
			t.Fatalf("not %s within %v: %+v", what, limit, status)
		}
	}
}

func is(state State) func(Status) bool { return func(s Status) bool { return s.State == state } }

// drain reads s until the test ends.
func drain(t *testing.T, s Source) {
	go func() {
		for {
			if _, err := s.Read(t.Context()); err != nil {
				return
			}
		}
	}()
}

func sine(hz, amplitude float64, rate, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return s
}

func dB(s []float32) float64 {
	sum := 0.0
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return decibels(sum / float64(max(1, len(s))))
}

// writeWAV writes sound of 16 kHz to path.
func writeWAV(t *testing.T, path string, sound []float32) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := wave.WriteMono16(f, audio.SampleRate, sound); err != nil {
		t.Fatal(err)
	}
}
