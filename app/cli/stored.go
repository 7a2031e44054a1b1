package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"earshot/app/export"
	"earshot/store"
)

func exportCommand(env *Env) *cobra.Command {
	var format, path string
	var words bool
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write a recording's text as a file",
		Long:  "Write the text of a recording, as far as it is stored; the recording may be going on.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID(args[0])
			if err != nil {
				return err
			}
			f, err := export.ParseFormat(format)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			return withStore(cmd.Context(), env, store.Options{}, func(s *store.Store) error {
				return intoFile(env.Stdout, path, func(w io.Writer) error {
					return exportRecording(cmd.Context(), s, id, w, f, export.Options{WordTimes: words})
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&format, "format", "txt", "txt, srt, vtt, json, jsonl, tsv, lrc or md")
	flags.StringVarP(&path, "output", "o", "", "write to this file, whole or not at all, instead of standard output")
	flags.BoolVar(&words, "word-timestamps", false, "mark the times of words in vtt too (json and jsonl have them)")
	return cmd
}

// intoFile lets do write standard output, or a file that gets its name at the end.
func intoFile(stdout io.Writer, path string, do func(io.Writer) error) error {
	if path == "" {
		out := bufio.NewWriter(stdout)
		if err := do(out); err != nil {
			return err
		}
		return out.Flush()
	}
	f, err := createPartial(path)
	if err != nil {
		return err
	}
	out := output{files: []*partialFile{f}}
	if err := do(f); err != nil {
		out.abandon()
		return err
	}
	_, err = out.close()
	return err
}

// exportRecording writes what is stored of a recording. It takes the database in pieces,
// so whoever reads w may take its time.
func exportRecording(ctx context.Context, s *store.Store, id int64, w io.Writer, f export.Format, opts export.Options) error {
	r, err := s.Recording(ctx, id)
	if err != nil {
		return err
	}
	head := storedHead(r)
	if head.Warnings, err = storedWarnings(ctx, s, id); err != nil {
		return err
	}
	out, err := export.NewWriter(w, f, head, opts)
	if err != nil {
		return err
	}
	for segment, err := range s.Segments(ctx, id) {
		if err != nil {
			return err
		}
		if err := out.Append(storedSegment(segment, r.Language)); err != nil {
			return err
		}
	}
	return out.Close()
}

// storedHead leaves out the length of a recording that goes on: what comes later must
// not make what was written wrong.
func storedHead(r store.Recording) export.Transcript {
	head := export.Transcript{
		Title: cmp.Or(r.Title, r.Source), Task: r.Task, Language: r.Language, Model: r.Model, Created: r.Started,
	}
	if r.State != store.Running {
		head.Duration = r.Duration.Seconds()
	}
	return head
}

// storedWarnings are what happened to a recording, other than speech.
func storedWarnings(ctx context.Context, s *store.Store, id int64) (list []export.Warning, err error) {
	const page = 500
	for after := int64(0); ; {
		events, err := s.Events(ctx, id, after, page)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			text := e.Kind
			if e.Detail != "" {
				text += ": " + e.Detail
			}
			list = append(list, export.Warning{Start: e.At.Seconds(), End: e.Until.Seconds(), Text: text})
			after = e.ID
		}
		if len(events) < page {
			return list, nil
		}
	}
}

// storedSegment is a stored segment as export writes it. language is the recording's.
func storedSegment(s store.Segment, language string) export.Segment {
	out := export.Segment{Start: s.Start.Seconds(), End: s.End.Seconds(), Text: s.Text, Speaker: s.Speaker, Notes: s.Notes}
	if s.Language != language {
		out.Language = s.Language
	}
	if s.Fallback != "" {
		out.Notes = append(out.Notes, "on "+s.Backend+": "+s.Fallback)
	}
	if d := s.Decoding; d != nil {
		out.Decoding = &export.Decoding{
			AvgLogProb: d.AvgLogProb, NoSpeechProb: d.NoSpeechProb, CompressionRatio: d.CompressionRatio, Temperature: d.Temperature,
		}
	}
	for _, w := range s.Words {
		out.Words = append(out.Words, export.Word{Start: w.Start.Seconds(), End: w.End.Seconds(), Text: w.Text, Probability: w.Probability})
	}
	return out
}
