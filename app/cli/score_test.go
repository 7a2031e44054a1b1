package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/app/eval"
)

func TestScore(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	manifest := file("m.tsv", "path\treference\na.wav\tone two three four\nb.wav\tfive six\nc.wav\tseven\n")
	better := file("better.json", `{"model": "better", "rows": [{"path": "b.wav", "hypothesis": "five six"}, {"path": "a.wav", "hypothesis": "One, two, three."}]}`)
	worse := file("worse.json", `{"model": "worse", "load_ms": 7, "rows": [{"path": "a.wav", "hypothesis": "one", "seconds": 4, "wall_ms": 1000},
		{"path": "b.wav", "hypothesis": "five six five six five six five six five six"}]}`)

	status, out, errs := run(t, nil, "score", manifest, worse, "--against", better, "--json", "-")
	if status != 0 {
		t.Fatalf("status %d, errors %q", status, errs)
	}
	var got eval.Report
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Model != "worse" || got.Words != 6 || got.Errors != 11 || got.Runaway != 1 || got.LoadMS != 7 || got.RTF == nil || *got.RTF != 0.25 {
		t.Errorf("got %s", out)
	}
	if len(got.Differences) != 1 || got.Differences[0].Against != "better" || math.Abs(got.Differences[0].WER-10./6) > 1e-9 {
		t.Errorf("differences %+v", got.Differences)
	}
	if status, out, _ := run(t, nil, "score", manifest, better); status != 0 || !strings.Contains(out, "WER         16.67 %") {
		t.Errorf("status %d, output %q", status, out)
	}

	twice := file("twice.json", `{"rows": [{"path": "a.wav"}, {"path": "a.wav"}]}`)
	stranger := file("stranger.json", `{"rows": [{"path": "z.wav"}]}`)
	empty := file("empty.json", `{}`)
	other := file("other.json", `{"rows": [{"path": "a.wav", "hypothesis": ""}, {"path": "c.wav", "hypothesis": ""}]}`)
	single := file("single.json", `{"rows": [{"path": "a.wav", "hypothesis": ""}]}`)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"clip twice", []string{twice}, "a.wav"},
		{"clip unknown", []string{stranger}, "z.wav"},
		{"no rows", []string{empty}, "no rows"},
		{"no JSON", []string{manifest}, "m.tsv"},
		{"no report", []string{filepath.Join(dir, "absent")}, "absent"},
		{"other clips", []string{better, "--against", other}, "only one report"},
		{"fewer clips", []string{better, "--against", single}, "2 and 1 clips"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, errs := run(t, nil, append([]string{"score", manifest}, c.args...)...)
			if status != 2 || !strings.Contains(errs, c.want) {
				t.Errorf("status %d, errors %q, want %q", status, errs, c.want)
			}
		})
	}
}
