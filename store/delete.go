package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"
)

// cut is what is to go: of one recording, all that starts at or before until, on the
// sample clock; or the whole of it.
type cut struct {
	recording int64
	untilUS   int64
	whole     bool
}

func wholeOf(recording int64) cut { return cut{recording, math.MaxInt64, true} }

// Delete removes recordings: their rows, their clips, what the search index and the log
// hold of them, and the same in all copies that the store knows of. Copies go first, so
// that one that is interrupted can be done again; a recording vanishes from lists and
// search at once. ErrNotFound names those that are not there; the others are deleted.
func (s *Store) Delete(ctx context.Context, ids ...int64) error {
	if err := s.writable(); err != nil {
		return fmt.Errorf("delete recordings: %w", err)
	}
	var missing []error
	var cuts []cut
	for _, id := range ids {
		err := s.write(ctx, func(tx *sql.Tx) error {
			return one(tx.ExecContext(ctx, "UPDATE recordings SET state = ? WHERE id = ? AND state <> 'deleting'", deleting, id))
		})
		if err != nil {
			missing = append(missing, fmt.Errorf("delete recording %d: %w", id, err))
			continue
		}
		cuts = append(cuts, wholeOf(id))
	}
	return errors.Join(append(missing, s.remove(ctx, cuts))...)
}

// resume finishes what was being deleted when the power went.
func (s *Store) resume(ctx context.Context) error {
	rows, err := s.r.QueryContext(ctx, "SELECT id FROM recordings WHERE state = 'deleting'")
	if err != nil {
		return classify(err)
	}
	defer rows.Close()
	var cuts []cut
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return classify(err)
		}
		cuts = append(cuts, wholeOf(id))
	}
	if err := rows.Err(); err != nil {
		return classify(err)
	}
	return s.remove(ctx, cuts)
}

// remove carries out cuts everywhere.
func (s *Store) remove(ctx context.Context, cuts []cut) error {
	if len(cuts) == 0 {
		return nil
	}
	release, err := s.holdCopies(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.cutCopies(ctx, cuts); err != nil {
		return err
	}
	for _, c := range cuts {
		if err := s.deleteClips(ctx, "recording = ? AND start_us <= ?", c.recording, c.untilUS); err != nil {
			return err
		}
		if err := cutRows(ctx, s.writeGently, c); err != nil {
			return fmt.Errorf("delete recording %d: %w", c.recording, err)
		}
	}
	return s.scrub(ctx)
}

// writeGently is write with a pause of the same length: a writer in another process only
// looks from time to time whether it may go on, and must find a gap.
func (s *Store) writeGently(ctx context.Context, do func(*sql.Tx) error) error {
	began := time.Now()
	if err := s.write(ctx, do); err != nil {
		return err
	}
	select {
	case <-time.After(time.Since(began)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// deleteRows removes a recording from the database alone.
func (s *Store) deleteRows(ctx context.Context, id int64) error {
	return cutRows(ctx, s.write, wholeOf(id))
}

// cutRows deletes rows in transactions of a size that does not hold up a live writer.
// Words go with their segment.
func cutRows(ctx context.Context, transact transactor, c cut) error {
	for _, table := range []struct{ name, time string }{{"segments", "start_us"}, {"events", "at_us"}, {"clips", "start_us"}} {
		query := "DELETE FROM " + table.name + " WHERE id IN (SELECT id FROM " + table.name +
			" WHERE recording = ? AND " + table.time + " <= ? ORDER BY " + table.time + " LIMIT 50)"
		for more := true; more; {
			err := transact(ctx, func(tx *sql.Tx) error {
				res, err := tx.ExecContext(ctx, query, c.recording, c.untilUS)
				if err != nil {
					return err
				}
				n, err := res.RowsAffected()
				more = n > 0
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return transact(ctx, func(tx *sql.Tx) error {
		// A recording that is over, and that nothing is left of, goes too.
		_, err := tx.ExecContext(ctx, `DELETE FROM recordings WHERE id = ?1 AND (?2 OR state IN ('done', 'interrupted')
			AND NOT EXISTS (SELECT 1 FROM segments WHERE recording = ?1)
			AND NOT EXISTS (SELECT 1 FROM events WHERE recording = ?1)
			AND NOT EXISTS (SELECT 1 FROM clips WHERE recording = ?1))`, c.recording, c.whole)
		return err
	})
}

// transactor runs something in a transaction and commits it.
type transactor func(context.Context, func(*sql.Tx) error) error

// scrubTime is how long the log is waited for; our own readers are done in much less.
const scrubTime = 10 * time.Second

// scrub gives free pages back to the disk and empties the log, in which earlier states
// of pages still stand.
func (s *Store) scrub(ctx context.Context) error {
	if s.opts.NoHistory {
		return nil
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "PRAGMA incremental_vacuum")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() { // every step frees a page
		}
		return rows.Err()
	})
	if err != nil {
		return fmt.Errorf("free pages: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, scrubTime)
	defer cancel()
	for {
		done, err := s.checkpoint(ctx, checkpointWait)
		if err != nil || done {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("empty %s-wal, which holds deleted text until another process lets go of it: %w", s.path(dbName), ctx.Err())
		}
	}
}
