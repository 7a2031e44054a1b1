//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"earshot/npu/neuron"
)

// TestRuntime runs a file through the Runtime's functions. The simulator takes what it
// stored itself for one that the vendor's compiler made.
func TestRuntime(t *testing.T) {
	library := simulator(t)
	d, err := openLocal(t.Context(), library)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b, err := compile(t, d).Store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, network, err := parseStored(b, d.about.Version)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sums.dla")
	if err := os.WriteFile(path, network, 0o600); err != nil {
		t.Fatal(err)
	}

	r, err := neuron.OpenRuntime(library)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.NeuronRuntime_create()
	if err != nil {
		t.Fatal(err)
	}
	defer r.NeuronRuntime_release(i)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.NeuronRuntime_loadNetworkFromFile(i, path))
	memory := &arena{}
	defer memory.close()
	in, err := r.NeuronRuntime_getInputSize(i, 0)
	must(err)
	out, err := r.NeuronRuntime_getOutputSize(i, 0)
	must(err)
	if in != 16 || out != 32 {
		t.Errorf("%d bytes in, %d out", in, out)
	}
	x, err := memory.get(in)
	must(err)
	y, err := memory.get(out)
	must(err)
	copy(x, halves(1, 2, 3, 4, 5, 6, 7, 8))
	must(r.NeuronRuntime_setInput(i, 0, x))
	must(r.NeuronRuntime_setOutput(i, 0, y))
	must(r.NeuronRuntime_inference(i))
	if !bytes.Equal(y, added) {
		t.Errorf("got %x, want %x", y, added)
	}
}
