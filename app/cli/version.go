package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"earshot/cpu"
)

// version is set by the Makefile from git.
var version = "unknown"

func versionCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show version, build and kernels",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(env.Stdout, "earshot %s\n", version)
			fmt.Fprintf(env.Stdout, "built with %s for %s/%s, cgo %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, cgo())
			fmt.Fprintf(env.Stdout, "kernels: %s\n", cpu.Tier())
			return nil
		},
	}
}

// cgo says whether C code is in the program, from the settings of its build.
func cgo() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "CGO_ENABLED" && s.Value == "1" {
				return "on"
			}
		}
	}
	return "off"
}
