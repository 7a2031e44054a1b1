package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// damage is a store with two recordings of many segments, its last rows in the log only,
// and a backup made before those.
type damage struct {
	db, log, mark, backup []byte
	texts                 map[string]bool // of all segments
	inFile                map[string]bool // of those that are not in the log alone
	backedUp              map[string]bool // of those in the backup
}

func makeDamage(t *testing.T) damage {
	t.Helper()
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir})
	d := damage{texts: map[string]bool{}, inFile: map[string]bool{}, backedUp: map[string]bool{}}
	fill := func(n int) {
		id := startRecording(t, s)
		var u Utterance
		for i := range n {
			text := fmt.Sprintf("text %d of recording %d, %s", i, id, strings.Repeat("more ", i%10))
			seg := segment(s, float64(i), text)
			if i == 7 {
				text += strings.Repeat("longer than a page ", 600)
				seg.Text = text
			}
			u.Segments = append(u.Segments, seg)
			d.texts[text] = true
		}
		_, err := s.Append(ctx, id, u)
		must(t, err)
	}
	fill(60)
	maps.Copy(d.backedUp, d.texts)
	must(t, s.backUp(ctx))
	fill(60)
	maps.Copy(d.inFile, d.texts)
	_, err := s.checkpoint(ctx, checkpointWait)
	must(t, err)
	fill(20)
	for name, to := range map[string]*[]byte{dbName: &d.db, dbName + "-wal": &d.log, markName: &d.mark, "backups/earshot-00000001.db": &d.backup} {
		*to, err = os.ReadFile(filepath.Join(dir, name))
		must(t, err)
	}
	return d
}

// put writes a store, with these files, into a new folder.
func (d damage) put(t *testing.T, db, log []byte) (dir string) {
	t.Helper()
	dir = memoryDir(t)
	must(t, os.Mkdir(filepath.Join(dir, backupsDir), 0o700))
	for name, data := range map[string][]byte{dbName: db, dbName + "-wal": log, markName: d.mark, "backups/earshot-00000001.db": d.backup} {
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return dir
}

// recover opens a damaged store and returns the texts that it has in the end.
func (d damage) recover(t *testing.T, dir string) (*Store, map[string]bool) {
	t.Helper()
	began := time.Now()
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	within(t, 2*time.Second, time.Since(began), "open")
	// What is said now is stored at once, under a new id.
	id := startRecording(t, s)
	say(t, s, id, 1, "recorded after the damage")
	must(t, s.Salvaged(ctx))
	must(t, s.Check(ctx))
	list, err := s.Recordings(ctx, 0, 100)
	must(t, err)
	got := map[string]bool{}
	for _, r := range list {
		for _, seg := range segments(t, s, r.ID) {
			if (r.ID == id) != (seg.Text == "recorded after the damage") {
				t.Errorf("recording %d has %.40q", r.ID, seg.Text)
			}
			got[seg.Text] = true
		}
	}
	if !got["recorded after the damage"] {
		t.Error("what was recorded after the damage is missing")
	}
	return s, got
}

// lack lists what want has and got lacks.
func lack(want, got map[string]bool) (texts []string) {
	for text := range want {
		if !got[text] {
			texts = append(texts, fmt.Sprintf("%.40q", text))
		}
	}
	return texts
}

// TestDamage is cases.md, C107, and more of its kind.
func TestDamage(t *testing.T) {
	d := makeDamage(t)
	noise := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{6})
	random.Read(noise)
	overwritten := func(data []byte, at int, with []byte) []byte {
		data = bytes.Clone(data)
		copy(data[at:], with)
		return data
	}
	flipped := func(data []byte, from, to int) []byte {
		data = bytes.Clone(data)
		for i := from; i < to; i++ {
			data[i] ^= 0xff
		}
		return data
	}
	for _, c := range []struct {
		name    string
		db, log []byte
		want    map[string]bool
	}{
		{"a: header zeroed", overwritten(d.db, 0, make([]byte, 100)), nil, d.inFile},
		{"b: second page flipped", flipped(d.db, 4096, 4112), nil, d.inFile},
		{"b: third page flipped", flipped(d.db, 8192, 8208), nil, d.inFile},
		{"c: cut to half", d.db[:len(d.db)/2], d.log, d.backedUp},
		{"c: cut to half, no log", d.db[:len(d.db)/2], nil, d.backedUp},
		{"d: noise", noise, d.log, d.backedUp},
		{"d: noise, no log", noise, nil, d.backedUp},
		{"e: log emptied", d.db, nil, d.inFile},
		{"e: log cut", d.db, d.log[:len(d.log)/2], d.inFile},
		{"e: log zeroed at its start", d.db, overwritten(d.log, 0, make([]byte, 5000)), d.inFile},
		{"e: log zeroed in the middle", d.db, overwritten(d.log, len(d.log)/2, make([]byte, 5000)), d.inFile},
		{"empty", nil, nil, d.backedUp},
		{"older file put in place", d.backup, nil, d.backedUp},
		{"version", overwritten(d.db, 60, []byte{0, 0, 0, 200}), nil, d.inFile},
		{"write-protected by its header", overwritten(d.db, 18, []byte{9}), nil, d.inFile},
		{"schema", bytes.Replace(d.db, []byte("start_us  "), []byte("stort_us  "), 1), nil, d.inFile},
		{"one value against a rule", bytes.Replace(d.db, []byte("cpu[]"), []byte("cpu[{"), 1), nil, d.inFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := d.put(t, c.db, c.log)
			s, got := d.recover(t, dir)
			if missing := lack(c.want, got); len(missing) > 0 {
				t.Errorf("%d texts are missing: %v", len(missing), missing)
			}
			reason := problem(t, s, ProblemSalvage)
			if !strings.Contains(reason, "rows were brought back") {
				t.Errorf("problem %q", reason)
			}
			t.Log(reason)
			if len(c.db) > 0 {
				if kept, err := os.ReadFile(filepath.Join(dir, "earshot-damaged-1.db")); err != nil || len(kept) < len(c.db) {
					t.Errorf("the damaged file: %d bytes, %v", len(kept), err)
				}
			}
			// It stays visible until somebody removes the file.
			must(t, s.Close())
			s = openStore(t, Options{Dir: dir})
			must(t, s.Salvaged(ctx))
			if again := problem(t, s, ProblemSalvage); again != reason {
				t.Errorf("after a restart: %q", again)
			}
		})
	}
}

