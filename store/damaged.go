package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// damagedMark is a file that says what was found wrong with the database in use, by
// whatever process found it. Who has the database for itself next sets it aside, even if
// a check of a second does not come to that place.
const damagedMark = "earshot.damaged"

// found passes err on. Where it shows damage, that stands in Status, and Run and other
// processes are told.
func (s *Store) found(err error) error {
	if !isDamaged(err) {
		return err
	}
	s.problems.set(ProblemDamaged, err.Error())
	if s.w != nil && !s.opts.NoHistory && s.told() == "" {
		_ = os.WriteFile(s.path(damagedMark), []byte(plainReason(err)), 0o600) // without it, the next check finds out
	}
	s.breaks()
	return err
}

// told is what somebody found wrong, or "".
func (s *Store) told() string {
	if s.opts.NoHistory {
		return ""
	}
	text, err := os.ReadFile(s.path(damagedMark))
	if err != nil {
		return ""
	}
	return cmp.Or(strings.TrimSpace(string(text)), "damage was found")
}

// forget is for when what was found is set aside.
func (s *Store) forget() error {
	if err := os.Remove(s.path(damagedMark)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// plainReason leaves out what kind of error it is.
func plainReason(err error) string { return strings.TrimPrefix(err.Error(), ErrDamaged.Error()+": ") }

// brokenUp says that the store must be opened again. It does not, as long as other
// processes have it open: they may have damaged pages in hand, and write.
func (s *Store) brokenUp() error {
	reason := s.told()
	if reason == "" {
		return nil
	}
	alone, err := s.lock.acquire(context.Background()) // it never waits: we have it shared
	if err == nil {
		err = s.lock.share()
	}
	if err != nil || !alone {
		s.problems.set(ProblemDamaged, reason+"; it is set aside when no other process has it open")
		return err
	}
	return fmt.Errorf("%w: %s", ErrDamaged, reason)
}

// known looks at a database that is open elsewhere too, so that nobody could look for
// damage: it must be of our schema, and somebody may have found something.
func (s *Store) known(ctx context.Context) error {
	if reason := s.told(); reason != "" {
		s.problems.set(ProblemDamaged, reason)
		s.breaks()
	}
	version, err := schemaVersion(ctx, s.r)
	if err == nil && version < len(migrations) {
		err = fmt.Errorf("its schema is version %d, not %d, and an older earshot has it open: end that first", version, len(migrations))
	}
	if isDamaged(err) { // what can be read is better than nothing
		s.found(err)
		return nil
	}
	return err
}
