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
)

// Backup writes a copy of the database as it is now into a file, whole or not at all; a
// file that is there is replaced. Writers go on. Clips are not in it. The store
// remembers where the copy is, and what is deleted later is deleted there too.
//
// To go back to a copy: end earshot, put the copy in the place of earshot.db, and remove
// the other files named earshot.* beside it.
func (s *Store) Backup(ctx context.Context, path string) error {
	release, err := s.holdCopies(ctx)
	if err == nil {
		defer release()
		err = s.backup(ctx, path, true)
	}
	if err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func (s *Store) backup(ctx context.Context, path string, remember bool) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err == nil {
		if own, err := os.Stat(s.path(dbName)); err == nil && os.SameFile(now, own) {
			return errors.New("that is the database itself")
		}
	}
	if s.w == nil {
		remember = false
	}
	if remember {
		err := s.write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO backups VALUES (?, ?)", path, millis(s.opts.Now()))
			return err
		})
		if err != nil {
			return err
		}
	}
	temp := path + partial
	removeDatabase(temp)
	// VACUUM INTO is one read transaction; it leaves out free pages, and fails where a
	// page cannot be read.
	if err := createPrivate(temp); err != nil {
		return err
	}
	if err := s.vacuumInto(ctx, temp); err != nil {
		os.Remove(temp)
		return s.found(classify(err))
	}
	if err := flush(temp); err != nil {
		os.Remove(temp)
		return err
	}
	return rename(temp, path)
}

// vacuumInto uses a connection for readers, which must be told that writing into
// another file is right.
func (s *Store) vacuumInto(ctx context.Context, path string) error {
	c, err := s.r.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "PRAGMA query_only(0)"); err != nil {
		return err
	}
	if s.r != s.w {
		defer c.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only(1)")
	}
	_, err = c.ExecContext(ctx, "VACUUM INTO ?", path)
	return err
}

// createPrivate makes an empty file for its owner alone.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// backups lists the copies that Run made, oldest first.
func (s *Store) backups() ([]string, error) {
	list, err := filepath.Glob(s.path(filepath.Join(backupsDir, "earshot-*.db")))
	slices.Sort(list)
	return list, err
}

// backUp makes the next copy in backups/ and removes those that are too many.
func (s *Store) backUp(ctx context.Context) error {
	release, err := s.holdCopies(ctx)
	if err != nil {
		return err
	}
	defer release()
	list, err := s.backups()
	if err != nil {
		return err
	}
	if free, err := s.free(); err != nil {
		return err
	} else if need := size(s.path(dbName)) + s.opts.MinFree; free < need {
		return fmt.Errorf("a backup wants %d MiB free, there are %d", need>>20, free>>20)
	}
	n := 0
	if len(list) > 0 {
		fmt.Sscanf(filepath.Base(list[len(list)-1]), "earshot-%d.db", &n)
	}
	path := s.path(filepath.Join(backupsDir, fmt.Sprintf("earshot-%08d.db", n+1)))
	if err := s.backup(ctx, path, false); err != nil {
		return err
	}
	for len(list)+1 > s.opts.Backups && len(list) > 0 {
		if err := os.Remove(list[0]); err != nil {
			return err
		}
		list = list[1:]
	}
	return nil
}

// sweepCopies removes copies whose making was cut off. Errors don't matter: those
// that stay are tried again next time.
func (s *Store) sweepCopies() {
	for _, pattern := range []string{"earshot-*.db" + partial + "*", filepath.Join(backupsDir, "*"+partial+"*")} {
		names, _ := filepath.Glob(s.path(pattern))
		for _, name := range names {
			os.Remove(name)
		}
	}
}

// cutCopies carries out cuts in all copies: those made by Run, those made by Backup that
// are where they were, and databases that were set aside.
func (s *Store) cutCopies(ctx context.Context, cuts []cut) error {
	if s.opts.NoHistory {
		return nil
	}
	own, err := s.backups()
	if err != nil {
		return err
	}
	for _, path := range own {
		if err := cutCopy(ctx, path, cuts); isDamaged(err) {
			err = os.Remove(path) // no use as a backup, and nobody can tell what is in it
			if err != nil {
				return err
			}
		} else if err != nil {
			return fmt.Errorf("delete from backup %s: %w", path, err)
		}
	}
	others, err := s.column(ctx, "SELECT path FROM backups")
	if err != nil {
		return err
	}
	for _, path := range others {
		removeDatabase(path + partial) // what is left of one that was cut off
		if err := cutCopy(ctx, path, cuts); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete from backup %s: %w", path, err)
		}
	}
	aside, err := s.column(ctx, "SELECT file FROM salvage WHERE file <> ''")
	if err != nil {
		return err
	}
	for _, name := range aside {
		if err := s.rewriteDamaged(ctx, s.path(name), cuts); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete from %s: %w", s.path(name), err)
		}
	}
	return nil
}

// cutCopy deletes from one copy. A copy has no log: its journal goes when it is closed.
func cutCopy(ctx context.Context, path string, cuts []cut) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	pragmas := slices.DeleteFunc(slices.Clone(pragmasWrite), func(p string) bool { return p == "journal_mode(wal)" })
	db, err := connect(path, pragmas, 1, "mode=rw")
	if err != nil {
		return err
	}
	defer db.Close()
	err = transact(ctx, db, func(tx *sql.Tx) error {
		all := func(_ context.Context, do func(*sql.Tx) error) error { return do(tx) }
		for _, c := range cuts {
			if err := cutRows(ctx, all, c); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, db.Close())
}

// column reads texts.
func (s *Store) column(ctx context.Context, query string) (list []string, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			list = append(list, text)
		}
		return rows.Err()
	})
	return list, err
}
