package cli

import (
	"errors"
	"os"
	"strings"
	"testing"

	"earshot/npu"
	"earshot/npu/sim"
)

// TestNPUWorker has the simulated library in the program's own worker process.
func TestNPUWorker(t *testing.T) {
	library := sim.Library(t)
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
