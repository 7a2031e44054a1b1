package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// damagedName is how databases that were set aside are called; there may be a log beside.
const damagedName = "earshot-damaged-%d.db"

// maxID bounds the ids that salvage believes: a flipped bit must not use all of them up.
const maxID = 1 << 48

// setAside renames the database, if there is one, so that a new one can take its place.
func (s *Store) setAside() error {
	if _, err := os.Stat(s.path(dbName)); errors.Is(err, fs.ErrNotExist) {
		return s.forget()
	}
	name := fmt.Sprintf(damagedName, 1)
	if others := s.asides(); len(others) > 0 {
		name = fmt.Sprintf(damagedName, asideNumber(others[0])+1)
	}
	// The log first: a log without its database does no harm, but the other way round
	// SQLite would take it for the new database's.
	if err := os.Rename(s.path(dbName)+"-wal", s.path(name)+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	os.Remove(s.path(dbName) + "-shm")
	if err := rename(s.path(dbName), s.path(name)); err != nil {
		return err
	}
	return s.forget()
}

// asides are the names of the databases that were set aside, newest first.
func (s *Store) asides() (names []string) {
	entries, _ := os.ReadDir(s.opts.Dir)
	for _, e := range entries {
		if asideNumber(e.Name()) > 0 {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return asideNumber(b) - asideNumber(a) })
	return names
}

// asideNumber is 0 for other files.
func asideNumber(name string) (n int) {
	if _, err := fmt.Sscanf(name, damagedName, &n); err != nil || fmt.Sprintf(damagedName, n) != name {
		return 0
	}
	return n
}

// highest finds the highest ids in a damaged file.
func highest(path string) (m marks, err error) {
	f, done, err := openPages(path)
	if err != nil {
		return m, err
	}
	defer done()
	for r := range f.rows() {
		if t := tableOf(r); t != nil && r.id > 0 && r.id < maxID {
			if at := m.of(t.name); at != nil {
				*at = max(*at, r.id)
			}
		}
	}
	return m, nil
}

// adopt notes in the database what is to be salvaged, and that ids go on behind those that
// were given. reason is why a database was set aside now, or is gone, "" where all was well.
//
// All files count that the database does not know of: the power may have gone when one had
// been set aside and the new database was not begun, and what was known of older ones
// went with the last.
func (s *Store) adopt(ctx context.Context, reason string, given marks) error {
	known, err := s.column(ctx, "SELECT file FROM salvage")
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(s.asides(), func(name string) bool { return slices.Contains(known, name) })
	if len(files) == 0 {
		if reason == "" {
			return nil
		}
		files = []string{""}
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		seen, err := highest(s.path(file))
		if err != nil {
			return err
		}
		given = given.with(seen)
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		for i, file := range files {
			why := reason
			if i > 0 || why == "" {
				why = "found beside the database"
			}
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO salvage VALUES (?, ?, 0, 0, ?)", file, why, millis(s.opts.Now())); err != nil {
				return err
			}
		}
		return given.keep(ctx, tx)
	})
}

// salvageAll brings back the rows of what was set aside, from the last backup first,
// where every row is sound, and then from what can be read of the damaged file. What was
// begun and not finished is done again: rows that are there stay.
func (s *Store) salvageAll() {
	defer close(s.salvaged)
	files, err := s.column(s.ctx, "SELECT file FROM salvage WHERE NOT done ORDER BY rowid")
	for _, file := range files {
		var n int
		if n, err = s.salvage(file); err != nil {
			break
		}
		if err = s.write(s.ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(s.ctx, "UPDATE salvage SET done = 1, rows = ? WHERE file = ?", n, file)
			return err
		}); err != nil {
			break
		}
	}
	s.problems.note(ProblemSalvage, err)
}

// salvageProblems tell of databases that were lost or set aside, as long as the damaged
// file is there. It is in the database so that every process shows it.
func (s *Store) salvageProblems(ctx context.Context) (list []Problem, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT file, reason, done, rows, at_ms FROM salvage ORDER BY rowid")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var file, reason string
			var done bool
			var n int
			var at sql.NullInt64
			if err := rows.Scan(&file, &reason, &done, &n, &at); err != nil {
				return err
			}
			if _, err := os.Stat(s.path(file)); err == nil || !done {
				list = append(list, Problem{ProblemSalvage, salvageText(file, reason, done, n), wallTime(at)})
			}
		}
		return rows.Err()
	})
	return list, err
}

func salvageText(file, reason string, done bool, rows int) string {
	what := fmt.Sprintf("the database was damaged (%s) and set aside as %s", reason, file)
	if file == "" {
		what = fmt.Sprintf("the database was lost (%s)", reason)
	}
	if !done {
		return what + "; its rows are being brought back"
	}
	return fmt.Sprintf("%s; %d rows were brought back", what, rows)
}

func (s *Store) salvage(file string) (total int, err error) {
	var sources []string
	if backups, err := s.backups(); err == nil && len(backups) > 0 {
		sources = append(sources, backups[len(backups)-1])
	}
	if file != "" {
		sources = append(sources, s.path(file))
	}
	for _, source := range sources {
		n, err := salvageFile(s.ctx, source, s.write)
		if total += n; err != nil && !errors.Is(err, fs.ErrNotExist) {
			return total, fmt.Errorf("salvage %s: %w", source, err)
		}
	}
	return total, nil
}

// salvageTable is a table of ours, with how its rows are put in.
type salvageTable struct {
	name    string
	columns []string // in their order
	fixed   int      // how many columns the first schema had; later ones may be missing
	path    bool     // its key is a path; others are ids
}

