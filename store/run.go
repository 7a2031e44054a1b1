package store

import (
	"context"
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
func (s *Store) Run(ctx context.Context) error {
	if err := s.writable(); err != nil {
		<-ctx.Done()
		return ctx.Err()
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
		{kind: ProblemRetention, every: oldEvery, do: s.Prune},
		{kind: ProblemBackup, every: s.opts.BackupEvery, do: s.backUp, next: time.Now().Add(s.untilBackup())},
	}
	if s.opts.NoHistory {
		jobs = jobs[:0]
	}
	tick := time.NewTicker(logEvery)
	defer tick.Stop()
	for {
		for i := range jobs {
			if j := &jobs[i]; j.every > 0 && !time.Now().Before(j.next) {
				s.problems.note(j.kind, j.do(ctx))
				j.next = time.Now().Add(j.every)
			}
		}
		if !s.checked {
			err := s.Check(ctx)
			s.checked = err == nil || isDamaged(err) // damage stands in Status
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
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
