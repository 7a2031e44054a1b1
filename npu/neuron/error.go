package neuron

import (
	"errors"
	"fmt"
	"math"
)

// ErrUnsupported is the end of every Open in a build without cgo, or for another system
// than Linux on amd64 or arm64.
var ErrUnsupported = errors.New("this build has no NPU support (it takes Linux on amd64 or arm64, and cgo)")

// Missing is the Code of a function that the library does not have.
const Missing = math.MinInt32

// Error is a function of the library that did not do what it was called for.
type Error struct {
	Func string
	Code int
	Name string // of the code, as in "NEURON_BAD_STATE"; "" if it is not known, or Missing
}

func (e *Error) Error() string {
	switch {
	case e.Code == Missing:
		return "the library has no " + e.Func
	case e.Name == "":
		return fmt.Sprintf("%s: unknown error %d", e.Func, e.Code)
	}
	return fmt.Sprintf("%s: %s (%d)", e.Func, e.Name, e.Code)
}

// adapterCodes are the Adapter's result codes (section 3). NNAPI goes on from 11; whether
// Neuron does is not known.
var adapterCodes = []string{
	"NEURON_NO_ERROR", "NEURON_OUT_OF_MEMORY", "NEURON_INCOMPLETE", "NEURON_UNEXPECTED_NULL", "NEURON_BAD_DATA", "NEURON_OP_FAILED",
	"NEURON_UNMAPPABLE", "NEURON_BAD_STATE", "NEURON_BAD_VERSION", "NEURON_OUTPUT_INSUFFICIENT_SIZE", "NEURON_UNAVAILABLE_DEVICE",
}

// runtimeCodes are the Runtime's (section 7.1); they differ from 5 upward.
var runtimeCodes = []string{
	"NEURONRUNTIME_NO_ERROR", "NEURONRUNTIME_OUT_OF_MEMORY", "NEURONRUNTIME_INCOMPLETE", "NEURONRUNTIME_UNEXPECTED_NULL",
	"NEURONRUNTIME_BAD_DATA", "NEURONRUNTIME_BAD_STATE", "NEURONRUNTIME_RUNTIME_ERROR",
}

// result is nil for code 0; any other code, known or not, is an error.
func result(function string, code int, names []string) error {
	if code == 0 {
		return nil
	}
	e := &Error{Func: function, Code: code}
	if code > 0 && code < len(names) {
		e.Name = names[code]
	}
	return e
}
