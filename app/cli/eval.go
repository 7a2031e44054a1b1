package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"earshot/app/eval"
	"earshot/audio"
	"earshot/whisper"
)

func evalCommand(env *Env) *cobra.Command {
	var flags engineFlags
	var limit int
	var whole bool
	var jsonFile string
	cmd := &cobra.Command{
		Use:   "eval MANIFEST.tsv",
		Short: "Measure word error rate and speed on recordings with known text",
		Long: `Transcribe the recordings of a manifest and compare with the texts in it.

The manifest is tab-separated; its first line names the columns. path (relative to
the manifest) and reference must be there; language is used when present. Both
texts are normalised before they are compared: English numbers, spellings and
contractions, plain Unicode folding elsewhere.

What is measured is the likeliest text of each recording: greedy, at temperature 0,
without timestamps. With --window full that is the bare model, with nothing done
about loops and invented text. --whole measures what users of transcribe get.

With --language auto each recording is decoded in the language that the manifest
gives for it, if any. A recording that can't be read is left out of all figures.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := readManifest(args[0], limit)
			if err != nil {
				return err
			}
			engine, err := openEngine(env, flags)
			if err != nil {
				return err
			}
			// The likeliest text at temperature 0; in its own window, the model as it is.
			full := flags.window == "full"
			l := &listener{engine: engine, options: whisper.Options{FullWindow: full, NoGuards: full, Temperatures: []float64{0}}}
			if whole {
				l.options = whisper.Options{FullWindow: full, Words: true}
				if l.detector, err = openDetector(env); err != nil {
					return err
				}
			}
			report, err := evaluate(cmd.Context(), env, l, flags, filepath.Dir(args[0]), rows)
			if report == nil {
				return err
			}
			return errors.Join(err, publish(env, report, jsonFile))
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&whole, "whole", false, "measure all that transcribe does: speech detection, other temperatures, a second look at what was passed over")
	cmd.Flags().IntVar(&limit, "limit", 0, "take the first `N` recordings only")
	cmd.Flags().StringVar(&jsonFile, "json", "", "write the figures and every text to `FILE` (- is standard output)")
	return cmd
}

func readManifest(path string, limit int) ([]eval.Row, error) {
	if limit < 0 {
		return nil, fmt.Errorf("--limit %d: at least 1, or 0 for all", limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := eval.ReadManifest(f, path)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: no recordings", path)
	}
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows, err
}

// evaluate transcribes all rows. The report is nil when none could be read.
func evaluate(ctx context.Context, env *Env, l *listener, flags engineFlags, dir string, rows []eval.Row) (*eval.Report, error) {
	report := eval.NewReport(flags.model)
	progress := newCountProgress(env, "eval", len(rows))
	defer progress.close()
	failed := 0
	for i, row := range rows {
		err := evaluateRow(ctx, env, l, flags, dir, row, report)
		if ctx.Err() != nil {
			return nil, errors.New("interrupted")
		}
		if err != nil {
			fmt.Fprintln(env.Stderr, "earshot:", err)
			failed++
		}
		progress.reached(int64(i + 1))
	}
	switch {
	case failed == len(rows):
		return nil, someFailed{failed, len(rows)}
	case failed > 0:
		return report, someFailed{failed, len(rows)}
	}
	return report, nil
}

func evaluateRow(ctx context.Context, env *Env, l *listener, flags engineFlags, dir string, row eval.Row, report *eval.Report) error {
	path := row.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	l.options.Language, l.options.Languages = flags.languages()
	if flags.language == "auto" && l.engine.CheckLanguage(row.Language) == nil {
		l.options.Language = row.Language
	}
	start := time.Now()
	in, err := openRecording(env, path, audio.Mix)
	if err != nil {
		return err
	}
	defer in.Close()
	h, err := l.hear(ctx, in)
	if err != nil {
		return err
	}
	if row.Language == "" {
		row.Language = h.language
	}
	report.Add(row, h.text(), float64(h.samples)/whisper.SampleRate, time.Since(start))
	report.EncodeMS += float64(h.encode) / float64(time.Millisecond)
	report.DecodeMS += float64(h.decode) / float64(time.Millisecond)
	report.Tokens += h.tokens
	return nil
}

// publish writes the table, and the JSON where it is wanted.
func publish(env *Env, report *eval.Report, jsonFile string) error {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		report.PeakRSSBytes = usage.Maxrss * 1024 // Linux counts in KiB
	}
	switch jsonFile {
	case "":
		return report.WriteTable(env.Stdout)
	case "-":
		return report.WriteJSON(env.Stdout)
	}
	if err := report.WriteTable(env.Stdout); err != nil {
		return err
	}
	f, err := os.Create(jsonFile)
	if err == nil {
		err = errors.Join(report.WriteJSON(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", jsonFile, err)
	}
	return nil
}
