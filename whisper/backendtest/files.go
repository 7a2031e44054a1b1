package backendtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"earshot/whisper/weights"
)

// Shared returns the path of a file in the folder "shared" beside the checkout,
// which holds recordings and reference values. Without that folder the test is
// skipped, except under CI=true, where it fails.
func Shared(t testing.TB, path string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test's folder")
		}
	}
	full := filepath.Join(filepath.Dir(dir), "shared", filepath.FromSlash(path))
	if _, err := os.Stat(full); err != nil {
		absent(t, "needs "+full)
	}
	return full
}

// Model opens a real model of the user's store (`earshot model pull`). Without it
// the test is skipped, except under CI=true, where it fails; with -short it always
// is, since real models take their time.
func Model(t testing.TB, name string) *weights.Model {
	t.Helper()
	if testing.Short() {
		t.Skip("runs " + name)
	}
	path, err := store(t).Path(name)
	if errors.Is(err, fs.ErrNotExist) {
		absent(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// Silero returns the tensors of the speech detector in the user's store. Without it
// the test is skipped, except under CI=true, where it fails.
func Silero(t testing.TB) (tensors func(name string, shape ...int) ([]float32, error)) {
	t.Helper()
	tensors, err := store(t).Silero()
	if errors.Is(err, fs.ErrNotExist) {
		absent(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

func store(t testing.TB) weights.Store {
	t.Helper()
	state := os.Getenv("EARSHOT_STATE")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		state = filepath.Join(home, ".local", "state", "earshot")
	}
	return weights.Store{Dir: filepath.Join(state, "models")}
}

func absent(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}
