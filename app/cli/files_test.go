package cli

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/app/export"
	"earshot/whisper/backendtest"
)

// The files of cases.md C1 to C21 through the command line: what text comes out, and
// what is said about the file. Their samples are compared in audio/wave.

const (
	shortText   = "And so my fellow Americans"                                              // of wav-synthetic; tiny.en hears something else
	accountText = "I really like that account of himself better than anything else he said" // of 1688-142285-0003; he says "liked"
)

// waveFile writes channels as a WAV file of 16 bits.
func waveFile(t *testing.T, path string, rate int, channels ...[]float32) string {
	t.Helper()
	var b []byte
	le := binary.LittleEndian
	n := len(channels)
	b = append(b, "RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00"...)
	b = le.AppendUint16(b, uint16(n))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*n*2))
	b = append(b, byte(2*n), 0, 16, 0)
	b = append(b, "data\xff\xff\xff\xff"...)
	for k := range channels[0] {
		for _, c := range channels {
			b = le.AppendUint16(b, uint16(int16(32767*max(-1, min(1, c[k])))))
		}
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// to44100 resamples 16 kHz by a windowed sinc of 32 samples on each side.
func to44100(x []float32) []float32 {
	y := make([]float32, len(x)*441/160)
	for i := range y {
		at := float64(i) * 160 / 441
		for k := max(0, int(at)-31); k <= min(len(x)-1, int(at)+32); k++ {
			d := at - float64(k)
			w := 0.5 + 0.5*math.Cos(math.Pi*d/33)
			if d != 0 {
				w *= math.Sin(math.Pi*d) / (math.Pi * d)
			}
			y[i] += float32(w) * x[k]
		}
	}
	return y
}

func scaled(x []float32, by float32) []float32 {
	y := make([]float32, len(x))
	for i := range x {
		y[i] = by * x[i]
	}
	return y
}

func added(x, y []float32) []float32 {
	sum := make([]float32, len(x))
	for i := range x {
		sum[i] = x[i] + y[i]
	}
	return sum
}

// TestFiles transcribes files that are odd in one way each, in one call.
func TestFiles(t *testing.T) {
	needModels(t, "tiny.en", "base")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	renamed := func(name string) string {
		b, err := os.ReadFile(backendtest.Shared(t, "audio/jfk/jfk.mp3"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(name), b, 0o666); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	odd := func(name string) string { return backendtest.Shared(t, "audio/wav-odd/"+name) }
	synthetic := func(name string) string { return backendtest.Shared(t, "audio/wav-synthetic/"+name) }
	speech := load(t, "wav-synthetic/extensible_24bit.wav")
	wide, mute := to44100(speech), make([]float32, len(speech)*441/160)
	hiss := noise(2, -50, 18)

	for _, c := range []struct {
		name     string
		model    string
		path     string
		text     string
		duration float64
		stderr   []string // parts of what is said
	}{
		{"C1, the size is too big", "base", synthetic("data_size_too_big.wav"), shortText, 2, []string{"65000", "64000"}},
		{"C2, 44.1 kHz", "tiny.en", backendtest.Shared(t, "audio/jfk/jfk.flac"), jfkText, 11, nil},
		{"C3, a codec that is not read", "tiny.en", odd("am_ms_adpcm.wav"), "", -1, []string{"MS ADPCM (0x0002)", "accepted", "FLAC"}},
		{"C4, MP3 as WAV", "tiny.en", renamed("mp3.wav"), jfkText, 11, nil},
		{"C4, MP3 without an ending", "tiny.en", renamed("mp3"), jfkText, 11, nil},
		{"C16, fmt of 1.7 GB", "tiny.en", odd("ps_bad.wav"), "", -1, []string{"damaged"}},
		{"C16, 1.1 MHz", "tiny.en", odd("ps_awful.wav"), "", -1, []string{"1092676 Hz"}},
		{"C16, 0 bytes", "tiny.en", odd("zero_bytes.wav"), "", -1, []string{"empty"}},
		{"C16, no samples", "tiny.en", odd("header_only.wav"), "", 0, nil},
		{"C17, one side, 44.1 kHz", "base", waveFile(t, in("left.wav"), 44100, wide, mute), shortText, 2, nil},
		{"C17, channel 3 of 6", "base", waveFile(t, in("six.wav"), 44100, mute, mute, wide, mute, mute, mute), shortText, 2, nil},
		{"C18, opposite phase", "base", synthetic("stereo_antiphase.wav"), shortText, 2, nil},
		{"C18, with noise on one side", "base", waveFile(t, in("hiss.wav"), 16000, speech, added(scaled(speech, -1), hiss)), shortText, 2, nil},
		{"C21, mu-law at 8 kHz", "tiny.en", backendtest.Shared(t, "audio/librispeech-noisy/1688-142285-0003_telephone8k_mulaw.wav"), accountText, 5.06, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := t.TempDir()
			start := time.Now()
			status, paths, stderr := run(t, nil, "transcribe", "--model", c.model, "--format", "json", "--output-dir", out, c.path)
			if refused := c.duration < 0; refused != (status != 0) || refused && time.Since(start) > 5*time.Second {
				t.Fatalf("status %d after %v: %s", status, time.Since(start), stderr)
			}
			for _, part := range c.stderr {
				if !strings.Contains(stderr, part) || !strings.Contains(stderr, c.path) {
					t.Errorf("standard error %q, want %q and the file in it", stderr, part)
				}
			}
			if lines := strings.Count(stderr, "\n"); lines != min(len(c.stderr), 1) || len(stderr) > 2000 {
				t.Errorf("%d lines, %d bytes on standard error: %s", lines, len(stderr), stderr)
			}
			if c.duration < 0 {
				return
			}
			f, err := os.Open(strings.TrimSpace(paths))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := export.Read(f, export.JSON)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "text", got.Text(), c.text, 0)
			if math.Abs(got.Duration-c.duration) > 0.0005 || len(got.Warnings) != min(len(c.stderr), 1) {
				t.Errorf("duration %.4f s, want %g; warnings %v", got.Duration, c.duration, got.Warnings)
			}
		})
	}
}

// TestEqualChannels is case C19: one transcript per channel of a call in mono.
func TestEqualChannels(t *testing.T) {
	needModels(t, "tiny.en")
	jfk := load(t, "jfk/jfk.wav")
	late := append(make([]float32, 1), scaled(jfk, 0.5)[:len(jfk)-1]...)
	for name, right := range map[string][]float32{"equal": jfk, "half as loud, a sample later": late} {
		path := waveFile(t, filepath.Join(t.TempDir(), "call.wav"), 16000, jfk, right)
		status, out, stderr := run(t, nil, "transcribe", "--channels", "each", "--format", "json", path)
		got, err := export.Read(strings.NewReader(out), export.JSON)
		if status != 0 || err != nil {
			t.Fatal(status, stderr, err)
		}
		near(t, name, got.Text(), jfkText, 0)
		if !strings.Contains(stderr, "channel 2 is the same as channel 1") || len(got.Warnings) != 1 {
			t.Errorf("%s: standard error %q, warnings %v", name, stderr, got.Warnings)
		}
	}
}

// TestTwoSpeakers is the counter-test to C19: two lines stay two, in the order of time.
func TestTwoSpeakers(t *testing.T) {
	needModels(t, "tiny.en")
	jfk, other := load(t, "jfk/jfk.wav"), load(t, "librispeech-test-other/1688-142285-0003.flac")
	left, right := join(jfk, zeros(7)), join(zeros(12), other, zeros(1))[:18*16000]
	path := waveFile(t, filepath.Join(t.TempDir(), "call.wav"), 16000, left, right)
	_, out, stderr := run(t, nil, "transcribe", "--channels", "each", "--format", "json", path)
	got, err := export.Read(strings.NewReader(out), export.JSON)
	if err != nil || stderr != "" {
		t.Fatal(stderr, err)
	}
	near(t, "two lines", got.Text(), jfkText+" "+accountText, 0)
	if last := got.Segments[len(got.Segments)-1]; last.Speaker != "channel 2" || got.Segments[0].Speaker != "channel 1" {
		t.Errorf("speakers %q … %q", got.Segments[0].Speaker, last.Speaker)
	}
}

// trickle hands out b in pieces of n bytes, and can't seek.
type trickle struct {
	b []byte
	n int
}

func (s *trickle) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.b)
	s.b = s.b[n:]
	return n, nil
}

