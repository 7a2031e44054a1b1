package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Kind names what may be wrong with a store.
type Kind string

const (
	ProblemReadOnly Kind = "read-only" // nothing can be stored
	ProblemDamaged  Kind = "damaged"   // found while in use: see Run
	ProblemSalvage  Kind = "salvage"   // a damaged database was set aside, and is still there
	ProblemSpace    Kind = "low-space" // clips are not kept, text is
	ProblemFull     Kind = "full"      // text could not be stored
	ProblemBackup   Kind = "backup"    // the last copy could not be made
	ProblemClock    Kind = "clock"     // it is not set, or not believed
	// Upkeep failed, and is tried again.
	ProblemLog       Kind = "log"
	ProblemRoom      Kind = "room"
	ProblemRetention Kind = "retention"
)

// Problem is a state that lasts, with its reason and when it began.
type Problem struct {
	Kind   Kind      `json:"kind"`
	Reason string    `json:"reason"`
	Since  time.Time `json:"since,omitzero"` // zero where the clock was not set
}

// problems are those there are now.
type problems struct {
	now func() time.Time
	mu  sync.Mutex
	all map[Kind]Problem
}

// set begins a problem, or gives it another reason.
func (p *problems) set(k Kind, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[Kind]Problem{}
	}
	since := p.now()
	if old, ok := p.all[k]; ok {
		since = old.Since
	}
	p.all[k] = Problem{k, reason, since}
}

func (p *problems) clear(k Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, k)
}

// note sets or clears a problem by what its work came to. The end of a context is none.
func (p *problems) note(k Kind, err error) {
	switch {
	case err == nil:
		p.clear(k)
	case !errors.Is(err, context.Canceled):
		p.set(k, err.Error())
	}
}

func (p *problems) reason(k Kind) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[k].Reason
}

func (p *problems) list() []Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []Problem{}
	for _, one := range p.all {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Problem) int { return cmp.Compare(a.Kind, b.Kind) })
	return list
}

// Status is how the store is at the moment.
type Status struct {
	Path      string // of the database; empty in memory
	NoHistory bool
	Problems  []Problem // empty when all is well
	Bytes     int64     // of the database
	LogBytes  int64     // of its write-ahead log
	ClipBytes int64
	FreeBytes int64 // of the disk
	Pending   int64 // clips that wait to be transcribed
}

// Degraded says whether anything is wrong.
func (s Status) Degraded() bool { return len(s.Problems) > 0 }

// Status takes a few milliseconds; it does not wait for writers.
func (s *Store) Status(ctx context.Context) (Status, error) {
	st := Status{NoHistory: s.opts.NoHistory}
	if !st.NoHistory {
		st.Path = s.path(dbName)
		st.Bytes, st.LogBytes = size(st.Path), size(st.Path+"-wal")
		st.FreeBytes, _ = s.free()
	}
	err := s.r.QueryRowContext(ctx, "SELECT coalesce(sum(bytes), 0), coalesce(sum(pending), 0) FROM clips").Scan(&st.ClipBytes, &st.Pending)
	err = s.found(classify(err))
	salvages, also := s.salvageProblems(ctx)
	st.Problems = slices.Concat(s.problems.list(), salvages, s.clockProblem())
	if err = cmp.Or(err, also); err != nil {
		return st, fmt.Errorf("status of %s: %w", st.Path, err)
	}
	return st, nil
}

// size of a file, 0 where there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
