package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

func TestRunVersion(t *testing.T) {
	status, stdout, stderr := command(t, "version")
	if status != 0 || !strings.HasPrefix(stdout, "earshot ") || stderr != "" {
		t.Errorf("got status %d, %q, %q", status, stdout, stderr)
	}
}

func TestRunUnknown(t *testing.T) {
	status, stdout, stderr := command(t, "transcrbe")
	if status != 2 || stdout != "" || !strings.Contains(stderr, "transcrbe") {
		t.Errorf("got status %d, %q, %q; want 2 and a word on transcrbe", status, stdout, stderr)
	}
}

// TestRunSample is `make run`: the sample's text comes out, and nothing else.
func TestRunSample(t *testing.T) {
	if testing.Short() {
		t.Skip("loads tiny.en")
	}
	want, err := os.ReadFile("../../audio/testdata/sample.txt")
	if err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := command(t, "transcribe", "../../audio/testdata/sample.wav")
	if strings.Contains(stderr, "model pull") && os.Getenv("CI") != "true" {
		t.Skip(stderr)
	}
	if status != 0 || words(stdout) != words(string(want)) {
		t.Errorf("got status %d, %q, %q; want 0, %q", status, stdout, stderr, want)
	}
}

func command(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diag strings.Builder
	status = run(context.Background(), args, strings.NewReader(""), &out, &diag)
	return status, out.String(), diag.String()
}

// words leaves out what two engines may well differ in: case, stops, line breaks.
func words(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(".", "", ",", "").Replace(strings.ToLower(text))), " ")
}
