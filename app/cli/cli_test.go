package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/app/eval"
	"earshot/app/export"
	"earshot/whisper/backendtest"
)

// run carries out a command line as main does.
func run(t *testing.T, stdin io.Reader, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = Run(context.Background(), args, stdin, &out, &err)
	return status, out.String(), err.String()
}

const sample = "../../audio/testdata/sample.wav"

func sampleText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../audio/testdata/sample.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// near fails when got has more word errors against want than allowed.
func near(t *testing.T, what, got, want string, allowed int) {
	t.Helper()
	if c := eval.Compare(want, got, "en"); c.WordEdit.Total() > allowed {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestTranscribe(t *testing.T) {
	backendtest.Model(t, "tiny.en")
	status, out, errs := run(t, nil, "transcribe", sample)
	if status != 0 || errs != "" {
		t.Errorf("status %d, standard error %q", status, errs)
	}
	near(t, "sample", out, sampleText(t), 0)

	f, err := os.Open(sample)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, piped, _ := run(t, struct{ io.Reader }{f}, "transcribe", "-")
	if piped != out {
		t.Errorf("from a pipe %q, from the file %q", piped, out)
	}
}

func TestExitStatus(t *testing.T) {
	backendtest.Model(t, "tiny.en")
	bad := filepath.Join(t.TempDir(), "bad.wav")
	if err := os.WriteFile(bad, []byte("no sound at all, but text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		status int
		stderr string // part of it
	}{
		{"OK", []string{"version"}, 0, ""},
		{"unknown command", []string{"transcripe"}, 2, "transcripe"},
		{"unknown flag", []string{"transcribe", "--loud", sample}, 2, "--loud"},
		{"no file", []string{"transcribe"}, 2, "arg"},
		{"no such file", []string{"transcribe", "absent.wav"}, 2, "absent.wav"},
		{"not audio", []string{"transcribe", bad}, 2, bad},
		{"one of two", []string{"transcribe", bad, sample}, 1, bad},
		{"both", []string{"transcribe", bad, "absent.wav"}, 2, "2 of 2"},
		{"no such model", []string{"transcribe", "--model", "huge", sample}, 2, "huge"},
		{"language of another model", []string{"transcribe", "--language", "de", sample}, 2, "English only"},
		{"no such language", []string{"transcribe", "--language", "qq", sample}, 2, "qq"},
		{"translate with an English model", []string{"transcribe", "--task", "translate", sample}, 2, "translate"},
		{"no such format", []string{"transcribe", "--format", "doc", sample}, 2, "doc"},
		{"two formats on one output", []string{"transcribe", "--format", "srt,vtt", sample}, 2, "--output-dir"},
		{"no such channel", []string{"transcribe", "--channels", "3", sample}, 2, "channel"},
		{"no manifest", []string{"eval", "absent.tsv"}, 2, "absent.tsv"},
		{"no threads", []string{"transcribe", "--threads", "0", sample}, 2, "--threads"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, stderr := run(t, nil, c.args...)
			if status != c.status || !strings.Contains(stderr, c.stderr) {
				t.Errorf("status %d, want %d; standard error %q, want %q in it", status, c.status, stderr, c.stderr)
			}
			if n := strings.Count(stderr, "\n"); n > 5 {
				t.Errorf("%d lines of error: %s", n, stderr)
			}
		})
	}
}

// TestFormats writes every format and reads back those that can be read.
func TestFormats(t *testing.T) {
	backendtest.Model(t, "tiny.en")
	dir := filepath.Join(t.TempDir(), "new", "folder")
	var names []string
	for _, f := range export.Formats() {
		names = append(names, string(f))
	}
	status, out, errs := run(t, nil, "transcribe", "--word-timestamps", "--format", strings.Join(names, ","), "--output-dir", dir, sample)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	if got := strings.Fields(out); len(got) != len(names) || !slices.Contains(got, filepath.Join(dir, "sample.srt")) {
		t.Errorf("standard output should name the files: %q", out)
	}
	for _, f := range export.Formats() {
		file, err := os.Open(filepath.Join(dir, "sample."+string(f)))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := export.Read(file, f); err == nil {
			near(t, string(f), got.Text(), sampleText(t), 0)
			if n := len(got.Segments); n != 3 {
				t.Errorf("%s: %d segments, want 3", f, n)
			}
		} else if f != export.TXT && f != export.MD {
			t.Errorf("%s: %v", f, err)
		}
		file.Close()
	}
	if entries, _ := os.ReadDir(dir); len(entries) != len(names) {
		t.Errorf("%d files in the folder, want %d", len(entries), len(names))
	}
}

func TestEval(t *testing.T) {
	backendtest.Model(t, "tiny.en")
	dir := t.TempDir()
	manifest, report := filepath.Join(dir, "m.tsv"), filepath.Join(dir, "r.json")
	full, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(sampleText(t)), " ")
	rows := "path\tlanguage\treference\n" + full + "\ten\t" + text + "\nabsent.wav\ten\tnothing\n" + full + "\ten\tbeyond the limit\n"
	if err := os.WriteFile(manifest, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	status, out, errs := run(t, nil, "eval", "--limit", "2", "--json", report, manifest)
	if status != 1 || !strings.Contains(errs, "absent.wav") || !strings.Contains(out, "WER") {
		t.Errorf("status %d, output %q, errors %q", status, out, errs)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Split("model clips words errors wer cer audio_seconds wall_seconds cpu_seconds rtf load_ms encode_ms decode_ms tokens peak_rss_bytes rows", " ") {
		if got[key] == nil || got[key] == 0.0 && key != "errors" && key != "wer" && key != "cer" {
			t.Errorf("%s is %v", key, got[key])
		}
	}
	if got["clips"] != 1.0 || got["errors"] != 0.0 || got["model"] != "tiny.en" {
		t.Errorf("got %v clips, %v errors, model %v", got["clips"], got["errors"], got["model"])
	}
	row := got["rows"].([]any)[0].(map[string]any)
	for _, key := range strings.Split("path reference hypothesis words errors seconds wall_ms cpu_ms", " ") {
		if _, ok := row[key]; !ok {
			t.Errorf("rows have no %s", key)
		}
	}
}
