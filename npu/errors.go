package npu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What errors of this package are, for errors.Is.
var (
	ErrAbsent  = errors.New("no NPU library")                         // this machine, or this build, has no NPU: no failure
	ErrMissing = errors.New("the library has no such function")       // of a library that is older than what it was asked for
	ErrHung    = errors.New("the NPU library hangs")                  // a call did not return in time
	ErrCrashed = errors.New("the NPU worker crashed")                 // also: this network was in a worker that is gone
	ErrNaN     = errors.New("the NPU's result has a NaN or infinity") //
	ErrStored  = errors.New("not a stored network for this library")  // damaged, or of another version
	ErrClosed  = errors.New("closed")                                 //
)

// Error is what went wrong.
type Error struct {
	What string   // what was tried, as in `compile "encoder 608"`
	Func string   // the library's function that refused; "" if none did
	Code int      // what it returned
	Name string   // of the code, as in "NEURON_BAD_STATE"
	Err  error    // one of this package's errors, or another cause; nil if the library refused
	Text string   // more about it
	Log  []string // what the library printed during the call, oldest line first; only of a worker
}

func (e *Error) Error() string {
	parts := []string{"npu: " + e.What}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	switch {
	case e.Name != "":
		parts = append(parts, fmt.Sprintf("%s: %s (%d)", e.Func, e.Name, e.Code))
	case e.Func != "":
		parts = append(parts, e.Func)
	}
	if e.Text != "" {
		parts = append(parts, e.Text)
	}
	for _, line := range slices.Backward(e.Log) {
		if line != "" {
			parts = append(parts, line) // the last words are often the reason
			break
		}
	}
	return strings.Join(parts, ": ")
}

func (e *Error) Unwrap() error { return e.Err }
