package store

import (
	"context"
	"errors"
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

// releaseBytes is how much room clips make at once: far more than a transaction takes.
const releaseBytes = 4 << 20

// releaseRoom is for a disk that is full, and for whoever holds the turn to write: the
// oldest clips go, as far as their files, else the reserve. It says whether anything went.
func (s *Store) releaseRoom(ctx context.Context) bool {
	clips, _ := s.clips(ctx, "pending = 0 AND bytes > 0 ORDER BY id")
	freed := int64(0)
	for _, c := range clips {
		if n := size(c.Path); n > 0 && freed < releaseBytes && os.Remove(c.Path) == nil {
			freed += n
			s.mu.Lock()
			s.gone = append(s.gone, c) // its row would need room: makeRoom sees to it
			s.mu.Unlock()
		}
	}
	if freed > 0 {
		s.problems.set(ProblemSpace, "the disk is full: the oldest clips go")
		return true
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
	if err := s.dropGone(ctx); err != nil {
		return err
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
		gone, err := s.deleteOldest(ctx, s.opts.MinFree-free)
		if err != nil {
			return err
		}
		if !gone {
			s.problems.set(ProblemSpace, fmt.Sprintf("%d MiB are free, %d MiB should be: clips are not kept", free>>20, s.opts.MinFree>>20))
			return nil
		}
	}
}

// dropGone removes the rows of clips whose files releaseRoom has removed.
func (s *Store) dropGone(ctx context.Context) error {
	s.mu.Lock()
	gone := s.gone
	s.gone = nil
	s.mu.Unlock()
	err := s.dropClips(ctx, gone)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gone = append(gone, s.gone...)
	}
	return err
}

// deleteOldest deletes the oldest clips that have so many bytes; where there are none,
// some text, if that is allowed.
func (s *Store) deleteOldest(ctx context.Context, bytes int64) (gone bool, err error) {
	clips, err := s.clips(ctx, `id IN (SELECT id FROM
		(SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS older FROM clips WHERE NOT pending) WHERE older < ?)`, bytes)
	if err != nil || len(clips) > 0 {
		return len(clips) > 0, errors.Join(err, s.dropClips(ctx, clips))
	}
	if !s.opts.TextForSpace {
		return false, nil
	}
	cuts, err := s.oldestText(ctx)
	if err != nil || len(cuts) == 0 {
		return false, err
	}
	return true, s.remove(ctx, cuts)
}
