package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"earshot/app/config"
)

// Exit statuses of the program.
const (
	exitOK      = 0
	exitSome    = 1 // some of the files or models failed
	exitNothing = 2 // nothing could be done
)

// someFailed is the end of a command that did part of its work and has said on
// standard error what it could not do.
type someFailed struct{ failed, total int }

func (e someFailed) Error() string {
	return fmt.Sprintf("%d of %d failed", e.failed, e.total)
}

// interrupted is the end of a command that was asked to stop, with what it left
// undone.
type interrupted struct{ someFailed }

func (interrupted) Error() string { return "interrupted" }

func (e interrupted) Unwrap() error { return e.someFailed }

// Run carries out one command line and returns the exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return runIn(ctx, &Env{Stdin: stdin, Stdout: stdout, Stderr: stderr}, args)
}

func runIn(ctx context.Context, env *Env, args []string) int {
	stdout, stderr := env.Stdout, env.Stderr
	env.Stdout, env.Stderr = &aboveBar{env, stdout}, &aboveBar{env, stderr}
	root := rootCommand(env)
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "earshot:", err)
	if errors.As(err, new(damagedModels)) {
		return exitSome // the check was done, and found something
	}
	if errors.As(err, new(wrongConfig)) {
		return exitSome
	}
	if some := (someFailed{}); errors.As(err, &some) && some.failed < some.total {
		return exitSome
	}
	return exitNothing
}

func rootCommand(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "earshot",
		Short:         "Speech to text on your own machine",
		Long:          "earshot turns speech into text with Whisper. Nothing leaves the machine.",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			env.StateDir, err = config.StateDir()
			return err
		},
	}
	root.AddCommand(
		serveCommand(env), statusCommand(env), muteCommand(env), transcribeCommand(env), evalCommand(env), scoreCommand(env), benchCommand(env), modelCommand(env), npuCommand(env), devicesCommand(env), captureCommand(env),
		recordingsCommand(env), searchCommand(env), exportCommand(env), deleteCommand(env), backupCommand(env), pruneCommand(env),
		configCommand(env), versionCommand(env), manCommand(env),
	)
	return root
}
