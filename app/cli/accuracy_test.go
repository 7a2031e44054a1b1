package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/app/eval"
	"earshot/whisper/backendtest"
)

// TestEnglishSets transcribes every English clip there is with tiny.en and base: no
// text goes round in circles, and bytes are as good as float32.
func TestEnglishSets(t *testing.T) {
	if !long() {
		t.Skip("transcribes 15 minutes six times")
	}
	manifest := englishManifest(t)
	for _, model := range []string{"tiny.en", "base"} {
		t.Run(model, func(t *testing.T) {
			backendtest.Model(t, model)
			small := evalReport(t, manifest, "--model", model)
			users := evalReport(t, manifest, "--model", model, "--whole")
			float32s := evalReport(t, manifest, "--model", model, "--compute-type", "float32")
			for name, r := range map[string]*eval.Report{"int8": small, "int8 as users get it": users, "float32": float32s} {
				t.Logf("%s, %s:\n%s", model, name, setsTable(r))
			}
			for _, r := range []*eval.Report{small, users} {
				for _, row := range r.Rows {
					if row.Runaway() {
						t.Errorf("%s: %q\nwant %q", row.Path, row.Hypothesis, row.Reference)
					}
				}
			}
			if d, good := compare(t, "all sets", small, float32s); !good {
				t.Errorf("all sets: %s", shown(d))
			}
			const other = "librispeech-test-other"
			// 2026-11-30: tiny.en fails this with +0.57 points, −0.61 to +1.93. With one matrix
			// or other of the decoder left in float32 there were 150 to 168 errors in the 1,052
			// words, and 149 with all of them.
			if d, good := compare(t, other, ofSet(t, small, other), ofSet(t, float32s, other)); !good {
				t.Errorf("%s: %s", other, shown(d))
			}
		})
	}
}

// compare says whether a makes no more errors than b: at most 0.3 points more, or more
// by chance, and then hardly by more than a point.
func compare(t *testing.T, what string, a, b *eval.Report) (d eval.Difference, good bool) {
	t.Helper()
	d, err := a.Against(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d errors against %d in %d words, %s", what, a.Errors, b.Errors, a.Words, shown(d))
	return d, d.WER <= 0.003 || d.Low <= 0 && d.High <= 0.01
}

func shown(d eval.Difference) string {
	return fmt.Sprintf("%+.2f points, 95 %% interval %+.2f to %+.2f", 100*d.WER, 100*d.Low, 100*d.High)
}

// englishManifest holds the English clips of all sets whose text is known.
func englishManifest(t *testing.T) string {
	t.Helper()
	manifests, err := filepath.Glob(backendtest.Shared(t, "audio") + "/*/manifest.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	fmt.Fprintln(&all, "path\tlanguage\treference")
	for _, m := range manifests {
		rows, err := readManifest(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if strings.HasPrefix(row.Language, "en") && row.Reference != "" {
				fmt.Fprintf(&all, "%s\ten\t%s\n", filepath.Join(filepath.Dir(m), row.Path), row.Reference)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "english.tsv")
	if err := os.WriteFile(path, all.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// evalReport carries out `earshot eval` and reads what it reports.
func evalReport(t *testing.T, manifest string, args ...string) *eval.Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.json")
	if status, _, errs := run(t, nil, slices.Concat([]string{"eval", "--json", path}, args, []string{manifest})...); status != 0 {
		t.Fatalf("%v: status %d, %s", args, status, errs)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := eval.ReadReport(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// setOf is the folder that a clip lies in.
func setOf(path string) string { return filepath.Base(filepath.Dir(path)) }

// ofSet is a report over the clips of one set.
func ofSet(t *testing.T, r *eval.Report, set string) *eval.Report {
	t.Helper()
	part := eval.NewReport(r.Model)
	for _, row := range r.Rows {
		if setOf(row.Path) == set {
			part.Add(eval.Row{Path: row.Path, Reference: row.Reference, Language: "en"}, row.Hypothesis, row.Seconds, eval.Took{})
		}
	}
	if part.Clips == 0 {
		t.Fatalf("no clips in %s", set)
	}
	return part
}

// setsTable is errors, words and texts that are far too long, set by set.
func setsTable(r *eval.Report) string {
	var out strings.Builder
	var sets []string
	for _, row := range r.Rows {
		if set := setOf(row.Path); !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	for _, set := range sets {
		var words, errors, runaway int
		for _, row := range r.Rows {
			if setOf(row.Path) != set {
				continue
			}
			words, errors = words+row.Words, errors+row.Errors
			if row.Runaway() {
				runaway++
			}
		}
		fmt.Fprintf(&out, "%-24s %4d errors in %5d words, %d far too long\n", set, errors, words, runaway)
	}
	fmt.Fprintf(&out, "%-24s %4d errors in %5d words, %d far too long", "all", r.Errors, r.Words, r.Runaway)
	return out.String()
}
