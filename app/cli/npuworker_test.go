package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/npu"
)

// TestNPUWorker has the simulated library in the program's own worker process.
func TestNPUWorker(t *testing.T) {
	library, err := filepath.Abs("../../build/libneuronsim.so")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(library); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("make build makes it: ", err)
	}
	d, err := npu.StartWorker(t.Context(), npu.WorkerOptions{Library: library})
	if errors.Is(err, npu.ErrAbsent) {
		t.Skip(err) // built without cgo
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if s := d.Status(); s.PID == 0 || s.PID == os.Getpid() || s.Library != library || s.Version == "" {
		t.Errorf("status %+v", s)
	}
}

func TestNPUWorkerAlone(t *testing.T) {
	status, _, errs := run(t, nil, "npu", "worker", "--fd", "987")
	if status != exitNothing || !strings.Contains(errs, "987") && !strings.Contains(errs, "no NPU support") {
		t.Errorf("status %d, %s", status, errs)
	}
}
