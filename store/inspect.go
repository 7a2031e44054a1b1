package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// inspect looks whether the database is sound and returns why it is not; an error is
// that it could not find out. It is for when no other process has it open. The search
// for damage ends after checkTime; s.checked says whether it came to its end.
func (s *Store) inspect(ctx context.Context) (reason string, err error) {
	mark := readMark(s.path(markName))
	info, err := os.Stat(s.path(dbName))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 && size(s.path(dbName)+"-wal") == 0 {
		s.checked = true
		if lost := mark.beyond(marks{}); lost != "" {
			return "it is gone; it had " + lost, nil
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	// SQLite takes a damaged place in its log for the end, and what is behind it for
	// nothing; so that comes first, before it can clear it away.
	if reason, err := inspectFiles(s.path(dbName)); reason != "" || err != nil {
		return reason, err
	}
	defer keepLog(s.path(dbName) + "-wal")(&reason)
	f, err := os.OpenFile(s.path(dbName), os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	f.Close()
	db, err := connect(s.path(dbName), pragmasWrite, 1)
	if err != nil {
		return "", err
	}
	err = s.examine(ctx, db, mark)
	if closed := db.Close(); err == nil {
		err = classify(closed)
	}
	switch {
	case err == nil:
		return s.told(), nil
	case showsDamage(err):
		return plainReason(err), nil
	}
	return "", err
}

// showsDamage tells what only damage explains from what may pass: no memory, a lock, no
// permission. The file was opened for writing before.
func showsDamage(err error) bool {
	switch code(err) {
	case codeError, codeReadOnly: // our own statements are right; the header says so
		return true
	case codeIOErr:
		return extendedCode(err) == codeShortRead
	}
	return isDamaged(err)
}

func inspectFiles(path string) (reason string, err error) {
	f, done, err := openPages(path)
	if err != nil {
		return "", err
	}
	defer done()
	if f.dbBytes > 0 && !f.headed {
		return "it does not begin as a database does", nil
	}
	if f.lost > 0 {
		return fmt.Sprintf("its log is damaged, with at least %d transactions behind that place", f.lost), nil
	}
	return "", nil
}

// keepLog holds on to a log that SQLite removes when it has read what it takes for all
// of it. Where a reason was found, the function that it returns puts the log back.
func keepLog(log string) func(reason *string) {
	kept := log + ".kept"
	os.Remove(kept)
	linked := os.Link(log, kept) == nil
	return func(reason *string) {
		if linked && *reason != "" {
			os.Rename(kept, log)
		}
		os.Remove(kept)
	}
}

// examine returns what is wrong with a database. All that it asks for is there in one
// that is sound.
func (s *Store) examine(ctx context.Context, db *sql.DB, mark marks) error {
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if err := checkSchema(ctx, db, version); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return classify(err) // the header may say that it cannot be written
	}
	reached := marks{}
	if version > 0 {
		reached, err = readMarks(ctx, tx)
	}
	if err := errors.Join(err, tx.Rollback()); err != nil {
		return classify(err)
	}
	if lost := mark.beyond(reached); lost != "" {
		return fmt.Errorf("%w: %s that were committed are missing", ErrDamaged, lost)
	}
	limited, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	err = runCheck(limited, db)
	if ctx.Err() == nil && limited.Err() != nil && !isDamaged(err) {
		return nil // Run looks at the rest
	}
	s.checked = err == nil
	return err
}

// checkSchema compares the schema with the one that the migrations make.
func checkSchema(ctx context.Context, db *sql.DB, version int) error {
	model, err := connect(":memory:", []string{"foreign_keys(1)"}, 1)
	if err != nil {
		return err
	}
	defer model.Close()
	for i := range version {
		if err := step(ctx, model, i, time.Time{}); err != nil {
			return err
		}
	}
	want, err := schemaText(ctx, model)
	if err != nil {
		return err
	}
	got, err := schemaText(ctx, db)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: its schema is not that of version %d", ErrDamaged, version)
	}
	return nil
}

func schemaText(ctx context.Context, db *sql.DB) (text string, err error) {
	err = db.QueryRowContext(ctx, `SELECT coalesce(group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, ''), char(10)), '')
		FROM (SELECT * FROM sqlite_schema ORDER BY type, name)`).Scan(&text)
	return text, classify(err)
}

// runCheck runs SQLite's check of tables, indexes and the search index against each
// other; what it finds is ErrDamaged. (quick_check is twice as fast, and does not see a
// bit that was flipped in a key.)
func runCheck(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "PRAGMA integrity_check(3)")
	if err != nil {
		return classify(err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return classify(err)
		}
		if text != "ok" {
			found = append(found, strings.ReplaceAll(text, "\n", " "))
		}
	}
	if err := rows.Err(); err != nil {
		return classify(err)
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: %s", ErrDamaged, strings.Join(found, "; "))
	}
	return nil
}

// Check reads the whole database, with its indexes, and returns ErrDamaged with what is
// wrong. Writers do not wait for it.
func (s *Store) Check(ctx context.Context) error {
	if err := s.found(runCheck(ctx, s.r)); err != nil {
		return fmt.Errorf("check %s: %w", s.path(dbName), err)
	}
	return nil
}
