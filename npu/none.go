//go:build !(linux && cgo && (amd64 || arm64))

package npu

import (
	"context"

	"earshot/npu/neuron"
)

// Open says that this build has no NPU.
func Open(context.Context, string) (Device, error) { return nil, unsupported() }

// StartWorker says that this build has no NPU.
func StartWorker(context.Context, WorkerOptions) (Device, error) { return nil, unsupported() }

// Serve says that this build has no NPU.
func Serve(int) error { return unsupported() }

func unsupported() error {
	return &Error{What: "open", Err: ErrAbsent, Text: neuron.ErrUnsupported.Error()}
}
