//go:build linux && cgo && (amd64 || arm64)

package npu

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/npu/graph"
)

// recorder builds the library of npu/neuron's tests, without the functions that are named.
func recorder(t *testing.T, without ...string) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "librecorder.so")
	script := filepath.Join(t.TempDir(), "version")
	text := "{ global: *; };"
	if len(without) > 0 {
		text = "{ local: " + strings.Join(without, "; ") + "; };"
	}
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(cmp.Or(os.Getenv("CC"), "cc"), "-shared", "-fPIC", "-o", library, "neuron/testdata/recorder.c", "-Wl,--version-script="+script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

// record returns the calls that f makes, with their arguments, one a line.
func record(t *testing.T, f func()) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	t.Setenv("RECORDER_LOG", path)
	f()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func openRecorder(t *testing.T, without ...string) *local {
	t.Helper()
	d, err := openLocal(t.Context(), recorder(t, without...))
	if err != nil {
		t.Fatal(err)
	}
	d.heap = "/dev/null" // is no heap
	t.Cleanup(func() { d.Close() })
	return d
}

// TestLower compares the calls for a graph with all operations with testdata/everything.txt,
// which was checked by hand against facts/neuron-observed.md 5. EARSHOT_UPDATE=1 writes it.
func TestLower(t *testing.T) {
	d := openRecorder(t)
	calls := record(t, func() {
		n, err := d.Compile(t.Context(), everything(), DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Execute(t.Context(), buffers(64), buffers(72, 64)); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	})
	got := strings.Join(calls, "\n") + "\n"
	const path = "testdata/everything.txt"
	if os.Getenv("EARSHOT_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s", got)
	}
}

func buffers(sizes ...int) (all [][]byte) {
	for _, n := range sizes {
		all = append(all, make([]byte, n))
	}
	return all
}

// life compiles a graph with an extension operation, stores, restores and runs it.
func life(t *testing.T, d *local) error {
	g := graph.New("life")
	x := g.Input("x", graph.Float32, 1, 4)
	gamma := g.Const("gamma", graph.Float32, make([]byte, 16), 4)
	g.Output(g.LayerNorm(x, gamma, gamma, 1e-5))
	if _, err := d.Supports(t.Context(), g); err != nil {
		return err
	}
	o := DefaultOptions()
	o.Relax = true
	n, err := d.Compile(t.Context(), g, o)
	if err != nil {
		return err
	}
	b, err := n.Store(t.Context())
	if err != nil {
		return err
	}
	restored, err := d.Restore(t.Context(), b)
	if err != nil {
		return err
	}
	if err := n.Close(); err != nil {
		return err
	}
	return restored.Execute(t.Context(), buffers(16), buffers(16))
}

// TestRefused lets one function after the other fail: the error says which, and all that
// was made is freed.
func TestRefused(t *testing.T) {
	library := recorder(t)
	names := []string{}
	for _, call := range record(t, func() {
		d, err := openLocal(t.Context(), library)
		if err != nil {
			t.Fatal(err)
		}
		if err := life(t, d); err != nil {
			t.Fatal(err)
		}
		d.Close()
	}) {
		if name, _, _ := strings.Cut(call, " "); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 35 {
		t.Fatalf("only %d functions are called: %v", len(names), names)
	}
	// Without these all goes on, by another way or without what they are for.
	spare := []string{"Neuron_getNeuroPilotMagicNumber", "Neuron_getL1MemorySizeKb", "Neuron_getDeviceCount", "Neuron_getDevice", "NeuronDevice_getName", "NeuronCompilation_setL1MemorySizeKb", "NeuronMemory_createFromFd"}
	for _, name := range names {
		if strings.HasSuffix(name, "_free") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Setenv("RECORDER_FAIL", name+"=4")
			before := descriptors()
			var failure error
			calls := record(t, func() {
				d, err := openLocal(t.Context(), library)
				if failure = err; err != nil {
					return
				}
				failure = life(t, d)
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
			if slices.Contains(spare, name) {
				if failure != nil {
					t.Error(failure)
				}
			} else {
				wantRefused(t, "life", failure, name, 4)
			}
			made, freed := 0, 0
			for _, call := range calls {
				f, _, _ := strings.Cut(call, " ")
				switch {
				case f == name: // and gave nothing
				case f == "NeuronModel_restoreFromCompiledNetwork":
					made += 2
				case strings.HasSuffix(f, "_create"), f == "NeuronMemory_createFromFd":
					made++
				case strings.HasSuffix(f, "_free"):
					freed++
				}
			}
			if made != freed {
				t.Errorf("%d handles were made, %d freed:\n%s", made, freed, strings.Join(calls, "\n"))
			}
			if after := descriptors(); after != before {
				t.Errorf("%d descriptors, then %d", before, after)
			}
		})
	}
}

// TestMissing hides functions: what they are for is left out, done another way, or refused
// by name.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name    string
		without []string
		want    string // the function that is asked for in vain; "" if all goes on
	}{
		{"all that can be spared", []string{
			"Neuron_getNeuroPilotMagicNumber", "Neuron_getL1MemorySizeKb", "Neuron_getDeviceCount", "NeuronModel_setName",
			"NeuronCompilation_setPreference", "NeuronCompilation_setPriority", "NeuronCompilation_setOptimizationHint",
			"NeuronCompilation_setOptimizationString", "NeuronCompilation_setL1MemorySizeKb", "NeuronExecution_setBoostHint",
			"NeuronMemory_createFromFd", "NeuronCompilation_getSupportedOperations",
		}, ""},
		{"no way to ask for support", []string{"NeuronCompilation_getSupportedOperations", "NeuronModel_getSupportedOperations"}, "NeuronModel_getSupportedOperations"},
		{"no extensions", []string{"NeuronModel_getExtensionOperandType"}, "NeuronModel_getExtensionOperandType"},
		{"nothing to store with", []string{"NeuronCompilation_getCompiledNetworkSize"}, "NeuronCompilation_getCompiledNetworkSize"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openRecorder(t, c.without...)
			err := life(t, d)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := (*Error)(nil); !errors.As(err, &e) || !errors.Is(err, ErrMissing) || e.Func != c.want {
				t.Errorf("got %v, want ErrMissing of %s", err, c.want)
			}
		})
	}
}

