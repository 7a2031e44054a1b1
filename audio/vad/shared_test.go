package vad

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"earshot/audio"
	"earshot/audio/resample"
	"earshot/audio/wave"
	"earshot/whisper/backendtest"
)

// realSilero is the network that users run.
func realSilero(t testing.TB) *Silero {
	t.Helper()
	s, err := NewSilero(backendtest.Silero(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shared is the path of a recording in the folder of test audio beside the
// repository.
func shared(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(filepath.Dir(dir), "shared", "audio")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("test audio is missing: %v", err)
		}
		t.Skipf("test audio is missing: %v", err)
	}
	return filepath.Join(path, filepath.FromSlash(name))
}

// readNative reads a recording of one channel at its own rate.
func readNative(t testing.TB, name string) (samples []float32, rate int) {
	t.Helper()
	in, err := wave.Open(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	samples, err = audio.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return samples, in.Format().Rate
}

// readBefore holds what read has read: half of the time of all tests would be FLAC.
var readBefore sync.Map

// read reads a recording as 16 kHz mono.
func read(t testing.TB, name string) []float32 {
	t.Helper()
	x, ok := readBefore.Load(name)
	if !ok {
		x = read16k(t, name)
		readBefore.Store(name, x)
	}
	return slices.Clone(x.([]float32))
}

func read16k(t testing.TB, name string) []float32 {
	t.Helper()
	in, err := wave.Open(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	mono, err := resample.To16k(in)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := audio.ReadAll(mono)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}
