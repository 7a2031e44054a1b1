package cli

import (
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
)

// Env is what a command has of the world around it.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer // results; diagnostics and progress
	StateDir       string    // state folder; models are in models/ below it

	Now func() time.Time // the wall clock; nil is time.Now

	bars *mpb.Progress // the progress bar on the terminal, if there is one now
}
