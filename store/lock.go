package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fileLock says among processes who has the store open: everyone holds it shared. Who
// gets it for itself alone knows that no other process has the database open, and may
// check it, bring it up to date or set it aside; others wait for that.
//
// It is a lock of the open file description: unlike flock it goes from exclusive to
// shared with no moment in between, and unlike POSIX locks it also works between two
// stores in one process.
type fileLock struct{ f *os.File }

func openLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &fileLock{f}, nil
}

func (l *fileLock) set(kind int16) error {
	return unix.FcntlFlock(l.f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind})
}

// acquire takes the lock: for itself alone where nobody has it, else shared.
func (l *fileLock) acquire(ctx context.Context) (alone bool, err error) {
	for {
		if err := l.set(unix.F_WRLCK); !isLocked(err) {
			return err == nil, l.wrap(err)
		}
		if err := l.set(unix.F_RDLCK); !isLocked(err) {
			return false, l.wrap(err)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// holdCopies keeps copies of the database from being made, changed or taken back by
// others, here or in another process, until release is called: a copy that is being made
// while something is deleted would still hold it.
func (s *Store) holdCopies(ctx context.Context) (release func(), err error) {
	if s.lock == nil {
		return func() {}, nil // in memory, or where nothing can be deleted
	}
	l, err := openLock(s.path("earshot.copies"))
	if err != nil {
		return nil, err
	}
	for {
		if err := l.set(unix.F_WRLCK); err == nil {
			return func() { l.Close() }, nil
		} else if !isLocked(err) {
			l.Close()
			return nil, l.wrap(err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			l.Close()
			return nil, fmt.Errorf("wait for who holds %s: %w", l.f.Name(), ctx.Err())
		}
	}
}

// share lets others have the lock too.
func (l *fileLock) share() error { return l.wrap(l.set(unix.F_RDLCK)) }

func (l *fileLock) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("lock %s: %w", l.f.Name(), err)
	}
	return nil
}

func (l *fileLock) Close() error { return l.f.Close() }

func isLocked(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) }
