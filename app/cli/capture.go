package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"earshot/audio/capture"
	"earshot/audio/resample"
	"earshot/audio/wave"
)

// captureOptions are what live sources need, and nothing that belongs to one of them.
func captureOptions(env *Env) capture.Options {
	return capture.Options{
		Convert: resample.To16k,
		OpenFile: func(path string) (capture.File, error) {
			f, err := wave.Open(path)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		Stdin: env.Stdin,
	}
}

// captureFlags are the flags of `earshot capture`.
type captureFlags struct {
	capture.ChildOptions
	list     bool
	untilEOF bool
	fd       int
}

// captureCommand is the process that audio/capture starts to have PortAudio in.
func captureCommand(env *Env) *cobra.Command {
	var f captureFlags
	cmd := &cobra.Command{
		Use:    "capture",
		Short:  "Read a sound device for another earshot process",
		Hidden: true,
		Long: `Read a sound device and write what it gives to standard output, in the format
that audio/capture/wire.go describes. earshot starts this process by itself and
starts it again when the sound system hangs or crashes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := env.Stdout
			if f.fd >= 0 {
				file := os.NewFile(uintptr(f.fd), "the pipe to earshot")
				if file == nil {
					return fmt.Errorf("--fd %d: there is no such descriptor", f.fd)
				}
				defer file.Close()
				out = file
			}
			if f.untilEOF {
				go endWith(env.Stdin)
			}
			if f.list {
				return capture.List(out)
			}
			return capture.Child(cmd.Context(), f.ChildOptions, out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Device, "device", "", "name of the device, or part of it (default: the system's)")
	flags.IntVar(&f.Format.Rate, "rate", 0, "the only sample rate to try, Hz")
	flags.IntVar(&f.Format.Channels, "channels", 0, "the only channel count to try")
	flags.BoolVar(&f.list, "list", false, "list the devices instead")
	flags.BoolVar(&f.untilEOF, "until-eof", false, "end when standard input does")
	flags.IntVar(&f.fd, "fd", -1, "write to this open file descriptor")
	return cmd
}

// endWith ends this process when its parent is gone, even while a sound driver hangs.
func endWith(in io.Reader) {
	_, _ = io.Copy(io.Discard, in) // an error is an end too
	os.Exit(exitOK)
}

// devicesFlags are the flags of `earshot devices`.
type devicesFlags struct {
	json   bool
	listen time.Duration
}

func devicesCommand(env *Env) *cobra.Command {
	var f devicesFlags
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List microphones and other inputs, with how loud they are",
		Long: `List the sound inputs of this machine: the rate they propose, how many channels
they have at most, and how loud it is there right now. "*" marks the system's
default. Any part of a name chooses a device; its number would change whenever
something is plugged in.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return devices(cmd.Context(), env, f)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().DurationVar(&f.listen, "listen", 300*time.Millisecond, "how long to listen to each; 0 doesn't open them")
	return cmd
}

// listedDevice is a device in the output of `earshot devices --json`.
type listedDevice struct {
	capture.Device
	Level *capture.Level `json:"level,omitempty"`
	Error string         `json:"error,omitempty"` // why it could not be listened to
}

func devices(ctx context.Context, env *Env, f devicesFlags) error {
	options := captureOptions(env)
	found, err := capture.Devices(ctx, options)
	if err != nil {
		return err
	}
	all := []listedDevice{}
	for _, d := range found {
		l := listedDevice{Device: d}
		if f.listen > 0 {
			level, err := capture.Measure(ctx, d, f.listen, options)
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}
			if err != nil {
				l.Error = err.Error()
			} else {
				l.Level = &level
			}
		}
		if !f.json {
			printDevice(env.Stdout, l)
		}
		all = append(all, l)
	}
	if f.json {
		return writeJSON(env.Stdout, struct {
			Devices []listedDevice `json:"devices"`
		}{all})
	}
	if len(all) == 0 {
		fmt.Fprintln(env.Stderr, "no sound inputs")
	}
	return nil
}

func printDevice(w io.Writer, d listedDevice) {
	mark := " "
	if d.Default {
		mark = "*"
	}
	level := ""
	switch {
	case d.Error != "":
		level = d.Error
	case d.Level != nil:
		level = fmt.Sprintf("%s %4.0f dBFS", levelBar(d.Level.RMS), d.Level.RMS)
	}
	fmt.Fprintf(w, "%s %-36s %-5s %6d Hz %3d ch  %s\n", mark, d.Name, d.System, d.Rate, d.Channels, level)
}

// levelBar shows -80 dBFS to full scale in 16 steps.
func levelBar(db float64) string {
	const steps, lowest = 16, -80.0
	n := int(math.Round((1 - db/lowest) * steps))
	n = max(0, min(steps, n))
	return strings.Repeat("#", n) + strings.Repeat(".", steps-n)
}
