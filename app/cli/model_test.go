package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/whisper/weights"
)

// modelEnv is an empty state folder with what commands write.
type modelEnv struct {
	Env
	out, err bytes.Buffer
}

func newModelEnv(t *testing.T) *modelEnv {
	e := &modelEnv{}
	e.Env = Env{Stdout: &e.out, Stderr: &e.err, StateDir: t.TempDir()}
	return e
}

// run carries out `earshot model ARGS` and returns what it prints.
func (e *modelEnv) run(args ...string) (stdout, stderr string, err error) {
	e.out.Reset()
	e.err.Reset()
	cmd := modelCommand(&e.Env)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(context.Background())
	return e.out.String(), e.err.String(), err
}

// writeMadeUpModel writes a small model with the same value everywhere.
func writeMadeUpModel(t *testing.T, value float32) string {
	t.Helper()
	var words [][]byte
	for b := range 256 {
		words = append(words, []byte{byte(b)})
	}
	path := filepath.Join(t.TempDir(), "model.earshot")
	h := weights.Header{Name: "made-up", Licence: "CC0-1.0", Dims: weights.Dims{
		Mels: 2, AudioCtx: 4, AudioState: 2, AudioHeads: 1, AudioLayers: 1,
		Vocab: 256 + 1509, TextCtx: 4, TextState: 2, TextHeads: 1, TextLayers: 1,
	}}
	err := weights.Write(path, h, words, func(_ string, shape []int) []float32 {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return slices.Repeat([]float32{value}, n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestModelCommands(t *testing.T) {
	e := newModelEnv(t)
	if out, diag, err := e.run("list"); out != "" || !strings.Contains(diag, "earshot model pull tiny.en") || err != nil {
		t.Errorf("empty list: %q, %q, %v", out, diag, err)
	}
	if out, _, err := e.run("list", "--json"); out != "[]\n" || err != nil {
		t.Errorf("empty list as JSON: %q, %v", out, err)
	}
	for i, name := range []string{"one", "two"} {
		out, diag, err := e.run("import", writeMadeUpModel(t, float32(i)), "--name", name)
		if err != nil || !strings.HasPrefix(out, name+"\n") || !strings.Contains(out, "licence      CC0-1.0\n") || !strings.Contains(diag, "importing model.earshot") {
			t.Errorf("import: %q, %q, %v", out, diag, err)
		}
	}
	out, _, err := e.run("list")
	if lines := strings.Split(out, "\n"); err != nil || len(lines) != 4 || !strings.HasPrefix(lines[1], "one ") || !strings.HasPrefix(lines[2], "two ") {
		t.Errorf("list: %q, %v", out, err)
	}
	var models []modelJSON
	if out, _, err = e.run("list", "--json"); err != nil || json.Unmarshal([]byte(out), &models) != nil || len(models) != 2 ||
		models[1].Name != "two" || models[1].Dims.Vocab != 1765 || models[1].Fingerprint == models[0].Fingerprint || models[1].Path == "" {
		t.Errorf("list as JSON: %s, %v", out, err)
	}
	if out, _, err = e.run("verify"); out != "one: ok\ntwo: ok\n" || err != nil {
		t.Errorf("verify: %q, %v", out, err)
	}
	if _, _, err = e.run("remove", "one"); err != nil {
		t.Error(err)
	}
	if out, _, err = e.run("verify", "one"); out != "" || err == nil || !strings.Contains(err.Error(), "model one is not in") {
		t.Errorf("verify a removed model: %q, %v", out, err)
	}
}

// TestImportPacks sees that a model is packed when it comes, and again when another
// takes its place; where that can't be, it comes all the same.
func TestImportPacks(t *testing.T) {
	e := newModelEnv(t)
	packed := filepath.Join(e.StateDir, "models", "one.packed")
	if err := os.MkdirAll(packed, 0o755); err != nil { // a folder is in the way
		t.Fatal(err)
	}
	if _, diag, err := e.run("import", writeMadeUpModel(t, 1), "--name", "one"); err != nil || !strings.Contains(diag, "earshot: note: ") || !strings.Contains(diag, packed) {
		t.Errorf("with a folder in the way: %q, %v", diag, err)
	}
	if err := os.Remove(packed); err != nil {
		t.Fatal(err)
	}
	var last os.FileInfo
	for i := range 2 {
		if _, diag, err := e.run("import", writeMadeUpModel(t, float32(i)), "--name", "one"); err != nil || strings.Contains(diag, "note") {
			t.Fatalf("%q, %v", diag, err)
		}
		info, err := os.Stat(packed)
		if err != nil || os.SameFile(info, last) {
			t.Fatalf("import %d: packed file %v, %v", i, info, err)
		}
		m, err := openModel(&e.Env, "one")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openNetwork(m, engineFlags{threads: 1, computeType: "int8"}); err != nil {
			t.Error(err)
		}
		m.Close()
		if last, err = os.Stat(packed); err != nil || !os.SameFile(info, last) {
			t.Errorf("import %d: packed again by the first start", i)
		}
	}
	if _, _, err := e.run("remove", "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(packed); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	e := newModelEnv(t)
	for _, name := range []string{"bad", "good"} {
		if _, _, err := e.run("import", writeMadeUpModel(t, 1), "--name", name); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(e.StateDir, "models", "bad.earshot")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "bad.earshot: tensor encoder.positional_embedding damaged"
	out, diag, err := e.run("verify")
	if out != "good: ok\n" || !strings.Contains(diag, want) || !errors.As(err, new(damagedModels)) {
		t.Errorf("verify all: %q, %q, %v", out, diag, err)
	}
	if out, _, err = e.run("verify", "bad"); out != "" || !errors.As(err, new(damagedModels)) || !strings.Contains(err.Error(), want) {
		t.Errorf("verify one: %q, %v", out, err)
	}
}

func TestPullOfUnknownModel(t *testing.T) {
	e := newModelEnv(t)
	out, diag, err := e.run("pull", "nothing", "../x")
	if out != "" || strings.Count(diag, "not a published model; these are: tiny, tiny.en") != 2 || !errors.As(err, new(someFailed)) {
		t.Errorf("%q, %q, %v", out, diag, err)
	}
}
