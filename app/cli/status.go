package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"earshot/app/panel"
)

func statusCommand(env *Env) *cobra.Command {
	var f configFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "How the running service is",
		Long:  "Ask earshot serve how it is. The exit status is 2 where it does not answer.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.load(cmd, env)
			if err != nil {
				return err
			}
			body, err := askStatus(cmd.Context(), c.Server.Listen)
			if err != nil {
				return err
			}
			if asJSON {
				_, err = env.Stdout.Write(body)
				return err
			}
			var s serverStatus
			if err := json.Unmarshal(body, &s); err != nil {
				return fmt.Errorf("status: %w", err)
			}
			return printStatus(env.Stdout, s)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func askStatus(ctx context.Context, address string) ([]byte, error) {
	if address == "off" {
		return nil, errors.New("server.listen is off, so nobody can be asked")
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/status", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("earshot serve does not answer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("http://%s/api/status: %s", address, answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, 1<<20))
}

func printStatus(w io.Writer, s serverStatus) error {
	muted := ""
	if s.Muted {
		muted = ", muted by " + strings.Join(s.MutedBy, " and ")
	}
	_, err := fmt.Fprintf(w, "source      %s%s, %.0f dBFS\nmodel       %s on %s (%s)\nrecording   %d, %.0f s\ntexts       %d, the last one %.2f s after its end\nwaiting     %.1f s, %d clips\n",
		s.Source.State, muted, s.Source.LevelDB, s.Model, s.Backend, s.Kernels, s.Recording, s.At, s.Segments, s.Delay, s.Lag, s.Pending)
	for _, part := range []struct {
		name string
		*panel.Status
	}{{"mute key", s.MuteKey}, {"light", s.Light}} {
		if part.Status != nil {
			fmt.Fprintf(w, "%-11s %s: %s\n", part.name, part.State, cmp.Or(part.Reason, part.Device))
		}
	}
	if s.DriftPPM != 0 {
		fmt.Fprintf(w, "clock       %+.1f s against this machine's (%+.0f ppm)\n", s.Drift, s.DriftPPM)
	}
	if s.Source.Reason != "" {
		fmt.Fprintln(w, "problem     source:", s.Source.Reason)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(w, "problem     %s: %s (since %s)\n", p.Kind, p.Reason, p.Since.Format(time.DateTime))
	}
	for _, p := range s.Store.Problems {
		since := ""
		if !p.Since.IsZero() {
			since = " (since " + p.Since.Format(time.DateTime) + ")"
		}
		fmt.Fprintf(w, "problem     store, %s: %s%s\n", p.Kind, p.Reason, since)
	}
	return err
}
