package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Settings of connections, in the order they are made.
var (
	pragmasWrite = []string{
		"busy_timeout(600000)", // waiting for another process ends with the context; this is far behind it
		"auto_vacuum(incremental)",
		"journal_mode(wal)",  // readers and the writer do not wait for each other
		"synchronous(full)",  // a commit is on the disk before it returns
		"foreign_keys(1)",    // off by default in SQLite
		"secure_delete(1)",   // deleted means overwritten
		"cell_size_check(1)", // damage is seen when a page is read
		"temp_store(memory)", // no text in temporary files
		// The log keeps this size when it is started over.
		fmt.Sprintf("journal_size_limit(%d)", walKeep),
	}
	// secure_delete is for the copies that VACUUM INTO makes: they inherit it, and without
	// it their pages hold what stood there while they were filled.
	pragmasRead = []string{"busy_timeout(5000)", "query_only(1)", "secure_delete(1)", "cell_size_check(1)", "temp_store(memory)"}
)

// walKeep is the size in bytes at which SQLite starts its log over (1000 pages, its
// default), as long as no reader holds on to it.
const walKeep = 4 << 20

// connect prepares connections to a database; they are opened when they are needed.
// more are URI parameters of SQLite, such as mode=ro.
func connect(path string, pragmas []string, connections int, more ...string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_txlock=immediate"
	for _, p := range pragmas {
		dsn += "&_pragma=" + url.QueryEscape(p)
	}
	db, err := sql.Open("sqlite", strings.Join(append([]string{dsn}, more...), "&"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// write runs do in a transaction and commits it. Writers come one after the other, in
// the order of their calls. Where the disk is full, room is made and do runs again.
func (s *Store) write(ctx context.Context, do func(*sql.Tx) error) error {
	if err := s.writable(); err != nil {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := s.transact(ctx, do)
	for isFull(err) && s.releaseRoom(ctx) {
		err = s.transact(ctx, do)
	}
	switch {
	case err == nil:
		s.problems.clear(ProblemFull)
	case isFull(err):
		s.problems.set(ProblemFull, "the disk is full: text cannot be stored")
	}
	return s.found(err)
}

func (s *Store) transact(ctx context.Context, do func(*sql.Tx) error) error {
	var reached marks
	err := transact(ctx, s.w, func(tx *sql.Tx) (err error) {
		if err = do(tx); err == nil {
			reached, err = readMarks(ctx, tx)
		}
		return err
	})
	if err == nil && s.mark != nil {
		s.mark.write(reached)
	}
	return err
}

// transact runs do in a transaction on db and commits it.
func transact(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return classify(err)
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return classify(err)
	}
	return classify(tx.Commit())
}

// read runs do in a short read transaction: all that it reads is of one moment.
func (s *Store) read(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.r.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return classify(err)
	}
	defer tx.Rollback()
	return s.found(classify(do(tx)))
}

// checkpointWait is how many milliseconds a checkpoint may hold up writers while it
// waits for readers.
const checkpointWait = 100

// checkpoint moves the log into the database and empties it, unless readers or another
// writer are in the way: then done is false.
func (s *Store) checkpoint(ctx context.Context, waitMS int) (done bool, err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	c, err := s.w.Conn(ctx)
	if err != nil {
		return false, classify(err)
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout(%d)", waitMS)); err != nil {
		return false, classify(err)
	}
	defer c.ExecContext(context.WithoutCancel(ctx), "PRAGMA "+pragmasWrite[0])
	var busy, pages, moved int
	if err := c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		if isBusy(err) {
			return false, nil
		}
		return false, classify(err)
	}
	return busy == 0, nil
}
