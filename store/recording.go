package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// State is what has become of a recording.
type State string

const (
	Running     State = "recording"   // it goes on
	Done        State = "done"        // it was finished
	Interrupted State = "interrupted" // the process or the power ended first
	deleting    State = "deleting"    // it is on its way out, and shown no more
)

// Recording is one stretch of listening, with a sample clock of its own.
type Recording struct {
	ID      int64
	Title   string
	Source  string    // where the sound came from: the name of a device, of a file
	Started time.Time // by the wall clock; zero where that was not set (see clockFloor)
	State   State
	Task    string // "transcribe" or "translate"
	// Language and Model are what was asked for; a segment may have others.
	Language string
	Model    string
	// Duration is how much was heard, on the sample clock; while the recording goes on,
	// up to the last thing that was stored.
	Duration time.Duration

	// Counted when it is read.
	Segments int64
	Pending  int64 // clips that wait to be transcribed
}

// clockFloor is the earliest time that a wall clock is believed: a board without a
// battery starts in 1970, or when its system was built.
var clockFloor = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// millis is how a wall clock time is stored: NULL where the clock was not set.
func millis(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: t.After(clockFloor)}
}

func wallTime(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64)
}

// StartRecording stores the beginning of a recording and returns its id. Ids rise, and
// none is given twice. ID, State, Duration and the counts are the store's to fill in.
func (s *Store) StartRecording(ctx context.Context, r Recording) (id int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		id, err = insert(ctx, tx, `INSERT INTO recordings
			(title, source, started_ms, state, task, language, model, duration_us) VALUES (?, ?, ?, ?, ?, ?, ?, 0)`,
			r.Title, r.Source, millis(r.Started), Running, r.Task, r.Language, r.Model)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("start recording of %q: %w", r.Source, err)
	}
	return id, nil
}

// FinishRecording says that a recording of the given length is over.
func (s *Store) FinishRecording(ctx context.Context, id int64, duration time.Duration) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		return one(tx.ExecContext(ctx, `UPDATE recordings SET state = ?, duration_us = max(duration_us, ?)
			WHERE id = ? AND state <> 'deleting'`, Done, duration.Microseconds(), id))
	})
	if err == nil && s.opts.NoHistory {
		err = s.deleteRows(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("finish recording %d: %w", id, err)
	}
	return nil
}

// interrupt marks what was being recorded when nobody has the store open.
func (s *Store) interrupt(ctx context.Context) error {
	var running int
	if err := s.w.QueryRowContext(ctx, "SELECT count(*) FROM recordings WHERE state = ?", Running).Scan(&running); err != nil || running == 0 {
		return classify(err)
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE recordings SET state = ? WHERE state = ?", Interrupted, Running)
		return err
	})
}

const selectRecording = `SELECT id, title, source, started_ms, state, task, language, model, duration_us,
	(SELECT count(*) FROM segments WHERE recording = r.id),
	(SELECT count(*) FROM clips WHERE recording = r.id AND pending)
	FROM recordings r WHERE state <> 'deleting' AND `

// Recordings lists up to limit recordings, newest first, by id: that is the order in
// which they began, whatever the wall clock said. before is the id to go on from, or 0.
func (s *Store) Recordings(ctx context.Context, before int64, limit int) ([]Recording, error) {
	list := []Recording{}
	err := s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectRecording+"(id < ?1 OR ?1 <= 0) ORDER BY id DESC LIMIT ?2", before, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			r, err := scanRecording(rows)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list recordings: %w", err)
	}
	return list, nil
}

// Recording returns one recording, or ErrNotFound.
func (s *Store) Recording(ctx context.Context, id int64) (r Recording, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		r, err = scanRecording(tx.QueryRowContext(ctx, selectRecording+"id = ?", id))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return Recording{}, fmt.Errorf("recording %d: %w", id, err)
	}
	return r, nil
}

// scanner is a row of one query.
type scanner interface{ Scan(...any) error }

func scanRecording(row scanner) (Recording, error) {
	var r Recording
	var started sql.NullInt64
	var us int64
	err := row.Scan(&r.ID, &r.Title, &r.Source, &started, &r.State, &r.Task, &r.Language, &r.Model, &us, &r.Segments, &r.Pending)
	r.Started, r.Duration = wallTime(started), microseconds(us)
	return r, err
}

func microseconds(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// one turns an update that met no row into ErrNotFound.
func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ErrNotFound
}

// insert returns the id of the new row.
func insert(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}