// salvageTables are in the order in which their rows refer to each other.
var salvageTables = []*salvageTable{
	{"recordings", strings.Fields("id title source started_ms state task language model duration_us"), 9, false},
	{"segments", strings.Fields("id recording start_us end_us wall_ms text language speaker avg_logprob no_speech_prob compression_ratio temperature model plan backend fallback notes"), 17, false},
	{"words", strings.Fields("id segment n start_us end_us text probability"), 7, false},
	{"events", strings.Fields("id recording kind at_us until_us wall_ms amount detail"), 8, false},
	{"clips", strings.Fields("id recording start_us end_us wall_ms made_ms file bytes pending failure"), 10, false},
	{"backups", strings.Fields("path made_ms"), 2, true},
}

// tableOf says which table a row is of, by its number of columns.
func tableOf(r row) *salvageTable {
	for _, t := range salvageTables {
		if n := len(r.columns); t.fixed <= n && n <= len(t.columns) {
			if path, _ := r.columns[0].(string); r.columns[0] == nil && !t.path || filepath.IsAbs(path) && t.path {
				return t
			}
		}
	}
	return nil
}

// salvageBatch is how many rows one transaction takes: few enough that a live writer
// does not wait long.
const salvageBatch = 200

// salvageFile puts all rows of a database file that can be read, and that are not there,
// into the database that transact writes to.
func salvageFile(ctx context.Context, path string, transact transactor) (total int, err error) {
	f, done, err := openPages(path)
	if err != nil {
		return 0, err
	}
	defer done()
	for _, t := range salvageTables {
		var batch []row
		put := func() error {
			n := 0
			err := transact(ctx, func(tx *sql.Tx) (err error) {
				n, err = t.put(ctx, tx, batch)
				return err
			})
			total += n
			batch = batch[:0]
			return err
		}
		for r := range f.rows() {
			if tableOf(r) != t || r.id <= 0 || r.id >= maxID || !sound(r) {
				continue
			}
			if batch = append(batch, r); len(batch) == salvageBatch {
				if err := put(); err != nil {
					return total, err
				}
			}
		}
		if err := put(); err != nil {
			return total, err
		}
	}
	return total, nil
}

// sound says whether all texts of a row are texts.
func sound(r row) bool {
	return !slices.ContainsFunc(r.columns, func(v any) bool {
		text, ok := v.(string)
		return ok && (!utf8.ValidString(text) || strings.ContainsRune(text, 0))
	})
}

// put inserts rows. Those that break a rule of the schema are no rows of ours.
func (t *salvageTable) put(ctx context.Context, tx *sql.Tx, rows []row) (n int, err error) {
	for _, r := range rows {
		columns, values := t.columns[:len(r.columns)], slices.Clone(r.columns)
		if !t.path {
			values[0] = r.id
		}
		switch t.name {
		case "backups":
		case "words":
			columns, values = columns[1:], values[1:] // found by segment and place; ids are of no use
		case "recordings":
			if values[4] == string(Running) {
				values[4] = string(Interrupted)
			}
		default:
			if err := needRecording(ctx, tx, values[1]); err != nil {
				return n, err
			}
		}
		res, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO "+t.name+" ("+strings.Join(columns, ", ")+") VALUES (?"+
			strings.Repeat(", ?", len(columns)-1)+")", values...)
		if err != nil {
			switch code(err) {
			case codeConstraint, codeMismatch, codeError: // the last for what is not even JSON
				continue
			}
			return n, err
		}
		if added, err := res.RowsAffected(); err == nil {
			n += int(added)
		}
	}
	return n, nil
}

// needRecording makes up for a recording whose own row is lost.
func needRecording(ctx context.Context, tx *sql.Tx, id any) error {
	n, ok := id.(int64)
	if !ok || n <= 0 || n >= maxID {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO recordings (id, title, source, state, task, language, model, duration_us)
		SELECT ?1, 'recovered', '', ?2, '', '', '', 0 WHERE NOT EXISTS (SELECT 1 FROM recordings WHERE id = ?1)`, n, Interrupted)
	return err
}

// rewriteDamaged leaves of a file that was set aside what can be read, less cuts.
func (s *Store) rewriteDamaged(ctx context.Context, path string, cuts []cut) error {
	temp := path + partial
	defer removeDatabase(temp)
	removeDatabase(temp)
	db, err := connect(temp, pragmasWrite, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := migrate(ctx, db, s.opts.Now); err != nil {
		return err
	}
	into := func(ctx context.Context, do func(*sql.Tx) error) error { return transact(ctx, db, do) }
	if _, err := salvageFile(ctx, path, into); err != nil {
		return err
	}
	for _, c := range cuts {
		if err := cutRows(ctx, into, c); err != nil {
			return err
		}
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := rename(temp, path); err != nil {
		return err
	}
	if err := os.Remove(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return flush(filepath.Dir(path))
}

// RemoveSetAside deletes the damaged databases that were set aside, which also ends their
// being shown as a problem.
func (s *Store) RemoveSetAside(ctx context.Context) error {
	release, err := s.holdCopies(ctx)
	if err != nil {
		return err
	}
	defer release()
	names, err := s.column(ctx, "SELECT file FROM salvage WHERE done AND file <> ''")
	if err != nil {
		return fmt.Errorf("remove what was set aside: %w", err)
	}
	for _, name := range names {
		removeDatabase(s.path(filepath.Base(name)))
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM salvage WHERE done")
		return err
	})
	if err != nil {
		return fmt.Errorf("remove what was set aside: %w", err)
	}
	return nil
}

func removeDatabase(path string) {
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		os.Remove(path + end)
	}
}
