package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/app/config"
)

// configFile makes a configuration file and an empty state folder.
func configFile(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("EARSHOT_STATE", filepath.Join(dir, "state"))
	path := filepath.Join(dir, "earshot.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigExample(t *testing.T) {
	status, example, errs := run(t, nil, "config", "example")
	if status != 0 || errs != "" || !strings.Contains(example, "\n#model: tiny.en\n") {
		t.Fatalf("status %d: %s%s", status, example, errs)
	}
	path := configFile(t, example)
	status, out, errs := run(t, nil, "config", "check", path)
	if status != 0 || errs != "" || out != path+": ok\n" {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

func TestConfigCheck(t *testing.T) {
	path := configFile(t, "modle: base\nlanguage: de,elvish\nthreads: -1\n")
	status, out, errs := run(t, nil, "config", "check", path)
	want := "earshot: " + path + `:1: unknown key "modle"; the nearest is "model"
` + path + `:2: language "de,elvish": no language "elvish" is known
` + path + `:3: threads "-1": 0 to 256
`
	if status != 1 || out != "" || errs != want {
		t.Errorf("status %d: %s%s, want %s", status, out, errs, want)
	}
	if status, _, errs := run(t, nil, "config", "check", path+".absent"); status != 2 || !strings.Contains(errs, path+".absent") {
		t.Errorf("absent: status %d: %s", status, errs)
	}
}

func TestConfigShow(t *testing.T) {
	path := configFile(t, "model: base\nthreads: 1\nlanguage: pt-BR\n")
	state := os.Getenv("EARSHOT_STATE")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := config.WriteSettings(state, config.Settings{"hotwords": "Ada"}, nil); err != nil {
		t.Fatal(err)
	}
	status, out, errs := run(t, nil, "config", "show", "--config", path, "--threads", "2", "--listen", "off")
	if status != 0 || errs != "" {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	squeezed := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"model: base # " + path + ":1 ", "threads: 2 # --threads ", "language: pt-BR # " + path + ":3 ", "hotwords: Ada # " + state + "/settings.yaml:",
		`server: listen: "off" # --listen`, "gain: auto # default ",
	} {
		if !strings.Contains(squeezed, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if status, _, errs := run(t, nil, "config", "show", "--config", path, "--language", "x1"); status != 2 || !strings.Contains(errs, `--language: language "x1": no language "x1" is known`) {
		t.Errorf("status %d: %s", status, errs)
	}
	// Damage of what the page wrote is told, and no reason to fail.
	if err := os.Truncate(filepath.Join(state, config.SettingsName), 100); err != nil {
		t.Fatal(err)
	}
	status, out, errs = run(t, nil, "config", "show", "--config", path)
	if status != 0 || !strings.Contains(out, "model: base") || !strings.Contains(errs, "damaged") {
		t.Errorf("damaged settings: status %d: %s%s", status, out, errs)
	}
}

// TestConfigOverrides holds the flags to keys that there are.
func TestConfigOverrides(t *testing.T) {
	known := map[string]bool{}
	for _, k := range config.Keys() {
		known[k.Name] = true
	}
	for _, o := range configOverrides {
		if !known[o.key] {
			t.Errorf("--%s stands for %s, which is no key", o.flag, o.key)
		}
	}
	for key := range configChecks {
		if !known[key] {
			t.Errorf("%s is checked and no key", key)
		}
	}
}
