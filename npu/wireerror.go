package npu

import "errors"

// wireError is an Error in a message. The cause travels as its text and, where it is one
// of this package's, its place among them.
type wireError struct {
	What, Func, Name, Text string `json:",omitempty"`
	Code                   int    `json:",omitempty"`
	Cause                  string `json:",omitempty"`
	Kind                   int    `json:",omitempty"` // 1 + the place in kinds
}

var kinds = []error{ErrAbsent, ErrMissing, ErrHung, ErrCrashed, ErrNaN, ErrStored, ErrClosed}

func toWire(err error) *wireError {
	if err == nil {
		return nil
	}
	e := &Error{}
	if !errors.As(err, &e) {
		e = &Error{What: "the worker", Err: err}
	}
	w := &wireError{What: short(e.What), Func: e.Func, Name: e.Name, Text: short(e.Text), Code: e.Code}
	if e.Err != nil {
		w.Cause = short(e.Err.Error())
		for i, kind := range kinds {
			if errors.Is(e.Err, kind) {
				w.Kind = i + 1
			}
		}
	}
	return w
}

func fromWire(w *wireError) *Error {
	e := &Error{What: w.What, Func: w.Func, Name: w.Name, Text: w.Text, Code: w.Code}
	if w.Cause != "" {
		c := cause{text: w.Cause}
		if w.Kind > 0 && w.Kind <= len(kinds) {
			c.kind = kinds[w.Kind-1]
		}
		e.Err = c
	}
	return e
}

// cause is the cause of an error in another process.
type cause struct {
	text string
	kind error
}

func (c cause) Error() string { return c.text }
func (c cause) Unwrap() error { return c.kind }

// short keeps a message small, whatever a library has to say.
func short(s string) string { return s[:min(len(s), 2000)] }
