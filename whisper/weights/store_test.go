package weights

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the test program, or, started by a test with arguments in
// EARSHOT_TEST_CHILD, imports models in a process of its own.
func TestMain(m *testing.M) {
	if args := os.Getenv("EARSHOT_TEST_CHILD"); args != "" {
		importForEver(strings.Split(args, "|"))
	}
	os.Exit(m.Run())
}

// importForEver imports the paths behind the first argument, the store's folder, in
// turn, and says so after each.
func importForEver(args []string) {
	if os.Getenv("EARSHOT_TEST_FILE_LIMIT") != "" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 20000, Max: 20000}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	for {
		for _, path := range args[1:] {
			_, err := Store{args[0]}.Import(context.Background(), []string{path}, ImportOptions{Name: "made-up"})
			fmt.Println(err)
		}
	}
}

// child starts a process that imports for ever and returns it with the lines it
// prints.
func child(t *testing.T, s Store, paths []string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "EARSHOT_TEST_CHILD="+strings.Join(append([]string{s.Dir}, paths...), "|"))...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

// twoModels are CTranslate2 folders with different values, and the fingerprints.
func twoModels(t *testing.T) (paths []string, fingerprints map[string]bool) {
	fingerprints = map[string]bool{}
	for seed := range uint64(2) {
		m := small(seed)
		paths = append(paths, writeFiles(t, filepath.Join(t.TempDir(), "m"), m.ct2Files("f16")))
		fingerprints[documentedFingerprint(m)] = true
	}
	return paths, fingerprints
}

// checkWhole makes sure that the store has one of the models, undamaged.
func checkWhole(t *testing.T, s Store, fingerprints map[string]bool) {
	t.Helper()
	path, err := s.Path("made-up")
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	if !fingerprints[m.Fingerprint] {
		t.Fatalf("fingerprint %s is none of %v", m.Fingerprint, fingerprints)
	}
}

