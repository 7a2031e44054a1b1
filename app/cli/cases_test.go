package cli

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"earshot/audio"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
)

// These are the rows of shared/cases.md that need a real model, run through what
// `earshot transcribe` does with a recording.

// ear is a listener with a model, loaded once for a test.
func ear(t *testing.T, model, language string) *listener {
	t.Helper()
	return earIn(t, model, language, oncpu.Int8)
}

// earIn is ear in a precision.
func earIn(t *testing.T, model, language string, p oncpu.Precision) *listener {
	t.Helper()
	needModels(t, model)
	env := &Env{Stdout: io.Discard, Stderr: io.Discard, StateDir: stateDir(t)}
	flags := transcribeFlags{engineFlags: engineFlags{model: model, language: language, threads: 2, computeType: string(p), window: "auto"}, task: "transcribe", beam: 1, channels: "mix"}
	tr, err := newTranscription(env, flags)
	if err != nil {
		t.Fatal(err)
	}
	return &tr.listener
}

// needModels skips a test that can't do without real models, which takes seconds.
func needModels(t *testing.T, names ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real model")
	}
	for _, name := range names {
		backendtest.Model(t, name)
	}
}

func stateDir(t *testing.T) string {
	t.Helper()
	env := &Env{}
	root := rootCommand(env)
	if err := root.PersistentPreRunE(root, nil); err != nil {
		t.Fatal(err)
	}
	return env.StateDir
}

// samples is a mono source of samples in memory.
type samples struct{ left []float32 }

func (s *samples) Format() audio.Format {
	return audio.Format{Rate: audio.SampleRate, Channels: 1}
}

func (s *samples) Read(dst []float32) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(dst, s.left)
	s.left = s.left[n:]
	return n, nil
}

func (l *listener) hearSamples(t *testing.T, name string, x []float32) *heard {
	t.Helper()
	h, err := l.hear(context.Background(), &recording{name: name, mono: &samples{x}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return h
}

// load reads a file of ../shared/audio at 16 kHz mono.
func load(t *testing.T, path string) []float32 {
	t.Helper()
	in, err := openRecording(&Env{}, backendtest.Shared(t, "audio/"+path), audio.Mix)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	x, err := audio.ReadAll(in.mono)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func join(parts ...[]float32) []float32 {
	var all []float32
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func zeros(seconds float64) []float32 { return make([]float32, int(seconds*audio.SampleRate)) }

// noise is white noise at a level in dB against full scale, the same for a seed.
func noise(seconds, level float64, seed uint64) []float32 {
	random := rand.New(rand.NewPCG(seed, 0))
	x := zeros(seconds)
	for i := range x {
		x[i] = float32(random.NormFloat64() * math.Pow(10, level/20))
	}
	return x
}

const jfkText = "And so my fellow Americans ask not what your country can do for you ask what you can do for your country"

// TestNothingReadIsNothingLost sees that text in front of a read error comes out.
func TestNothingReadIsNothingLost(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	broken := errors.New("the disk is on fire")
	src := &failing{samples{load(t, "jfk/jfk.wav")}, broken}
	h, err := l.hear(context.Background(), &recording{name: "jfk", mono: src})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	near(t, "text before the error", h.text(), jfkText, 0)
}

type failing struct {
	samples
	err error
}

func (f *failing) Read(dst []float32) (int, error) {
	n, err := f.samples.Read(dst)
	if err != nil {
		err = f.err
	}
	return n, err
}

var _ whisper.Stream = (*samples)(nil)
