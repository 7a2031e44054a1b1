package config_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/app/config"
)

var (
	first  = config.Settings{"language": "en"}
	second = config.Settings{"language": "de,fr", "hotwords": "Ärger: \"#1\", 20 °C \\ 'x'", "live.partials": "false", "store.keep-text": "30d"}
)

func readSettings(t *testing.T, dir string) config.Settings {
	t.Helper()
	s, err := config.ReadSettings(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func writeSettings(t *testing.T, dir string, s config.Settings) {
	t.Helper()
	if err := config.WriteSettings(dir, s, nil); err != nil {
		t.Fatal(err)
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	if got := readSettings(t, dir); len(got) != 0 {
		t.Errorf("no file: %v", got)
	}
	longest := config.Settings{"hotwords": strings.Repeat(`"`, 4096), "prompt": strings.Repeat(`\`, 4096), "language": strings.Repeat("a", 4096), "model": strings.Repeat("a", 4096)}
	for _, s := range []config.Settings{first, second, longest, {}} {
		writeSettings(t, dir, s)
		if got := readSettings(t, dir); !maps.Equal(got, s) {
			t.Errorf("got %v, want %v", got, s)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestSettingsRefused(t *testing.T) {
	dir := t.TempDir()
	writeSettings(t, dir, first)
	for _, c := range []struct {
		name       string
		key, value string
		want       string
	}{
		{"value", "store.keep-text", "soon", `settings: store.keep-text "soon": never, forever, or an age such as 12h or 30d, at least 1m`},
		{"not for the page", "server.listen", "0.0.0.0:80", `settings: server.listen "0.0.0.0:80": the page may not change this`},
		{"unknown", "hotword", "a", `settings: unknown key "hotword"; the nearest is "hotwords"`},
		{"line end", "prompt", "a\nsource: stdin", `settings: prompt "a\nsource: stdin": a text in one line, at most 4096 bytes`},
		{"long", "prompt", strings.Repeat("a", 4097), `settings: prompt "` + strings.Repeat("a", 80) + `…": a text in one line, at most 4096 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := config.WriteSettings(dir, config.Settings{c.key: c.value}, nil)
			if !errors.As(err, new(config.Problems)) || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if got := readSettings(t, dir); !maps.Equal(got, first) {
		t.Errorf("got %v", got)
	}
}

// TestSettingsCut has the power go while settings are replaced, after every byte, and a
// file system that loses the end of the file itself.
func TestSettingsCut(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, config.SettingsName)
	put := func(path string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content := func(s config.Settings) []byte {
		writeSettings(t, dir, s)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	file := write(t, "model: base\n")
	before, whole := content(first), content(second)
	for n := range whole {
		put(path, before)
		put(path+".new", whole[:n])
		if got := readSettings(t, dir); !maps.Equal(got, first) {
			t.Fatalf("%d bytes of the new file: got %v", n, got)
		}
		for _, damaged := range [][]byte{whole[:n], append(whole[:n:n], make([]byte, len(whole)-n)...)} {
			put(path, damaged)
			got, err := config.ReadSettings(dir)
			if !errors.Is(err, config.ErrDamaged) || len(got) != 0 {
				t.Fatalf("%d of %d bytes: got %v, %v", n, len(whole), got, err)
			}
			l, err := config.Load(config.Sources{Path: file, StateDir: dir})
			if err != nil || l.Model != "base" || len(l.Notes) != 1 {
				t.Fatalf("%d of %d bytes: %v, notes %v", n, len(whole), err, l.Notes)
			}
		}
	}
	writeSettings(t, dir, second)
	if got := readSettings(t, dir); !maps.Equal(got, second) {
		t.Errorf("after all: %v", got)
	}
}

// TestSettingsKilled kills a process that writes, at random moments.
func TestSettingsKilled(t *testing.T) {
	if dir := os.Getenv("EARSHOT_TEST_SETTINGS"); dir != "" {
		for {
			for _, s := range []config.Settings{second, first} {
				if err := config.WriteSettings(dir, s, nil); err != nil {
					t.Fatal(err)
				}
				fmt.Println("written")
			}
		}
	}
	dir := t.TempDir()
	for range 20 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestSettingsKilled$")
		cmd.Env = append(os.Environ(), "EARSHOT_TEST_SETTINGS="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("written"))); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(rand.N(10*time.Millisecond), func() { _ = cmd.Process.Kill() })
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		if got := readSettings(t, dir); !maps.Equal(got, first) && !maps.Equal(got, second) {
			t.Fatalf("got %v", got)
		}
	}
}

// TestSettingsOfOthers come from a newer version, or from somebody's hand: what is right
// in them holds.
func TestSettingsOfOthers(t *testing.T) {
	dir := t.TempDir()
	text := "language: de\nfuture: 1\nlog-level: debug\nstore: {keep-text: soon}\n# end of settings\n"
	if err := os.WriteFile(filepath.Join(dir, config.SettingsName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := config.ReadSettings(dir)
	if !maps.Equal(got, config.Settings{"language": "de"}) || err == nil {
		t.Errorf("got %v, %v", got, err)
	}
	l, err := config.Load(config.Sources{Path: write(t, ""), StateDir: dir})
	if err != nil || l.Language != "de" || l.LogLevel != "info" || len(l.Notes) != 3 {
		t.Errorf("%v, notes %v", err, l.Notes)
	}
}

// TestSettingsNotWritten leaves what was there where a write fails.
func TestSettingsNotWritten(t *testing.T) {
	dir := t.TempDir()
	writeSettings(t, dir, first)
	if err := os.Mkdir(filepath.Join(dir, config.SettingsName+".new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := config.WriteSettings(dir, second, nil); err == nil || !strings.Contains(err.Error(), "settings.yaml") {
		t.Errorf("got %v", err)
	}
	if got := readSettings(t, dir); !maps.Equal(got, first) {
		t.Errorf("got %v", got)
	}
}
