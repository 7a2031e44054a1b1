package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"earshot/app/config"
)

func TestStateDir(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                   string
		earshot, systemd, home string
		want                   string
	}{
		{"OK", "/srv/earshot", "/var/lib/other", "/home/ada", "/srv/earshot"},
		{"systemd", "", "/var/lib/earshot", "/home/ada", "/var/lib/earshot"},
		{"systemd gives several", "", "/var/lib/earshot:/var/lib/second", "/home/ada", "/var/lib/earshot"},
		{"home", "", "", "/home/ada", "/home/ada/.local/state/earshot"},
		{"relative becomes absolute", "state", "", "/home/ada", filepath.Join(here, "state")},
		{"no home needed when set", "/srv/earshot", "", "", "/srv/earshot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			setenv(t, c.earshot, c.systemd, c.home)
			got, err := config.StateDir()
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestStateDirNowhere(t *testing.T) {
	setenv(t, "", "", "")
	dir, err := config.StateDir()
	if err == nil || !strings.Contains(err.Error(), "EARSHOT_STATE") {
		t.Errorf("got %q, %v; want an error that names EARSHOT_STATE", dir, err)
	}
}

func setenv(t *testing.T, earshot, systemd, home string) {
	t.Helper()
	t.Setenv("EARSHOT_STATE", earshot)
	t.Setenv("STATE_DIRECTORY", systemd)
	t.Setenv("HOME", home)
}