// TestDamageAnywhere flips or cuts at many places. What is on other pages comes back,
// and where damage is not seen at the start, reading ends in an error and not in a crash.
func TestDamageAnywhere(t *testing.T) {
	d := makeDamage(t)
	random := rand.New(rand.NewPCG(6, 107))
	unseen, fewest := 0, 1<<30
	rounds := scale(4, 24, 400)
	for i := range rounds {
		db, log := bytes.Clone(d.db), bytes.Clone(d.log)
		what := ""
		switch i % 4 {
		case 0:
			at := random.IntN(len(db))
			db[at] ^= 1 << random.IntN(8)
			what = fmt.Sprintf("a bit of byte %d", at)
		case 1:
			at, n := random.IntN(len(db)), 1+random.IntN(64)
			for j := at; j < min(at+n, len(db)); j++ {
				db[j] ^= byte(1 + random.IntN(255))
			}
			what = fmt.Sprintf("%d bytes at %d", n, at)
		case 2:
			at := random.IntN(len(db))
			db = db[:at]
			what = fmt.Sprintf("cut at %d of %d", at, len(d.db))
		case 3:
			at := random.IntN(len(log))
			log[at] ^= 1 << random.IntN(8)
			what = fmt.Sprintf("a bit of the log at %d", at)
		}
		dir := d.put(t, db, log)
		s, got := d.recover(t, dir)
		reason := problem(t, s, ProblemSalvage)
		if reason != "" && !strings.Contains(reason, "rows were brought back") {
			t.Errorf("%s: %s", what, reason)
		}
		if reason == "" {
			unseen++ // inside a value
		} else if missing := lack(d.backedUp, got); len(missing) > 0 {
			t.Errorf("%s: %d texts that were backed up are missing: %v", what, len(missing), missing)
		}
		if i%4 != 2 {
			fewest = min(fewest, len(got))
			if missing := lack(d.texts, got); len(missing) > 25 {
				t.Errorf("%s: %d texts are missing: %v", what, len(missing), missing)
			}
		}
		must(t, s.Close())
	}
	t.Logf("%d of %d not seen; at least %d of %d texts came back where nothing was cut off", unseen, rounds, fewest, len(d.texts))
}

