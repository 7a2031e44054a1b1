package sim

import (
	"os"
	"path/filepath"
	"testing"
)

// Library is the path of the library that make simulator builds. Without it the test is
// skipped, except under CI=true, where it fails.
func Library(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	path := filepath.Join(dir, "build", "libneuronsim.so")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("make simulator builds it: ", err)
	}
	return path
}
