package store

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// free is how many bytes of the disk are free for us.
func (s *Store) free() (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(s.opts.Dir, &fs); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", s.opts.Dir, err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}

// makeReserve puts a file aside whose room is for text when the disk is full. Errors
// don't matter: then there is no reserve.
func (s *Store) makeReserve() {
	free, err := s.free()
	if err != nil || size(s.path(reserveName)) >= s.opts.Reserve || free < s.opts.MinFree+s.opts.Reserve {
		return
	}
	f, err := os.OpenFile(s.path(reserveName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	unix.Fallocate(int(f.Fd()), 0, 0, s.opts.Reserve)
}

// restartReserve is what the reserve keeps back from text: to open the database again
// takes some room too.
const restartReserve = 256 << 10

// releaseRoom is for a disk that is full, and for whoever holds the turn to write: the
// oldest clip goes, as far as the file, else the reserve. It says whether anything went.
func (s *Store) releaseRoom(ctx context.Context) bool {
	clips, err := s.clips(ctx, "pending = 0 AND bytes > 0 ORDER BY id")
	if err == nil {
		for _, c := range clips {
			// Its row would need room. makeRoom sees to it.
			if size(c.Path) > 0 && os.Remove(c.Path) == nil {
				s.mu.Lock()
				s.gone = append(s.gone, c.ID)
				s.mu.Unlock()
				s.problems.set(ProblemSpace, "the disk is full: the oldest clips go")
				return true
			}
		}
	}
	if size(s.path(reserveName)) > restartReserve && os.Truncate(s.path(reserveName), restartReserve) == nil {
		s.problems.set(ProblemSpace, "the disk is full: text goes to the reserve")
		return true
	}
	return false
}

// makeRoom deletes the oldest clips while too little is free, then, where that is
// allowed, the oldest text.
func (s *Store) makeRoom(ctx context.Context) error {
	s.mu.Lock()
	gone := s.gone
	s.gone = nil
	s.mu.Unlock()
	for _, id := range gone {
		if err := s.deleteClips(ctx, "id = ?", id); err != nil {
			return err
		}
	}
	for {
		free, err := s.free()
		if err != nil {
			return err
		}
		if free >= s.opts.MinFree {
			s.problems.clear(ProblemSpace)
			s.makeReserve()
			return nil
		}
		gone, err := s.deleteOldest(ctx)
		if err != nil {
			return err
		}
		if !gone {
			s.problems.set(ProblemSpace, fmt.Sprintf("%d MiB are free, %d MiB should be: clips are not kept", free>>20, s.opts.MinFree>>20))
			return nil
		}
	}
}

// deleteOldest deletes some clips, or some text where that is allowed.
func (s *Store) deleteOldest(ctx context.Context) (gone bool, err error) {
	clips, err := s.clips(ctx, "pending = 0 ORDER BY id LIMIT 16")
	if err != nil {
		return false, err
	}
	for _, c := range clips {
		if err := s.deleteClips(ctx, "id = ?", c.ID); err != nil {
			return false, err
		}
	}
	if len(clips) > 0 || !s.opts.TextForSpace {
		return len(clips) > 0, nil
	}
	cuts, err := s.oldestText(ctx)
	if err != nil || len(cuts) == 0 {
		return false, err
	}
	return true, s.remove(ctx, cuts)
}
