package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/app/eval"
)

// evaluate decodes the clips one by one.
func (j *joined) evaluate(p program) *eval.Report {
	j.t.Helper()
	var rows strings.Builder
	fmt.Fprintln(&rows, "path\tlanguage\treference")
	for _, c := range j.clips {
		fmt.Fprintf(&rows, "%s\ten\t%s\n", c.Path, c.Reference)
	}
	dir := j.t.TempDir()
	manifest, report := filepath.Join(dir, "manifest.tsv"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(manifest, []byte(rows.String()), 0o666); err != nil {
		j.t.Fatal(err)
	}
	p.output("eval", "--model", "tiny.en", "--json", report, manifest)
	f, err := os.Open(report)
	if err != nil {
		j.t.Fatal(err)
	}
	defer f.Close()
	r, err := eval.ReadReport(f, report)
	if err != nil {
		j.t.Fatal(err)
	}
	return r
}

// checkText compares what was heard with what is said, and with the text of each clip by
// itself.
func (j *joined) checkText(t *testing.T, alone *eval.Report) {
	t.Helper()
	live := eval.NewReport("live")
	for i, c := range j.clips {
		if c.heard == "" {
			t.Errorf("nothing was heard of %s: %s", filepath.Base(c.Path), c.Reference)
		}
		live.Add(c.Row, c.heard, c.end-c.at, eval.Took{})
		if a, b := live.Rows[i], alone.Rows[i]; a.Errors != b.Errors {
			t.Logf("%s: live %d errors, alone %d\n  said  %s\n  live  %s\n  alone %s", filepath.Base(c.Path), a.Errors, b.Errors, c.Reference, a.Hypothesis, b.Hypothesis)
		}
	}
	t.Logf("%d clips, %d words: %d errors live (%.2f %%), %d alone (%.2f %%)", live.Clips, live.Words, live.Errors, 100**live.WER, alone.Errors, 100**alone.WER)
	// The aim is 1 point, to which the long tests hold it. It is not met: runs of 2026-11-30
	// were between 0.5 below and 3.0 above. 4 points, 16 words, are a regression.
	most := 0.04
	if os.Getenv("EARSHOT_LONG") == "1" {
		most = 0.01
	}
	if *live.WER > *alone.WER+most {
		t.Errorf("the word error rate is %.2f points above that of the clips by themselves", 100*(*live.WER-*alone.WER))
	}
}
