package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// spoil overwrites what stands in every page of the last quarter of the database file.
func spoil(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, dbName)
	data, err := os.ReadFile(path)
	must(t, err)
	for at := len(data) * 3 / 4 / 4096 * 4096; at < len(data); at += 4096 {
		copy(data[at+8:at+2048], bytes.Repeat([]byte("spoilt"), 2048)) // where the places of its cells stand
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(data, 0)
	must(t, errors.Join(err, f.Close()))
}

// TestDamagedInUse: another process finds damage. The one that records is told, sets the
// database aside when the other has ended, and brings all rows back.
func TestDamagedInUse(t *testing.T) {
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir})
	id := startRecording(t, s)
	for i := range 200 {
		say(t, s, id, float64(i), "a sentence that was stored before")
	}
	must(t, s.backUp(ctx))
	elsewhere := filepath.Join(t.TempDir(), "copy.db")
	must(t, s.Backup(ctx, elsewhere))
	say(t, s, id, 999, "stored behind the backup")
	_, err := s.checkpoint(ctx, checkpointWait)
	must(t, err)
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(running) }()

	other := openStore(t, Options{Dir: dir})
	spoil(t, dir)
	if err := other.Check(ctx); !errors.Is(err, ErrDamaged) || other.problems.reason(ProblemDamaged) == "" {
		t.Fatalf("the other process found %v", err)
	}
	third := openStore(t, Options{Dir: dir}) // opens, so that it can be read as far as it goes
	if third.problems.reason(ProblemDamaged) == "" {
		t.Error("a third process isn't told")
	}
	must(t, third.Close())
	for s.problems.reason(ProblemDamaged) == "" { // Run looks once in a while
		select {
		case err := <-ended:
			t.Fatalf("it ended with another process there: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	other.Close() // which may well say that it is damaged
	if err := <-ended; !errors.Is(err, ErrDamaged) {
		t.Fatalf("Run ended with %v", err)
	}
	s.Close()

	s = openStore(t, Options{Dir: dir})
	must(t, s.Salvaged(ctx))
	got := segments(t, s, id)
	if len(got) < 200 || !strings.Contains(problem(t, s, ProblemSalvage), "rows were brought back") {
		t.Errorf("%d segments, problems %v", len(got), status(t, s).Problems)
	}
	if size(filepath.Join(dir, damagedMark)) > 0 {
		t.Error("it would be set aside once more")
	}
	must(t, s.Check(ctx))
	if next := startRecording(t, s); next != id+1 {
		t.Errorf("the next recording is %d", next)
	}
	// The copy is known of as before.
	must(t, s.Delete(ctx, id))
	for _, place := range []string{dir, filepath.Dir(elsewhere)} {
		if got := holding(t, place, "stored before"); len(got) > 0 {
			t.Errorf("deleted text is in %v", got)
		}
	}
}

// TestSetAsideAndKilled: the power goes when the database was set aside, and no new one
// was begun. And what was set aside earlier is not forgotten.
func TestSetAsideAndKilled(t *testing.T) {
	d := makeDamage(t)
	for _, moment := range []string{"log moved", "moved", "new one begun"} {
		t.Run(moment, func(t *testing.T) {
			dir := d.put(t, append([]byte("not a database at all"), d.db[21:]...), d.log)
			must(t, os.RemoveAll(filepath.Join(dir, backupsDir)))
			earlier := filepath.Join(dir, "earshot-damaged-1.db")
			must(t, os.WriteFile(earlier, d.backup, 0o600))
			aside := filepath.Join(dir, "earshot-damaged-2.db")
			must(t, os.Rename(filepath.Join(dir, dbName+"-wal"), aside+"-wal"))
			if moment != "log moved" {
				must(t, os.Rename(filepath.Join(dir, dbName), aside))
			}
			if moment == "new one begun" {
				db, err := connect(filepath.Join(dir, dbName), pragmasWrite, 1)
				must(t, err)
				must(t, migrate(ctx, db, newClock().now))
				must(t, db.Close())
			}
			s, got := d.recover(t, dir)
			if missing := lack(d.texts, got); len(missing) > 1 { // the log's pages go by their database
				t.Errorf("%d texts are missing: %v", len(missing), missing)
			}
			must(t, s.Delete(ctx, 1))
			if got := holding(t, dir, "of recording 1,"); len(got) > 0 {
				t.Errorf("deleted text is in %v", got)
			}
		})
	}
}

// TestNewerInUse: another process has brought the schema to a version that we don't know.
func TestNewerInUse(t *testing.T) {
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir})
	for _, query := range []string{"INSERT INTO migrations VALUES (99, 'later', 0)", "PRAGMA user_version = 99"} {
		_, err := s.w.Exec(query)
		must(t, err)
	}
	if _, err := Open(ctx, Options{Dir: dir}); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "99") {
		t.Errorf("got %v", err)
	}
}
