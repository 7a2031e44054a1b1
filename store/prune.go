package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Retention says how long things are kept. The zero value keeps text for ever, and a
// clip until it is transcribed.
type Retention struct {
	KeepAudio  bool          // keep clips when they are transcribed
	AudioAge   time.Duration // longest age of a clip; 0 has no end
	AudioBytes int64         // of all clips together; 0 has no limit
	TextAge    time.Duration // longest age of a segment; 0 has no end
	TextBytes  int64         // of the database; 0 has no limit
}

// SetRetention takes effect with the next Prune, or the next round of Run.
func (s *Store) SetRetention(r Retention) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retention = r
}

func (s *Store) settings() Retention {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.retention
}

// Prune deletes what Retention has no room for, as Delete does, and finishes deletions
// that were cut off.
//
// Ages are told with care, since a wrong clock must not cost anybody their text. A time
// before clockFloor or in the future is not known. Within a recording the sample clock
// says how far apart things are, so a clock that was set right, or wrong, in the middle
// counts as its latest reading says. A recording is no older than those before it, and
// one whose time nobody knows is as old as the next. While the clock itself is not set,
// nothing is old. Run is more careful still: see clockWatch.
func (s *Store) Prune(ctx context.Context) error {
	return s.pruneTo(ctx, s.settings(), s.opts.Now())
}

// pruneCarefully is Prune for times when nobody is looking.
func (s *Store) pruneCarefully(ctx context.Context) error {
	now := s.opts.Now()
	return s.pruneTo(ctx, s.believed(s.settings(), now), now)
}

// pruneTo tells ages at a moment, now: the clock may be set meanwhile.
func (s *Store) pruneTo(ctx context.Context, keep Retention, now time.Time) error {
	err := s.writable()
	if err == nil {
		err = s.resume(ctx)
	}
	if err == nil {
		err = s.prune(ctx, keep, now)
	}
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	return nil
}

func (s *Store) prune(ctx context.Context, keep Retention, now time.Time) error {
	var starts []start
	if keep.TextAge > 0 || keep.KeepAudio && keep.AudioAge > 0 { // it reads all segments
		var err error
		if starts, err = s.starts(ctx, now); err != nil {
			return err
		}
	}
	if err := s.pruneAudio(ctx, keep, starts, now); err != nil {
		return err
	}
	if keep.TextAge > 0 {
		cuts, err := s.meeting(ctx, cutsByAge(starts, keep.TextAge, now))
		if err != nil {
			return err
		}
		if err := s.remove(ctx, cuts); err != nil {
			return err
		}
	}
	for keep.TextBytes > 0 {
		used, err := s.used(ctx)
		if err != nil {
			return err
		}
		if used <= keep.TextBytes {
			break
		}
		cuts, err := s.oldestText(ctx)
		if err != nil {
			return err
		}
		if len(cuts) == 0 {
			break
		}
		if err := s.remove(ctx, cuts); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) pruneAudio(ctx context.Context, keep Retention, starts []start, now time.Time) error {
	if !keep.KeepAudio {
		return s.deleteClips(ctx, "pending = 0")
	}
	if keep.AudioAge > 0 {
		for _, c := range cutsByAge(starts, keep.AudioAge, now) {
			if err := s.deleteClips(ctx, "pending = 0 AND recording = ? AND start_us <= ?", c.recording, c.untilUS); err != nil {
				return err
			}
		}
	}
	if keep.AudioBytes <= 0 {
		return nil
	}
	return s.deleteClips(ctx, `pending = 0 AND id IN
		(SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS total FROM clips) WHERE total > ?)`, keep.AudioBytes)
}

// start is what the wall clock showed at 0 of a recording's sample clock; ms is 0 where
// nobody knows.
type start struct{ recording, ms int64 }

// starts are those of all recordings, in their order, told with care: see Prune.
func (s *Store) starts(ctx context.Context, now time.Time) ([]start, error) {
	var list []start
	err := s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT r.id, max(
				coalesce((SELECT max(wall_ms - start_us / 1000) FROM segments WHERE recording = r.id AND wall_ms <= ?1), 0),
				coalesce((SELECT max(wall_ms - start_us / 1000) FROM clips WHERE recording = r.id AND wall_ms <= ?1), 0),
				CASE WHEN started_ms <= ?1 THEN started_ms ELSE 0 END)
			FROM recordings r WHERE state <> 'deleting' ORDER BY r.id`, now.UnixMilli())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var st start
			if err := rows.Scan(&st.recording, &st.ms); err != nil {
				return err
			}
			list = append(list, st)
		}
		return rows.Err()
	})
	for i := 1; i < len(list); i++ {
		list[i].ms = max(list[i].ms, list[i-1].ms)
	}
	for i := len(list) - 2; i >= 0; i-- {
		list[i].ms = cmp.Or(list[i].ms, list[i+1].ms)
	}
	return list, err
}

// cutsByAge are what is older than age, now.
func cutsByAge(starts []start, age time.Duration, now time.Time) []cut {
	if !now.After(clockFloor) {
		return nil
	}
	var cuts []cut
	for _, st := range starts {
		until := (now.UnixMilli() - age.Milliseconds() - st.ms) * 1000
		if st.ms > 0 && until > 0 {
			cuts = append(cuts, cut{recording: st.recording, untilUS: until})
		}
	}
	return cuts
}

// meeting are those of the cuts that meet anything.
func (s *Store) meeting(ctx context.Context, cuts []cut) (some []cut, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		for _, c := range cuts {
			var any bool
			if err := tx.QueryRowContext(ctx, `SELECT
				EXISTS (SELECT 1 FROM segments WHERE recording = ?1 AND start_us <= ?2) OR
				EXISTS (SELECT 1 FROM events WHERE recording = ?1 AND at_us <= ?2) OR
				EXISTS (SELECT 1 FROM clips WHERE recording = ?1 AND start_us <= ?2) OR
				EXISTS (SELECT 1 FROM recordings WHERE id = ?1 AND state IN ('done', 'interrupted') AND duration_us <= ?2)`,
				c.recording, c.untilUS).Scan(&any); err != nil {
				return err
			}
			if any {
				some = append(some, c)
			}
		}
		return nil
	})
	return some, err
}

// oldestText is about a hundredth of the segments: the oldest of them.
func (s *Store) oldestText(ctx context.Context) ([]cut, error) {
	var cuts []cut
	err := s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT recording, max(start_us) FROM (SELECT recording, start_us FROM segments
			ORDER BY recording, start_us LIMIT (SELECT count(*) / 100 + 1 FROM segments)) GROUP BY recording`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var c cut
			if err := rows.Scan(&c.recording, &c.untilUS); err != nil {
				return err
			}
			cuts = append(cuts, c)
		}
		return rows.Err()
	})
	return cuts, err
}

// used is how many bytes of the database hold something.
func (s *Store) used(ctx context.Context) (int64, error) {
	var pages, free, pageSize int64
	err := s.r.QueryRowContext(ctx, "SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").
		Scan(&pages, &free, &pageSize)
	return (pages - free) * pageSize, classify(err)
}