// TestPools gives tensors to the library by descriptor, or as plain memory where it takes
// none.
func TestPools(t *testing.T) {
	g := graph.New("two")
	a, b := g.Input("a", graph.Float32, 3), g.Input("b", graph.Float32, 3)
	g.Output(g.Add(a, b))
	g.Output(g.Mul(a, b))
	for _, c := range []struct {
		name    string
		without []string
		want    []string
	}{
		{"descriptors", nil, []string{
			"NeuronExecution_setInputFromMemory 0 0+12", "NeuronExecution_setInputFromMemory 1 128+12",
			"NeuronExecution_setOutputFromMemory 0 0+12", "NeuronExecution_setOutputFromMemory 1 128+12",
		}},
		{"plain memory", []string{"NeuronMemory_createFromFd"}, []string{
			"NeuronExecution_setInput 0 12", "NeuronExecution_setInput 1 12", "NeuronExecution_setOutput 0 12", "NeuronExecution_setOutput 1 12",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openRecorder(t, c.without...)
			n, err := d.Compile(t.Context(), g, DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			calls := record(t, func() {
				if err := n.Execute(t.Context(), buffers(12, 12), buffers(12, 12)); err != nil {
					t.Fatal(err)
				}
			})
			var got []string
			for _, call := range calls {
				if strings.Contains(call, "putFrom") || strings.Contains(call, "_setInput") || strings.Contains(call, "_setOutput") {
					got = append(got, call)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestLoad looks for the library by its names, in order.
func TestLoad(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	library := recorder(t)
	put := func(dir, name string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(library, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old, young := put(other, adapterName+".6.3.3"), put(dir, adapterName+".8.2.16")
	between := put(dir, adapterName+".8.2.9")
	want := []string{adapterName, young, between, old, "libneuron_adapter_mgvi.so", "libneuron_adapter.so"}
	if got := candidates([]string{dir, other}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	t.Setenv(LibraryVariable, "")
	_, err := Open(t.Context(), "")
	if err == nil {
		t.Skip("this machine has a library")
	}
	if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "libneuron_adapter_mgvi.so") {
		t.Errorf("no library: %v", err)
	}
	if _, err := startWorker(t, WorkerOptions{}); !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "libneuron_adapter_mgvi.so") {
		t.Errorf("no library for a worker: %v", err)
	}
	t.Setenv("LD_LIBRARY_PATH", dir+":"+other) // the loader has read it before: for names with a version it is ours
	d, err := Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Status(); got.Library != young || got.Magic != 321 || got.L1KB != 256 {
		t.Errorf("status %+v", got)
	}
	d.Close()
	t.Setenv(LibraryVariable, "/there/is/none.so")
	if _, err := Open(t.Context(), ""); err == nil || errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "none.so") {
		t.Errorf("a library that is named and not there: %v", err)
	}
	t.Setenv(LibraryVariable, library)
	if d, err = Open(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	d.Close()
}
