package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"earshot/app/config"
	"earshot/audio/vad"
)

// write makes a configuration file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "earshot.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load reads a configuration that must be right.
func load(t *testing.T, text string) *config.Loaded {
	t.Helper()
	l, err := config.Load(config.Sources{Path: write(t, text)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return l
}

// same fails where two configurations differ.
func same(t *testing.T, got, want config.Config) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("they differ in %+v", config.Diff(want, got))
	}
}

var commentedOut = regexp.MustCompile(`(?m)^( *)#([^ \n])`)

// TestExample reads the example with all its keys in force: each is there once, in its
// section, with the default.
func TestExample(t *testing.T) {
	text := commentedOut.ReplaceAllString(config.Example(), "$1$2")
	l := load(t, text)
	same(t, l.Config, config.Default())
	for _, k := range config.Keys() {
		if l.From(k.Name) == "default" {
			t.Errorf("%s is not in the example", k.Name)
		}
	}
	l = load(t, config.Example())
	same(t, l.Config, config.Default())
	for _, k := range config.Keys() {
		if from := l.From(k.Name); from != "default" {
			t.Errorf("%s is not commented out: %s", k.Name, from)
		}
	}
}

func TestKeys(t *testing.T) {
	names := map[string]bool{}
	for _, k := range config.Keys() {
		if names[k.Name] || !regexp.MustCompile(`^[a-z-]+(\.[a-z-]+)?$`).MatchString(k.Name) {
			t.Errorf("key %q", k.Name)
		}
		names[k.Name] = true
		if len(k.Doc) < 15 || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: comment %q", k.Name, k.Doc)
		}
	}
	for line := range strings.Lines(config.Example()) {
		if n := len([]rune(line)); n > 90 {
			t.Errorf("%d letters in a line: %s", n, line)
		}
	}
}

// TestDefaults holds the defaults to what other packages have measured to be good.
func TestDefaults(t *testing.T) {
	c := config.Default()
	v := vad.LiveOptions()
	e := c.Endpointing
	got := vad.Options{
		Threshold: float32(e.Threshold), EndThreshold: float32(e.EndThreshold), BackgroundDB: e.BackgroundDB,
		MinSpeech: e.MinSpeech, MinSilence: e.MinSilence, PreRoll: e.PreRoll, Trail: e.Trail, Longest: e.Longest,
		Apart: v.Apart,
	}
	if got != v {
		t.Errorf("endpointing %+v, audio/vad has %+v", got, v)
	}
	if e.PreRoll != 300*time.Millisecond || e.Speculate != 200*time.Millisecond {
		t.Errorf("endpointing %+v, live %+v", e, c.Live)
	}
	if !strings.HasPrefix(c.Server.Listen, "127.0.0.1:") {
		t.Errorf("listens at %s", c.Server.Listen)
	}
	if s := c.Store; s.KeepsAudio() || s.NoHistory() || s.KeepText.Age() != 0 {
		t.Errorf("store %+v", s)
	}
}

func TestNoHistory(t *testing.T) {
	s := load(t, "store: {keep-text: never, keep-audio: forever}").Store
	if !s.NoHistory() || s.KeepsAudio() {
		t.Errorf("%+v", s)
	}
	s = load(t, "store: {keep-text: 7d, keep-audio: 1d}").Store
	if s.NoHistory() || !s.KeepsAudio() || s.KeepText.Age() != 7*24*time.Hour || s.KeepAudio.Age() != 24*time.Hour {
		t.Errorf("%+v", s)
	}
}

func TestDiff(t *testing.T) {
	before := load(t, "model: base\nendpointing: {pre-roll: 1s}\nlive: {when-slow: []}\n")
	after := load(t, "log-level: debug\nendpointing: {pre-roll: 1000ms}\nlive: {when-slow: [later]}\n")
	got := config.Diff(before.Config, after.Config)
	want := []config.Change{
		{Key: "model", Old: "base", New: "tiny.en"},
		{Key: "log-level", Old: "info", New: "debug", Live: true},
		{Key: "live.when-slow", Old: "[]", New: "[later]"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := config.Diff(before.Config, before.Config); got != nil {
		t.Errorf("no difference: %+v", got)
	}
}
