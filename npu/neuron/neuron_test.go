//go:build linux && cgo && (amd64 || arm64)

package neuron

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"earshot/whisper/backendtest"
)

// recorder builds testdata/recorder.c, without the functions that are named.
func recorder(t *testing.T, without ...string) string {
	t.Helper()
	dir := t.TempDir()
	script := "{ global: *; };"
	if len(without) > 0 {
		script = "{ local: " + strings.Join(without, "; ") + "; };"
	}
	if err := os.WriteFile(filepath.Join(dir, "version"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(dir, "librecorder.so")
	out, err := exec.Command(cmp.Or(os.Getenv("CC"), "cc"), "-shared", "-fPIC", "-o", library, "testdata/recorder.c", "-Wl,--version-script="+filepath.Join(dir, "version")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

// used are the functions that there are methods for, and how they are called.
func used(l *Library) map[string]func() error {
	err := func(_ any, err error) error { return err }
	return map[string]func() error{
		"Neuron_getVersion":                            func() error { return err(l.Neuron_getVersion()) },
		"Neuron_getNeuroPilotMagicNumber":              func() error { return err(l.Neuron_getNeuroPilotMagicNumber()) },
		"Neuron_getL1MemorySizeKb":                     func() error { return err(l.Neuron_getL1MemorySizeKb()) },
		"Neuron_getDeviceCount":                        func() error { return err(l.Neuron_getDeviceCount()) },
		"Neuron_getDevice":                             func() error { return err(l.Neuron_getDevice(0)) },
		"NeuronDevice_getName":                         func() error { return err(l.NeuronDevice_getName(nil)) },
		"NeuronModel_create":                           func() error { return err(l.NeuronModel_create()) },
		"NeuronModel_finish":                           func() error { return l.NeuronModel_finish(nil) },
		"NeuronModel_setName":                          func() error { return l.NeuronModel_setName(nil, "name") },
		"NeuronModel_addOperand":                       func() error { return l.NeuronModel_addOperand(nil, OperandType{BOOL, nil}) },
		"NeuronModel_setOperandValue":                  func() error { return l.NeuronModel_setOperandValue(nil, 0, []byte{1}) },
		"NeuronModel_addOperation":                     func() error { return l.NeuronModel_addOperation(nil, ADD, []uint32{1}, []uint32{2}) },
		"NeuronModel_identifyInputsAndOutputs":         func() error { return l.NeuronModel_identifyInputsAndOutputs(nil, []uint32{1}, nil) },
		"NeuronModel_relaxComputationFloat32toFloat16": func() error { return l.NeuronModel_relaxComputationFloat32toFloat16(nil, true) },
		"NeuronModel_getSupportedOperations":           func() error { return l.NeuronModel_getSupportedOperations(nil, make([]bool, 2)) },
		"NeuronModel_getExtensionOperandType":          func() error { return err(l.NeuronModel_getExtensionOperandType(nil, GeneralOperation, 1)) },
		"NeuronModel_getExtensionOperationType":        func() error { return err(l.NeuronModel_getExtensionOperationType(nil, GeneralOperation, 1)) },
		"NeuronModel_restoreFromCompiledNetwork":       func() error { _, _, e := l.NeuronModel_restoreFromCompiledNetwork([]byte{1}); return e },
		"NeuronCompilation_create":                     func() error { return err(l.NeuronCompilation_create(nil)) },
		"NeuronCompilation_finish":                     func() error { return l.NeuronCompilation_finish(nil) },
		"NeuronCompilation_getSupportedOperations":     func() error { return l.NeuronCompilation_getSupportedOperations(nil, make([]bool, 2)) },
		"NeuronCompilation_setPreference":              func() error { return l.NeuronCompilation_setPreference(nil, PREFER_TURBO_BOOST) },
		"NeuronCompilation_setPriority":                func() error { return l.NeuronCompilation_setPriority(nil, PRIORITY_HIGH) },
		"NeuronCompilation_setOptimizationHint":        func() error { return l.NeuronCompilation_setOptimizationHint(nil, OPTIMIZATION_NORMAL) },
		"NeuronCompilation_setOptimizationString":      func() error { return l.NeuronCompilation_setOptimizationString(nil, "--opt 3") },
		"NeuronCompilation_setL1MemorySizeKb":          func() error { return l.NeuronCompilation_setL1MemorySizeKb(nil, 256) },
		"NeuronCompilation_getCompiledNetworkSize":     func() error { return err(l.NeuronCompilation_getCompiledNetworkSize(nil)) },
		"NeuronCompilation_storeCompiledNetwork":       func() error { return l.NeuronCompilation_storeCompiledNetwork(nil, make([]byte, 2)) },
		"NeuronExecution_create":                       func() error { return err(l.NeuronExecution_create(nil)) },
		"NeuronExecution_compute":                      func() error { return l.NeuronExecution_compute(nil) },
		"NeuronExecution_setBoostHint":                 func() error { return l.NeuronExecution_setBoostHint(nil, 100) },
		"NeuronExecution_setInput":                     func() error { return l.NeuronExecution_setInput(nil, 0, []byte{1}) },
		"NeuronExecution_setOutput":                    func() error { return l.NeuronExecution_setOutput(nil, 0, []byte{1}) },
		"NeuronExecution_setInputFromMemory":           func() error { return l.NeuronExecution_setInputFromMemory(nil, 0, nil, 0, 1) },
		"NeuronExecution_setOutputFromMemory":          func() error { return l.NeuronExecution_setOutputFromMemory(nil, 0, nil, 0, 1) },
		"NeuronMemory_createFromFd":                    func() error { return err(l.NeuronMemory_createFromFd(1, 3, 0)) },
	}
}

// frees return nothing.
var frees = []string{"NeuronModel_free", "NeuronCompilation_free", "NeuronExecution_free", "NeuronMemory_free"}

func open(t *testing.T, path string) *Library {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// TestCodes calls every function while it goes well and while it doesn't.
func TestCodes(t *testing.T) {
	l := open(t, recorder(t))
	for name, call := range used(l) {
		if !l.Has(name) {
			t.Errorf("%s is not found", name)
		}
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for code, want := range map[string]Error{
			"7":  {name, 7, "NEURON_BAD_STATE"},
			"10": {name, 10, "NEURON_UNAVAILABLE_DEVICE"},
			"11": {name, 11, ""},
			"-1": {name, -1, ""},
		} {
			t.Setenv("RECORDER_FAIL", name+"="+code)
			if got := (*Error)(nil); !errors.As(call(), &got) || *got != want {
				t.Errorf("%s with code %s: got %v, want %v", name, code, got, &want)
			}
		}
		t.Setenv("RECORDER_FAIL", "")
	}
}

// TestMissing calls every function of a library that lacks it.
func TestMissing(t *testing.T) {
	// A library has to have NeuronModel_create.
	names := slices.DeleteFunc(slices.Concat(Functions(), frees), func(name string) bool { return name == "NeuronModel_create" })
	l := open(t, recorder(t, names...))
	for name, call := range used(l) {
		if name == "NeuronModel_create" {
			continue
		}
		if l.Has(name) {
			t.Errorf("%s is found", name)
		}
		if got := (*Error)(nil); !errors.As(call(), &got) || *got != (Error{name, Missing, ""}) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	l.NeuronModel_free(nil)
	l.NeuronCompilation_free(nil)
	l.NeuronExecution_free(nil)
	l.NeuronMemory_free(nil)
}

func TestOpen(t *testing.T) {
	if _, err := Open(recorder(t, "NeuronModel_create")); err == nil || !strings.Contains(err.Error(), "NeuronModel_create") {
		t.Errorf("a library of something else: %v", err)
	}
	if _, err := Open("/there/is/none.so"); err == nil || !strings.Contains(err.Error(), "none.so") {
		t.Errorf("no file: %v", err)
	}
}

// TestTable compares the names with the tables of the facts.
func TestTable(t *testing.T) {
	page, err := os.ReadFile(backendtest.Shared(t, "facts/npu.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## 4. ")
	section, _, _ = strings.Cut(section, "\n## 5. ")
	want := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || !strings.Contains(cells[1], "Neuron") {
			continue
		}
		stem := ""
		for _, name := range regexp.MustCompile(`Neuron\w+|_\w+`).FindAllString(cells[1], -1) {
			if strings.HasPrefix(name, "Neuron") {
				stem, _, _ = strings.Cut(name, "_")
			} else {
				name = stem + name // "A_x / _y"
			}
			want[name] = true
		}
	}
	if len(want) < 60 {
		t.Fatalf("%d names in the facts", len(want))
	}
	for _, name := range Functions() {
		if !want[name] {
			t.Errorf("%s is not in the facts", name)
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

// TestRuntime runs a network of the Runtime library, and each function's errors.
func TestRuntime(t *testing.T) {
	r, err := OpenRuntime(recorder(t))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i, err := r.NeuronRuntime_create()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.NeuronRuntime_getVersion(); err != nil || v != (Version{8, 2, 16}) {
		t.Errorf("version %v, %v", v, err)
	}
	if n, err := r.NeuronRuntime_getInputSize(i, 1); err != nil || n != 101 {
		t.Errorf("input 1: %d bytes, %v", n, err)
	}
	if n, err := r.NeuronRuntime_getOutputSize(i, 0); err != nil || n != 200 {
		t.Errorf("output 0: %d bytes, %v", n, err)
	}
	no := func(_ any, err error) error { return err }
	for name, call := range map[string]func() error{
		"NeuronRuntime_create":                func() error { return no(r.NeuronRuntime_create()) },
		"NeuronRuntime_create_with_options":   func() error { return no(r.NeuronRuntime_create_with_options("--x")) },
		"NeuronRuntime_loadNetworkFromFile":   func() error { return r.NeuronRuntime_loadNetworkFromFile(i, "a.dla") },
		"NeuronRuntime_loadNetworkFromBuffer": func() error { return r.NeuronRuntime_loadNetworkFromBuffer(i, []byte{1}) },
		"NeuronRuntime_setInput":              func() error { return r.NeuronRuntime_setInput(i, 0, []byte{1}) },
		"NeuronRuntime_setOutput":             func() error { return r.NeuronRuntime_setOutput(i, 0, []byte{1}) },
		"NeuronRuntime_getInputNumber":        func() error { return no(r.NeuronRuntime_getInputNumber(i)) },
		"NeuronRuntime_getOutputNumber":       func() error { return no(r.NeuronRuntime_getOutputNumber(i)) },
		"NeuronRuntime_getInputSize":          func() error { return no(r.NeuronRuntime_getInputSize(i, 0)) },
		"NeuronRuntime_getOutputSize":         func() error { return no(r.NeuronRuntime_getOutputSize(i, 0)) },
		"NeuronRuntime_inference":             func() error { return r.NeuronRuntime_inference(i) },
		"NeuronRuntime_getVersion":            func() error { return no(r.NeuronRuntime_getVersion()) },
	} {
		if !r.Has(name) {
			t.Errorf("%s is not found", name)
		}
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Setenv("RECORDER_FAIL", name+"=5")
		want := Error{name, 5, "NEURONRUNTIME_BAD_STATE"} // the Adapter's 5 is another
		if got := (*Error)(nil); !errors.As(call(), &got) || *got != want {
			t.Errorf("%s: got %v, want %v", name, got, &want)
		}
		t.Setenv("RECORDER_FAIL", "")
	}
	r.NeuronRuntime_release(i)
	if _, err := OpenRuntime(recorder(t, "NeuronRuntime_create")); err == nil {
		t.Error("a library of something else was opened")
	}
}
