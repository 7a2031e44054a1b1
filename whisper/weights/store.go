package weights

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Store is a folder of model files, NAME.earshot. It is created by the first
// Import or Pull. Any number of processes may use it.
type Store struct{ Dir string }

const (
	extension  = ".earshot"
	lockFile   = ".lock"
	tempPrefix = ".import-" // files being written
	pullPrefix = ".pull-"   // folders of downloads that can be resumed
	packPrefix = ".packed-" // files being packed
	// maxPullAge is how long an abandoned download is kept, maxPackAge a file that
	// nobody can be packing any more.
	maxPullAge = 7 * 24 * time.Hour
	maxPackAge = time.Hour
)

// PackedTemp is the pattern of the names under which packed files are written (see
// Model.PackedPath). The Store removes what killed processes leave.
const PackedTemp = packPrefix + "*"

// Entry is one model of a store.
type Entry struct {
	Name   string
	Path   string
	Bytes  int64
	Header Header // zero if Err is set
	Err    error  // why the file cannot be used; tensors are not looked at (see Model.Verify)
}

// List returns the models by name. A folder that does not exist is empty.
func (s Store) List() ([]Entry, error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	var all []Entry
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), extension)
		if !ok || checkName(name) != nil {
			continue
		}
		e := Entry{Name: name, Path: s.path(name)}
		if info, err := f.Info(); err == nil {
			e.Bytes = info.Size()
		}
		if m, err := Open(e.Path); err != nil {
			e.Err = err
		} else {
			e.Header = m.Header
			m.Close()
		}
		all = append(all, e)
	}
	return all, nil
}

func (s Store) path(name string) string { return filepath.Join(s.Dir, name+extension) }

// Path returns the file of a model; the error wraps fs.ErrNotExist if there is
// none and says how to get it.
func (s Store) Path(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	path := s.path(name)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			how := "earshot model list shows what is there"
			if _, ok := FindModel(name); ok {
				how = "earshot model pull " + name + " fetches it"
			}
			return "", fmt.Errorf("model %s is not in %s; %s: %w", name, s.Dir, how, fs.ErrNotExist)
		}
		return "", fmt.Errorf("model %s: %w", name, err)
	}
	return path, nil
}

// Remove deletes a model and what was downloaded for it. Who has it open can go on using it.
func (s Store) Remove(ctx context.Context, name string) error {
	path, err := s.Path(name)
	if err != nil {
		return err
	}
	unlock, err := s.lock(ctx, nil)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.RemoveAll(s.pullDir(name)); err != nil {
		return fmt.Errorf("remove model %s: %w", name, err)
	}
	if err := os.Remove(packedPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove model %s: %w", name, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove model %s: %w", name, err)
	}
	return syncDir(s.Dir)
}

// replace lets write fill a new file and puts it in place under the path that
// write returns. Until the last step, nothing but a hidden file changes. The
// caller holds the lock.
func (s Store) replace(write func(*os.File) (path string, err error)) (err error) {
	f, err := os.CreateTemp(s.Dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	path, err := write(f)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write model %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write model %s: %w", path, err)
	}
	return syncDir(s.Dir)
}

// lock waits until no other process changes the folder, and removes what killed
// ones have left. The lock goes with the process.
func (s Store) lock(ctx context.Context, progress func(Progress)) (unlock func(), err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("models folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(s.Dir, lockFile), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("models folder: %w", err)
	}
	if err := flock(ctx, f, progress); err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	s.clean()
	return func() { f.Close() }, nil
}

// flock locks a file; if it cannot, it closes it.
func flock(ctx context.Context, f *os.File, progress func(Progress)) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return nil
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return err
	}
	ImportOptions{Progress: progress}.report(Progress{Step: StepWait, File: f.Name()})
	locked := make(chan error, 1)
	go func() {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		for errors.Is(err, syscall.EINTR) {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		locked <- err
	}()
	select {
	case err = <-locked:
		if err != nil {
			f.Close()
		}
		return err
	case <-ctx.Done():
		go func() { // the call cannot be stopped, so its lock is given back
			<-locked
			f.Close()
		}()
		return fmt.Errorf("another process holds it: %w", ctx.Err())
	}
}

// clean removes what only a killed process can have left, and old downloads. What
// cannot be removed now is tried again by the next writer.
func (s Store) clean() {
	files, _ := os.ReadDir(s.Dir)
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			continue
		}
		age := time.Since(info.ModTime())
		switch path := filepath.Join(s.Dir, f.Name()); {
		case strings.HasPrefix(f.Name(), tempPrefix), strings.HasPrefix(f.Name(), packPrefix) && age > maxPackAge:
			os.Remove(path)
		case strings.HasPrefix(f.Name(), pullPrefix) && age > maxPullAge:
			os.RemoveAll(path)
		}
	}
}

func (s Store) pullDir(name string) string { return filepath.Join(s.Dir, pullPrefix+name) }

// syncDir makes renames and removals in a folder last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