func TestKilledImport(t *testing.T) {
	paths, fingerprints := twoModels(t)
	s := Store{t.TempDir()}
	if _, err := s.Import(context.Background(), paths[:1], ImportOptions{Name: "made-up"}); err != nil {
		t.Fatal(err)
	}
	leftovers := 0
	for range 25 {
		cmd, lines := child(t, s, paths)
		lines.Scan()
		time.Sleep(time.Duration(rand.IntN(30000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		checkWhole(t, s, fingerprints)
		if left, _ := filepath.Glob(filepath.Join(s.Dir, tempPrefix+"*")); len(left) > 0 {
			leftovers++
		}
	}
	if leftovers == 0 {
		t.Error("no process was killed in the middle of an import")
	}
	if _, err := s.Import(context.Background(), paths[:1], ImportOptions{Name: "made-up"}); err != nil {
		t.Fatal(err)
	}
	checkFiles(t, s, ".lock", "made-up.earshot")
}

func TestTwoProcesses(t *testing.T) {
	paths, fingerprints := twoModels(t)
	s := Store{t.TempDir()}
	_, one := child(t, s, paths)
	_, two := child(t, s, paths)
	for range 8 {
		for _, lines := range []*bufio.Scanner{one, two} {
			if lines.Scan(); lines.Text() != "<nil>" {
				t.Fatal(lines.Text())
			}
		}
		checkWhole(t, s, fingerprints)
	}
}

func TestFileLimit(t *testing.T) {
	paths, fingerprints := twoModels(t)
	s := Store{t.TempDir()}
	if _, err := s.Import(context.Background(), paths[:1], ImportOptions{Name: "made-up"}); err != nil {
		t.Fatal(err)
	}
	cmd, lines := child(t, s, paths[1:], "EARSHOT_TEST_FILE_LIMIT=1")
	lines.Scan()
	if !strings.Contains(lines.Text(), "file too large") {
		t.Errorf("got %q, want an error of the file size", lines.Text())
	}
	cmd.Process.Kill()
	cmd.Wait()
	checkWhole(t, s, fingerprints)
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=80k"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v (TestFileLimit stands in)", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	paths, fingerprints := twoModels(t)
	s := Store{filepath.Join(dir, "models")}
	if _, err := s.Import(context.Background(), paths[:1], ImportOptions{Name: "made-up"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := s.Import(context.Background(), paths[1:], ImportOptions{Name: "made-up"})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v, want no space left", err)
		}
		checkWhole(t, s, fingerprints)
		checkFiles(t, s, ".lock", "made-up.earshot")
	}
}

func TestListAndRemove(t *testing.T) {
	s := Store{filepath.Join(t.TempDir(), "models")}
	if models, err := s.List(); len(models) != 0 || err != nil {
		t.Errorf("an absent folder holds %v, %v", models, err)
	}
	if _, err := s.Path("tiny.en"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "earshot model pull tiny.en") {
		t.Errorf("absent model: %v", err)
	}
	if _, err := s.Path("../../etc/passwd"); err == nil {
		t.Error("a path is taken for a name")
	}
	paths, _ := twoModels(t)
	for i, name := range []string{"one", "two"} {
		if _, err := s.Import(context.Background(), paths[i:i+1], ImportOptions{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(s.path("two"), 100); err != nil {
		t.Fatal(err)
	}
	models, err := s.List()
	if err != nil || len(models) != 2 || models[0].Name != "one" || models[0].Err != nil || models[0].Header.Name != "one" ||
		models[1].Err == nil || !strings.Contains(models[1].Err.Error(), "two.earshot: cut at byte 100 of") {
		t.Errorf("list: %+v, %v", models, err)
	}
	for _, name := range []string{"one", "two"} {
		if err := s.Remove(context.Background(), name); err != nil {
			t.Error(err)
		}
	}
	checkFiles(t, s, ".lock")
	if err := s.Remove(context.Background(), "one"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestLockWaits(t *testing.T) {
	s := Store{t.TempDir()}
	unlock, err := s.lock(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	waiting := false
	_, err = s.lock(ctx, func(p Progress) { waiting = p.Step == StepWait })
	if !errors.Is(err, context.DeadlineExceeded) || !waiting {
		t.Errorf("second lock: %v, waiting reported: %v", err, waiting)
	}
	unlock()
	if unlock, err = s.lock(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	unlock()
}

func TestCancelledImport(t *testing.T) {
	paths, _ := twoModels(t)
	s := Store{t.TempDir()}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := s.Import(ctx, paths[:1], ImportOptions{Progress: func(p Progress) {
		if p.Step == StepConvert && p.Done > 1000 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	checkFiles(t, s, ".lock")
}

// TestPackedFiles sees what becomes of the files that a backend keeps beside models.
func TestPackedFiles(t *testing.T) {
	paths, _ := twoModels(t)
	s := Store{t.TempDir()}
	for _, name := range []string{"one", "two"} {
		if _, err := s.Import(context.Background(), paths[:1], ImportOptions{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Open(filepath.Join(s.Dir, "one.earshot"))
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if got, want := m.PackedPath(), filepath.Join(s.Dir, "one.packed"); got != want {
		t.Errorf("path %s, want %s", got, want)
	}
	writeFiles(t, s.Dir, map[string][]byte{"one.packed": {1}, "two.packed": {2}, ".packed-young": {3}, ".packed-old": {4}})
	old := time.Now().Add(-2 * maxPackAge)
	if err := os.Chtimes(filepath.Join(s.Dir, ".packed-old"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(context.Background(), "one"); err != nil {
		t.Fatal(err)
	}
	checkFiles(t, s, ".lock", ".packed-young", "two.earshot", "two.packed")
	if models, err := s.List(); err != nil || len(models) != 1 {
		t.Errorf("models %v, %v", models, err)
	}
}
