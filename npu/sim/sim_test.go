package sim

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// build makes the library and its C test in a folder below build/, where both stay for
// the next run.
func build(t *testing.T, folder string, variables ...string) string {
	t.Helper()
	out, err := filepath.Abs(filepath.Join("../../build", folder))
	if err != nil {
		t.Fatal(err)
	}
	make := exec.Command("make", append([]string{"-s", "OUT=" + out}, variables...)...)
	make.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") })
	if text, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", make, err, text)
	}
	return out
}

func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("none of %v is here", names)
	return ""
}

// drive runs the C test.
func drive(t *testing.T, out string, with ...string) {
	t.Helper()
	args := append(with, filepath.Join(out, "neuronsim-abi"), filepath.Join(out, "libneuronsim.so"))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=handle_segv=0:detect_leaks=1") // the fault "crash" is to be one
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		t.Error(err)
	}
}

func TestABI(t *testing.T) {
	tool(t, "cc")
	drive(t, build(t, ""))
}

// TestABISanitized looks for errors with memory and for undefined behaviour.
func TestABISanitized(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library once more")
	}
	tool(t, "cc")
	drive(t, build(t, "sanitized", "CFLAGS=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined", "LDFLAGS="))
}

// TestABIArm64 builds for the boards' processor and runs in an emulator.
func TestABIArm64(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the library once more")
	}
	cc := tool(t, "aarch64-linux-gnu-gcc")
	qemu := tool(t, "qemu-aarch64-static", "qemu-aarch64")
	drive(t, build(t, "arm64", "CC="+cc), qemu, "-L", "/usr/aarch64-linux-gnu")
}

// TestSymbols holds the library to names of the vendor's, and HIDE to what it says.
func TestSymbols(t *testing.T) {
	tool(t, "cc")
	all := symbols(t, build(t, ""))
	for _, name := range all {
		if !strings.HasPrefix(name, "Neuron") {
			t.Errorf("%s is exported", name)
		}
	}
	const hidden = "NeuronCompilation_getSupportedOperations"
	if !slices.Contains(all, hidden) {
		t.Errorf("%s is not exported", hidden)
	}
	if testing.Short() {
		return
	}
	fewer := symbols(t, build(t, "hidden", "CFLAGS=-O0", "HIDE="+hidden))
	if slices.Contains(fewer, hidden) || len(fewer) != len(all)-1 {
		t.Errorf("hiding %s leaves %d of %d symbols", hidden, len(fewer), len(all))
	}
}

func symbols(t *testing.T, out string) (names []string) {
	t.Helper()
	f, err := elf.Open(filepath.Join(out, "libneuronsim.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	return names
}
