package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"earshot/app/eval"
)

func scoreCommand(env *Env) *cobra.Command {
	var against []string
	var jsonFile string
	cmd := &cobra.Command{
		Use:   "score MANIFEST.tsv REPORT.json",
		Short: "Score texts that are there already, also of other engines",
		Long: `Compare the texts of a report with a manifest as eval does, without transcribing.

The report is what eval --json writes. Of another engine's texts it takes no more
than {"model": "NAME", "rows": [{"path": "a.wav", "hypothesis": "what was heard"}]}
with the paths of the manifest. Only clips of the report count.

--against says how far the word error rate is from another report's over the same
clips, with the interval in which that difference lies in 95 of 100 cases (paired
bootstrap).`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			manifest, err := readManifest(args[0], 0)
			if err != nil {
				return err
			}
			report, err := scoreFile(manifest, args[1])
			if err != nil {
				return err
			}
			for _, file := range against {
				other, err := scoreFile(manifest, file)
				if err != nil {
					return err
				}
				difference, err := report.Against(other)
				if err != nil {
					return fmt.Errorf("%s against %s: %w", args[1], file, err)
				}
				report.Differences = append(report.Differences, difference)
			}
			return publish(env, report, jsonFile)
		},
	}
	cmd.Flags().StringArrayVar(&against, "against", nil, "compare with the texts of this `REPORT.json` (may be given several times)")
	cmd.Flags().StringVar(&jsonFile, "json", "", "write the figures and every text to `FILE` (- is standard output)")
	return cmd
}

// scoreFile reads a report and counts the errors of its texts.
func scoreFile(manifest []eval.Row, path string) (*eval.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	report, err := eval.ReadReport(f, path)
	if err != nil {
		return nil, err
	}
	scored, err := report.Score(manifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return scored, nil
}
