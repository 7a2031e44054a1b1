package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"earshot/app/eval"
	"earshot/audio"
	"earshot/audio/wave"
	"earshot/whisper/backendtest"
)

// joined is known speech, clip behind clip with pauses in between.
type joined struct {
	t     *testing.T
	path  string // WAV, 16 kHz
	clips []joinedClip
}

// joinedClip is a clip, and what became of it. Times are seconds of what is played.
type joinedClip struct {
	eval.Row
	at, end       float64
	first, last   between // where somebody begins to speak, and ends
	heard         string
	starts, stops float64 // of what was heard
}

// between is a moment as far as it is known.
type between struct{ early, late float64 }

func (b between) middle() float64 { return (b.early + b.late) / 2 }

// off is by how much x is outside.
func (b between) off(x float64) float64 { return min(x-b.early, 0) + max(x-b.late, 0) }

// join takes every other clip of read speech, of several speakers, for three minutes. The
// pauses are 0.8 to 1.5 s, and what the clips begin and end with.
func join(t *testing.T) *joined {
	t.Helper()
	dir := backendtest.Shared(t, "audio/librispeech-test-other")
	f, err := os.Open(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := eval.ReadManifest(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	j := &joined{t: t}
	random := rand.New(rand.NewPCG(6, 0))
	var all []float32
	pause := func() {
		all = append(all, make([]float32, int((0.8+0.7*random.Float64())*audio.SampleRate))...)
	}
	pause()
	const first = 10 // before, noises are as loud as speech: by the level it can't be told from them
	for i := first; i < len(rows) && len(all) < 180*audio.SampleRate; i += 2 {
		c := joinedClip{Row: rows[i], at: seconds(len(all))}
		c.Path = filepath.Join(dir, c.Path)
		x := readClip(t, c.Path)
		from, to := voiced(x, 35, 3, 3) // with a quiet first or last sound, or a click before or after
		from2, to2 := voiced(x, 20, 10, 8)
		c.first, c.last = between{c.at + from, c.at + from2}, between{c.at + to2, c.at + to}
		all = append(all, x...)
		c.end = seconds(len(all))
		j.clips = append(j.clips, c)
		pause()
	}
	j.path = writeClip(t, all)
	return j
}

// writeClip makes a WAV file of samples at 16 kHz.
func writeClip(t *testing.T, x []float32) (path string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "clip.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := wave.WriteMono16(out, audio.SampleRate, x); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}

func seconds(samples int) float64 { return float64(samples) / audio.SampleRate }

func readClip(t *testing.T, path string) []float32 {
	t.Helper()
	f, err := wave.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := audio.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if f.Format() != (audio.Format{Rate: audio.SampleRate, Channels: 1}) {
		t.Fatalf("%s: %+v", path, f.Format())
	}
	return x
}
