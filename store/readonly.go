package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// openReadOnly opens what is there in a folder that cannot be written.
func (s *Store) openReadOnly(ctx context.Context, reason error) error {
	if _, err := os.Stat(s.path(dbName)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrReadOnly, reason)
	}
	close(s.salvaged)
	s.checked = true
	s.problems.set(ProblemReadOnly, reason.Error())
	path, how := s.path(dbName), "immutable=1"
	switch log := path + "-wal"; {
	case size(log) > 0 && size(path+"-shm") > 0:
		how = "mode=ro" // another process may be writing
	case size(log) > 0:
		// SQLite cannot read a log without a file beside it as its index.
		merged, err := merge(path)
		if err != nil {
			return fmt.Errorf("read %s: %w", log, err)
		}
		s.merged, path = merged, merged
	}
	var err error
	if s.r, err = connect(path, pragmasRead, 1, "mode=ro", how); err != nil {
		return err
	}
	version, err := schemaVersion(ctx, s.r)
	if err == nil && version != len(migrations) {
		err = fmt.Errorf("its schema is version %d, not %d, and it cannot be changed: %w", version, len(migrations), reason)
	}
	return err
}

// merge copies a database with what its log has into a temporary file.
func merge(path string) (merged string, err error) {
	f, done, err := openPages(path)
	if err != nil {
		return "", err
	}
	defer done()
	out, err := os.CreateTemp("", "earshot-*.db")
	if err != nil {
		return "", err
	}
	for n, page := range f.pages() {
		if n > 0 && err == nil {
			_, err = out.WriteAt(page, int64(n-1)*int64(f.pageSize))
		}
	}
	if err = errors.Join(err, out.Close()); err != nil {
		os.Remove(out.Name())
		return "", err
	}
	return out.Name(), nil
}

// writable says why nothing can be written, if so.
func (s *Store) writable() error {
	if s.w != nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrReadOnly, s.problems.reason(ProblemReadOnly))
}
