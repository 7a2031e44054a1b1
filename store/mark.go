package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
)

const markName = "earshot.mark"

// marks are the highest ids ever given, by table. They never fall.
type marks struct{ recordings, segments, events, clips int64 }

// readMarks reads them from the database.
func readMarks(ctx context.Context, tx *sql.Tx) (marks, error) {
	var m marks
	rows, err := tx.QueryContext(ctx, "SELECT name, seq FROM sqlite_sequence")
	if err != nil {
		return m, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var seq int64
		if err := rows.Scan(&name, &seq); err != nil {
			return m, err
		}
		if at := m.of(name); at != nil {
			*at = seq
		}
	}
	return m, rows.Err()
}

func (m *marks) of(table string) *int64 {
	switch table {
	case "recordings":
		return &m.recordings
	case "segments":
		return &m.segments
	case "events":
		return &m.events
	case "clips":
		return &m.clips
	}
	return nil
}

// tables are those that have marks.
var tables = []string{"recordings", "segments", "events", "clips"}

// with are the higher ones of each.
func (m marks) with(other marks) marks {
	for _, table := range tables {
		*m.of(table) = max(*m.of(table), *other.of(table))
	}
	return m
}

// keep sees to it that the database gives no id up to m.
func (m marks) keep(ctx context.Context, tx *sql.Tx) error {
	for _, table := range tables {
		err := one(tx.ExecContext(ctx, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", *m.of(table), table))
		if errors.Is(err, ErrNotFound) {
			_, err = tx.ExecContext(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", table, *m.of(table))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beyond says in words what m has and the database with got lacks, or "".
func (m marks) beyond(got marks) string {
	var lost []string
	for _, table := range tables {
		if n := *m.of(table) - *got.of(table); n > 0 {
			lost = append(lost, fmt.Sprintf("%d %s", n, table))
		}
	}
	return strings.Join(lost, ", ")
}

// markFile holds the marks of the last commit outside the database. It is written
// behind each commit and never synced: it may lag, but is never ahead. So where it is
// ahead of the database, commits were lost, as when the log has been cut or an old file
// was put in place, which SQLite cannot see (cases.md, C107 e).
type markFile struct{ f *os.File }

const markFormat = "%020d %020d %020d %020d\n"

func openMark(path string) (*markFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &markFile{f}, nil
}

// write does not report errors: without the mark a check at the start is weaker, and
// that is all.
func (f *markFile) write(m marks) {
	f.f.WriteAt(fmt.Appendf(nil, markFormat, m.recordings, m.segments, m.events, m.clips), 0)
}

// readMark reads the marks of a file; they are 0 where it does not hold any.
func readMark(path string) marks {
	data, err := os.ReadFile(path)
	if err != nil {
		return marks{}
	}
	var m marks
	if _, err := fmt.Sscanf(string(data), markFormat, &m.recordings, &m.segments, &m.events, &m.clips); err != nil {
		return marks{}
	}
	return m
}

func (f *markFile) Close() error { return f.f.Close() }
