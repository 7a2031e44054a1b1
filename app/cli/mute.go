package cli

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

func muteCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mute on|off|status",
		Short: "Make the running service deaf, or let it listen again",
		Long: `Make earshot serve deaf, or let it listen again. What is said while it is muted is
thrown away; what was said before is written down, and the recording says how long nobody
listened. It stays as it is over restarts and power cuts.

A key or a switch of the device does the same (earshot config example, under controls).
As long as such a switch is on, the service is deaf, whatever is said here.`,
		ValidArgs: []string{"on", "off", "status"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || cobra.OnlyValidArgs(cmd, args) != nil {
				return errors.New("want earshot mute on, off or status")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			method, body := http.MethodPut, fmt.Sprintf(`{"muted": %t}`, args[0] == "on")
			if args[0] == "status" {
				method, body = http.MethodGet, ""
			}
			var s muteState
			if err := askControl(cmd.Context(), env.StateDir, method, "/api/mute", body, &s); err != nil {
				return err
			}
			if s.Problem != "" {
				fmt.Fprintln(env.Stderr, "earshot: note: the next start may find it otherwise:", s.Problem)
			}
			if args[0] == "off" && s.Muted {
				return errors.New("still muted: the switch of the device is on")
			}
			if asJSON {
				return writeJSON(env.Stdout, s)
			}
			_, err := fmt.Fprintln(env.Stdout, s)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (s muteState) String() string {
	if !s.Muted {
		return "not muted"
	}
	return "muted by " + strings.Join(s.By, " and ")
}
