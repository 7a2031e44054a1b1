package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"earshot/app/eval"
	"earshot/whisper"
)

func evalCommand(env *Env) *cobra.Command {
	var flags engineFlags
	var limit int
	var whole, oneByOne bool
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

Several recordings are decoded at a time, as the parts of a long one are by
transcribe, so that weights are read once for all of them. The time of a recording is
counted from the end of the one before, so that the sum is what all took.

With --language auto each recording is decoded in the language that the manifest
gives for it, if any. A recording that can't be read is left out of all figures.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := readManifest(args[0], limit)
			if err == nil {
				err = flags.checkWindow()
			}
			if err != nil {
				return err
			}
			start := time.Now()
			engine, err := openEngine(env, flags)
			if err != nil {
				return err
			}
			load := time.Since(start)
			// The likeliest text at temperature 0; in its own window, the model as it is.
			full := flags.window == "full"
			e := &evaluation{env: env, flags: flags, folder: filepath.Dir(args[0]), rows: rows}
			l := listener{engine: engine, batch: whisper.NewBatch(engine, room)}
			l.options = whisper.Options{FullWindow: full, NoGuards: full, Temperatures: []float64{0}}
			if whole {
				l.options = whisper.Options{FullWindow: full, Words: true}
			}
			for range together {
				if whole {
					if l.detector, err = openDetector(env); err != nil {
						return err
					}
				}
				e.listeners = append(e.listeners, l)
				if oneByOne {
					break
				}
			}
			report, err := e.run(cmd.Context())
			if report == nil {
				return err
			}
			report.LoadMS = milliseconds(load)
			report.PeakRSSBytes = peakRSS()
			return errors.Join(err, publish(env, report, jsonFile))
		},
	}
	flags.add(cmd)
	flags.windowFlag(cmd)
	cmd.Flags().BoolVar(&whole, "whole", false, "measure all that transcribe does: speech detection, other temperatures, a second look at what was passed over")
	cmd.Flags().BoolVar(&oneByOne, "one-by-one", false, "transcribe a recording when the one before is done, as where each has to be answered at once")
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

// figures are what a command has measured.
type figures interface {
	WriteTable(io.Writer) error
	WriteJSON(io.Writer) error
}

// publish writes the table, and the JSON where it is wanted.
func publish(env *Env, report figures, jsonFile string) error {
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