// TestPipeOfUnknownLength is case C9: the duration is that of the samples read, in every
// format that tells it, and no time lies behind it (C47).
func TestPipeOfUnknownLength(t *testing.T) {
	whole, err := os.ReadFile(backendtest.Shared(t, "audio/wav-synthetic/data_size_ffffffff.wav"))
	if err != nil {
		t.Fatal(err)
	}
	for bytes, want := range map[int]float64{len(whole): 2, 32_044: 1} {
		for _, sequential := range []bool{false, true} {
			for _, f := range []export.Format{export.JSON, export.JSONL, export.SRT, export.VTT, export.TSV} {
				r := newRig(t, say(said{text: talk(5), until: 30, logProb: -0.2}),
					transcribeFlags{noVAD: true, sequential: sequential, outputFlags: outputFlags{formats: []string{string(f)}, words: true}})
				r.env.Stdin = &trickle{whole[:bytes], 1000}
				if err := r.run(context.Background(), []string{"-"}); err != nil {
					t.Fatal(err)
				}
				got := r.read(t, f)
				if end := got.Segments[len(got.Segments)-1].End; end > want || f == export.JSON && got.Duration != want {
					t.Errorf("%s, sequential %v: duration %g, last end %g, want %g", f, sequential, got.Duration, end, want)
				}
			}
		}
	}
}

// TestLengthThatLies is C1 for the containers that declare their length in samples: text
// behind the declared end keeps its place.
func TestLengthThatLies(t *testing.T) {
	flac, err := os.ReadFile(backendtest.Shared(t, "audio/librispeech-test-other/1688-142285-0003.flac"))
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(flac[22:], 16000) // the low half of the length, in STREAMINFO
	path := filepath.Join(t.TempDir(), "short.flac")
	if err := os.WriteFile(path, flac, 0o666); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, say(said{text: talk(5), until: 5, logProb: -0.2}), transcribeFlags{noVAD: true, outputFlags: outputFlags{formats: []string{"json"}}})
	if err := r.run(context.Background(), []string{path}); err != nil {
		t.Fatal(err)
	}
	got := r.read(t, export.JSON)
	if end := got.Segments[len(got.Segments)-1].End; math.Abs(end-5) > 0.5 || math.Abs(got.Duration-5.06) > 0.01 {
		t.Errorf("duration %g, last end %g, want 5", got.Duration, end)
	}
}
