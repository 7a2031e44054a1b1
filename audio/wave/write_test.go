package wave

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"earshot/audio"
)

func TestWriteMono16(t *testing.T) {
	samples := []float32{0, 0.5, -0.5, 1, -1, 3, -3, float32(math.NaN()), 1.0 / 32768, 0.4 / 32768}
	want := []float32{0, 0.5, -0.5, 32767.0 / 32768, -1, 32767.0 / 32768, -1, 0, 1.0 / 32768, 0}
	for len(samples) < 9000 { // more than a block
		samples, want = append(samples, samples...), append(want, want...)
	}
	for _, n := range []int{0, 1, 10, 4096, len(samples)} {
		path := filepath.Join(t.TempDir(), "clip.wav")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteMono16(f, 22050, samples[:n]); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := audio.ReadAll(r)
		if info := (Info{"WAV", "PCM", 16, 22050, 1, int64(n)}); err != nil || r.Info() != info {
			t.Errorf("%d samples: got %+v, %v, want %+v", n, r.Info(), err, info)
		}
		if off := farthest(t, got, want[:n]); off > 0 {
			t.Errorf("%d samples: off by %g", n, off)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		file, err := os.ReadFile(path)
		if err != nil || int(le.Uint32(file[4:])) != len(file)-8 || !bytes.Equal(file[36:40], []byte("data")) {
			t.Errorf("%d samples: the header does not fit the %d bytes", n, len(file))
		}
	}
}

func TestOpenMissing(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "no.wav")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
}
