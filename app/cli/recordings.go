package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"earshot/store"
)

func recordingsCommand(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "recordings",
		Short: "List recordings, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := []store.Recording{}
			err := withStore(cmd.Context(), env, store.Options{}, func(s *store.Store) (err error) {
				list, err = allRecordings(cmd.Context(), s)
				return err
			})
			if err != nil && !errors.Is(err, store.ErrNothing) {
				return err
			}
			if asJSON {
				return printRecordingsJSON(env.Stdout, list)
			}
			if len(list) == 0 {
				fmt.Fprintf(env.Stderr, "no recordings in %s\n", env.StateDir)
			}
			return printRecordings(env.Stdout, list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func allRecordings(ctx context.Context, s *store.Store) ([]store.Recording, error) {
	const page = 500
	all := []store.Recording{}
	for before := int64(0); ; before = all[len(all)-1].ID {
		list, err := s.Recordings(ctx, before, page)
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); len(list) < page {
			return all, nil
		}
	}
}

// recordingJSON is a recording in `recordings --json`. Times are seconds.
type recordingJSON struct {
	ID       int64       `json:"id"`
	Title    string      `json:"title"`
	Source   string      `json:"source"`
	Started  string      `json:"started,omitempty"` // RFC 3339; absent where the clock was not set
	State    store.State `json:"state"`
	Duration float64     `json:"duration"`
	Task     string      `json:"task"`
	Language string      `json:"language"`
	Model    string      `json:"model"`
	Segments int64       `json:"segments"`
	Pending  int64       `json:"pending"` // clips that wait to be transcribed
}

func printRecordingsJSON(w io.Writer, list []store.Recording) error {
	all := []recordingJSON{}
	for _, r := range list {
		j := recordingJSON{
			ID: r.ID, Title: r.Title, Source: r.Source, State: r.State, Duration: r.Duration.Seconds(),
			Task: r.Task, Language: r.Language, Model: r.Model, Segments: r.Segments, Pending: r.Pending,
		}
		if !r.Started.IsZero() {
			j.Started = r.Started.Format(time.RFC3339)
		}
		all = append(all, j)
	}
	return writeJSON(w, map[string]any{"recordings": all})
}

func writeJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

func printRecordings(w io.Writer, list []store.Recording) error {
	if len(list) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTARTED\tDURATION\tSEGMENTS\tSTATE\tTITLE")
	for _, r := range list {
		started := "clock not set"
		if !r.Started.IsZero() {
			started = r.Started.Format("2006-01-02 15:04:05")
		}
		fmt.Fprintf(table, "%d\t%s\t%v\t%d\t%s\t%s\n", r.ID, started, r.Duration.Round(time.Second), r.Segments, r.State, oneLine(r.Title, r.Source))
	}
	return table.Flush()
}

// oneLine is the first of texts that says something, fit for a terminal.
func oneLine(texts ...string) string {
	for _, text := range texts {
		if text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " "); text != "" {
			return text
		}
	}
	return ""
}

func searchCommand(env *Env) *cobra.Command {
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Search what was said",
		Long: "Find the places where all the words were said, newest first. Case and accents do not count.\n" +
			"\"Words in quotes\" stand in this order; word* is all words that begin with it.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return fmt.Errorf("--limit %d: at least 1", limit)
			}
			query := strings.Join(args, " ")
			hits := []store.Hit{}
			err := withStore(cmd.Context(), env, store.Options{}, func(s *store.Store) (err error) {
				hits, err = s.Search(cmd.Context(), query, 0, limit)
				return err
			})
			if err != nil && !errors.Is(err, store.ErrNothing) {
				return err
			}
			if asJSON {
				return printHitsJSON(env.Stdout, query, hits)
			}
			if len(hits) == 0 {
				fmt.Fprintln(env.Stderr, "nothing was found")
			}
			return printHits(env.Stdout, hits)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many places at most")
	return cmd
}

// hitJSON is a place in `search --json`. Times are seconds; marks are the places of what
// was found, start and end in turns, in bytes of snippet.
type hitJSON struct {
	Recording int64   `json:"recording"`
	Segment   int64   `json:"segment"`
	Start     float64 `json:"start"`
	End       float64 `json:"end"`
	Time      string  `json:"time,omitempty"` // by the wall clock, RFC 3339
	Text      string  `json:"text"`
	Snippet   string  `json:"snippet"`
	Marks     []int   `json:"marks"`
}

func printHitsJSON(w io.Writer, query string, hits []store.Hit) error {
	all := []hitJSON{}
	for _, h := range hits {
		j := hitJSON{
			Recording: h.Recording, Segment: h.ID, Start: h.Start.Seconds(), End: h.End.Seconds(),
			Text: h.Text, Snippet: h.Snippet, Marks: h.Marks,
		}
		if !h.Wall.IsZero() {
			j.Time = h.Wall.Format(time.RFC3339)
		}
		all = append(all, j)
	}
	return writeJSON(w, map[string]any{"query": query, "results": all})
}

func printHits(w io.Writer, hits []store.Hit) error {
	if len(hits) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tAT\tTEXT")
	for _, h := range hits {
		fmt.Fprintf(table, "%d\t%v\t%s\n", h.Recording, h.Start.Truncate(time.Second), oneLine(h.Snippet))
	}
	return table.Flush()
}