// TestSalvageGoesOn ends a salvage in the middle and begins again.
func TestSalvageGoesOn(t *testing.T) {
	d := makeDamage(t)
	dir := d.put(t, append([]byte("not a database at all"), d.db[21:]...), nil)
	s, err := Open(ctx, Options{Dir: dir})
	must(t, err)
	must(t, s.Close())
	s, got := d.recover(t, dir)
	if missing := lack(d.backedUp, got); len(missing) > 0 {
		t.Errorf("missing: %v", missing)
	}
	if reason := problem(t, s, ProblemSalvage); !strings.Contains(reason, "rows were brought back") {
		t.Errorf("problem %q", reason)
	}
}

// TestMigrations brings every older schema to the newest.
func TestMigrations(t *testing.T) {
	want, err := schemaText(ctx, openStore(t, Options{NoHistory: true}).w)
	must(t, err)
	for version := range len(migrations) {
		dir := memoryDir(t)
		db, err := connect(filepath.Join(dir, dbName), pragmasWrite, 1)
		must(t, err)
		for i := range version {
			must(t, step(ctx, db, i, time.Now()))
		}
		must(t, db.Close())
		s := openStore(t, Options{Dir: dir})
		got, err := schemaText(ctx, s.w)
		must(t, err)
		if got != want || status(t, s).Degraded() {
			t.Errorf("from version %d: got %s, problems %v", version, got, status(t, s).Problems)
		}
		say(t, s, startRecording(t, s), 1, "works")
		must(t, s.Check(ctx))
	}
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	must(t, s.Close())
	db, err := connect(filepath.Join(dir, dbName), pragmasWrite, 1)
	must(t, err)
	for _, query := range []string{"INSERT INTO migrations VALUES (99, 'later', 0)", "PRAGMA user_version = 99"} {
		_, err := db.Exec(query)
		must(t, err)
	}
	must(t, db.Close())
	if _, err := Open(ctx, Options{Dir: dir}); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "99") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "earshot-damaged-1.db")); err == nil {
		t.Error("a newer database was set aside")
	}
}

// TestSalvageTables holds the table of salvage to the schema.
func TestSalvageTables(t *testing.T) {
	s := openStore(t, Options{NoHistory: true})
	counts := map[int]string{}
	for _, table := range salvageTables {
		columns, err := s.column(ctx, "SELECT name FROM pragma_table_info('"+table.name+"')")
		must(t, err)
		if got, want := strings.Join(table.columns, " "), strings.Join(columns, " "); got != want {
			t.Errorf("%s has columns %s, want %s", table.name, got, want)
		}
		for n := table.fixed; n <= len(table.columns); n++ {
			if counts[n] != "" {
				t.Errorf("%s and %s may both have %d columns", table.name, counts[n], n)
			}
			counts[n] = table.name
		}
	}
}

// FuzzPages reads files that are no databases.
func FuzzPages(f *testing.F) {
	page := make([]byte, 4096)
	copy(page, "SQLite format 3\x00\x10\x00\x02\x02")
	f.Add(page, []byte{0x37, 0x7f, 6, 0x82})
	leaf := make([]byte, 512)
	copy(leaf, []byte{13, 0, 0, 0, 1, 1, 0xf0, 0, 1, 0xf0})
	copy(leaf[0x1f0:], []byte{10, 5, 8, 0, 1, 1, 1, 1, 1, 1, 9})
	f.Add(append(bytes.Clone(page), leaf...), []byte(nil))
	f.Fuzz(func(t *testing.T, db, log []byte) {
		p := newPageFile(bytes.NewReader(db), int64(len(db)), bytes.NewReader(log), int64(len(log)))
		n := 0
		for r := range p.rows() {
			tableOf(r)
			if n++; n > len(db)+len(log) {
				t.Fatalf("%d rows in %d bytes", n, len(db)+len(log))
			}
		}
	})
}
