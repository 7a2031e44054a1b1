//go:build !(linux && cgo && (amd64 || arm64))

package npu

import (
	"errors"
	"strings"
	"testing"
)

// TestNone is of a build without cgo, or for another system.
func TestNone(t *testing.T) {
	_, err1 := Open(t.Context(), "")
	_, err2 := StartWorker(t.Context(), WorkerOptions{})
	for _, err := range []error{err1, err2, Serve(3)} {
		if !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "this build has no NPU support") {
			t.Error(err)
		}
	}
}
