// Earshot is an offline speech-to-text program: it turns recordings into text on
// the machine it runs on. What it can do is in app/cli; here is only the start of
// the process and its end.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"earshot/app/cli"
)

func main() {
	// Libraries write there what is of no use to users (mewkiz/flac: that its tests
	// have no file of this sample rate). We have our own ways to say something.
	log.SetOutput(io.Discard)
	// Nearly all memory is buffers that are kept from window to window. Garbage that
	// is let grow to their size, Go's default, would double it. A collection takes less
	// than a millisecond: what is in use has few pointers.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(5)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run carries out one command line and returns the exit status. The first
// interrupt asks the command to stop; a second one ends the process at once.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, args, stdin, stdout, stderr)
}
