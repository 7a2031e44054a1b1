package store

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Intervals of Run.
const (
	logEvery  = time.Second // how soon a log that grew behind a reader is cut
	roomEvery = 10 * time.Second
	oldEvery  = time.Minute
)

// Run looks after the store until the context ends: it keeps the log short, makes room,
// lets go of what is too old, makes backups, and once checks the whole database. One
// process runs it, the one that records. What fails is tried again, and stands in Status
// until it succeeds.
//
// It ends before where the store must be closed and opened again: with ErrDamaged, which
// is set aside then, or with ErrReadOnly when the folder can be written by now.
func (s *Store) Run(ctx context.Context) error {
	if s.w == nil {
		return s.untilWritable(ctx)
	}
	if err := s.Salvaged(ctx); err != nil {
		return err
	}
	jobs := []struct {
		kind  Kind
		every time.Duration
		do    func(context.Context) error
		next  time.Time
	}{
		{kind: ProblemLog, every: logEvery, do: s.cutLog},
		{kind: ProblemRoom, every: roomEvery, do: s.makeRoom},
		{kind: ProblemRetention, every: oldEvery, do: s.pruneCarefully},
		{kind: ProblemBackup, every: s.opts.BackupEvery, do: s.backUp, next: time.Now().Add(s.untilBackup())},
	}
	if s.opts.NoHistory {
		jobs = jobs[:0]
	}
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	work, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.broken, stop)() // there is no use in the rest
	for {
		for i := range jobs {
			if j := &jobs[i]; j.every > 0 && !time.Now().Before(j.next) && work.Err() == nil {
				s.problems.note(j.kind, j.do(work))
				j.next = time.Now().Add(j.every)
			}
		}
		if !s.checked && work.Err() == nil {
			s.checked = s.Check(work) == nil
		}
		if err := s.brokenUp(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// untilWritable waits for a folder that could not be written.
func (s *Store) untilWritable(ctx context.Context) error {
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if s.makeFolders() == nil {
				return fmt.Errorf("%w, until now", ErrReadOnly)
			}
		}
	}
}

// cutLog empties a log that a reader did not let SQLite start over.
func (s *Store) cutLog(ctx context.Context) error {
	if size(s.path(dbName)+"-wal") <= walKeep+walKeep/8 {
		return nil
	}
	_, err := s.checkpoint(ctx, checkpointWait)
	return err
}

// untilBackup is how long the last backup is good for.
func (s *Store) untilBackup() time.Duration {
	list, err := s.backups()
	if err != nil || len(list) == 0 {
		return 0
	}
	info, err := os.Stat(list[len(list)-1])
	if err != nil {
		return 0
	}
	age := time.Since(info.ModTime())
	if age < 0 {
		age = 0 // the clock was set back
	}
	return s.opts.BackupEvery - age
}
