package config_test

import (
	"errors"
	"strings"
	"testing"

	"earshot/app/config"
)

func TestRank(t *testing.T) {
	path, dir := write(t, "model: base\nlanguage: de\nhotwords: file\nlog-level: warn\n"), t.TempDir()
	if err := config.WriteSettings(dir, config.Settings{"language": "fr", "hotwords": "page", "store.keep-audio": "30d"}, nil); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Sources{Path: path, StateDir: dir, Overrides: []config.Override{
		{Key: "hotwords", Value: "flag", From: "--hotwords"},
		{Key: "server.listen", Value: "off", From: "--listen"},
	}})
	if err != nil || l.Notes != nil {
		t.Fatal(err, l.Notes)
	}
	if l.Language != "fr" || l.Hotwords != "flag" || l.Model != "base" || l.Server.Listen != "off" || l.Store.KeepAudio.String() != "30d" {
		t.Errorf("%+v", l.Config)
	}
	for key, want := range map[string]string{
		"model":            path + ":1",
		"language":         dir + "/settings.yaml:3",
		"hotwords":         "--hotwords",
		"server.listen":    "--listen",
		"store.keep-audio": dir + "/settings.yaml:6",
		"threads":          "default",
	} {
		if got := l.From(key); got != want {
			t.Errorf("%s is from %s, want %s", key, got, want)
		}
	}
	// What is shown is a file again, that says the same.
	shown := l.Show()
	same(t, load(t, shown).Config, l.Config)
	if !strings.Contains(shown, "# "+path+":1\n") {
		t.Errorf("shown:\n%s", shown)
	}
}

func TestOverrideRefused(t *testing.T) {
	_, err := config.Load(config.Sources{Path: write(t, "thread: 1\n"), Overrides: []config.Override{{Key: "threads", Value: "x", From: "--threads"}}})
	var problems config.Problems
	if !errors.As(err, &problems) || len(problems) != 2 || problems[1].Error() != `--threads: threads "x": a whole number, 0 to 256` {
		t.Errorf("got %v", err)
	}
}

// TestChecks have the last word on a value, and don't keep the device from starting when
// it is the page's.
func TestChecks(t *testing.T) {
	checks := config.Checks{"model": func(name string) error {
		if name != "base" {
			return errors.New("it is not here")
		}
		return nil
	}}
	path, dir := write(t, "\nmodel: huge\n"), t.TempDir()
	_, err := config.Load(config.Sources{Path: path, Checks: checks})
	if want := path + `:2: model "huge": it is not here`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	settings := config.Settings{"model": "huge", "language": "de"}
	if err := config.WriteSettings(dir, settings, checks); err == nil || !strings.Contains(err.Error(), "not here") {
		t.Errorf("written: %v", err)
	}
	if err := config.WriteSettings(dir, settings, nil); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Sources{Path: write(t, "model: base\n"), StateDir: dir, Checks: checks})
	if err != nil || l.Model != "base" || l.Language != "de" || len(l.Notes) != 1 || !strings.Contains(l.Notes[0].Error(), "not here") {
		t.Errorf("%v, notes %v, %+v", err, l.Notes, l.Config)
	}
}
