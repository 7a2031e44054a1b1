package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// StateDir is the folder for models and everything else that must outlive a run:
// $EARSHOT_STATE, else the first folder of $STATE_DIRECTORY (systemd sets it, see
// systemd.exec(5), StateDirectory=), else ~/.local/state/earshot. The path is
// absolute; the folder may not exist yet.
func StateDir() (string, error) {
	dir, err := stateDir()
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("state folder %q: %w", dir, err)
	}
	return abs, nil
}

func stateDir() (string, error) {
	if dir := os.Getenv("EARSHOT_STATE"); dir != "" {
		return dir, nil
	}
	// systemd gives every folder of the unit, separated by colons.
	if dir, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("state folder: %w; set EARSHOT_STATE to choose one", err)
	}
	return filepath.Join(home, ".local", "state", "earshot"), nil
}
