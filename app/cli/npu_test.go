package cli

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestNPUPlan(t *testing.T) {
	status, out, errs := run(t, nil, "npu", "plan", "--soc", "genio-700", "--model", "tiny")
	if status != 0 || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	for _, want := range []string{
		`genio-700 \(MT8390\) +one MDLA`,
		`budget +64 MiB at once +assumed\n`,
		`\n30 s +whole +71\.0 +-7\.0 +\d+ +\d+ +1 +\d+ +BATCH_MATMUL is not on this board; 71\.0 MiB at once, 64 may be\n`,
		`\n30 s +\* +whole, heads +\d+`,
		`\n30 s +whole, heads +the fastest of \d+ that fit, by prediction\n`,
		`\nNot yet measured on hardware: `,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestNPUPlanJSON(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "plan.svg")
	status, out, errs := run(t, nil, "npu", "plan", "--soc", "mt8391", "--model", "tiny.en", "--budget-mib", "20", "--max-allocs", "25", "--max-ops", "2000", "--sweep", "--json", "--svg", svg)
	if status != 0 || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	var report struct {
		planReport
		Profile map[string]any `json:"profile"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Model != "tiny.en" || report.Profile["board"] != "genio-720" || !strings.Contains(report.Note, "Not yet measured") {
		t.Errorf("%s on %v: %s", report.Model, report.Profile["board"], report.Note)
	}
	if len(report.Choices) != 12 || len(report.Plans) != 12*14 {
		t.Errorf("%d choices of %d plans", len(report.Choices), len(report.Plans))
	}
	chosen := map[float64]string{}
	for _, c := range report.Choices {
		chosen[c.WindowS] = c.Way
	}
	for _, p := range report.Plans {
		inside := p.PeakBytes <= 20<<20 && p.SpareBytes >= 0 && p.Allocations <= 25 && p.Operations <= 2000
		if p.Fits != inside || p.Fits != (len(p.Refused) == 0) {
			t.Errorf("%+v", p)
		}
		if chosen[p.WindowS] == p.Way && !p.Fits {
			t.Errorf("%g s: %s was chosen and does not fit", p.WindowS, p.Way)
		}
	}
	for _, row := range report.Sweep {
		if len(row.Windows) != len(sweepBudgets) {
			t.Errorf("sweep %s: %v", row.Way, row.Windows)
		}
		before := 0.0
		for _, mib := range sweepBudgets { // more memory, longer windows
			if s := row.Windows[mib]; s != nil {
				if *s < before {
					t.Errorf("sweep %s: %g s in %d MiB", row.Way, *s, mib)
				}
				before = *s
			}
		}
		if row.Way == "parts reloaded, rows" && before != 30 {
			t.Errorf("sweep %s ends with %g s", row.Way, before)
		}
	}
	wellFormed(t, svg, "budget 20 MiB, given by --budget-mib")
}

// wellFormed reads an SVG file as XML.
func wellFormed(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(text), want) || strings.Contains(string(text), "NaN") || strings.Contains(string(text), "Inf") {
		t.Errorf("%s", text)
	}
}

func TestNPUPlanRefuses(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "none.svg")
	if status, out, errs := run(t, nil, "npu", "plan", "--soc", "genio-350", "--model", "tiny", "--svg", svg); status != 0 || errs != "" || !strings.Contains(out, "nothing fits the NPU: the board has no NPU") {
		t.Errorf("no NPU: status %d, %s%s", status, out, errs)
	}
	wellFormed(t, svg, "tiny on genio-350")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--soc", "genio-9"}, `--soc: no profile of "genio-9"; there are genio-350, `},
		{[]string{"--soc", "genio-700", "--model", "none"}, "none"},
		{[]string{"--soc", "genio-700", "--budget-mib", "-1"}, "--budget-mib -1: between 1 and"},
		{[]string{"--soc", "genio-700", "--max-ops", "99999999"}, "--max-ops 99999999: between 1 and"},
		{[]string{"--soc", "genio-700", "--model", "tiny", "--svg", filepath.Join(t.TempDir(), "no", "folder")}, "no such file"},
	} {
		if status, _, errs := run(t, nil, append([]string{"npu", "plan"}, c.args...)...); status != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %s", c.args, status, errs)
		}
	}
}
