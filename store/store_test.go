package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"earshot/store/disktest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("EARSHOT_TEST_STORE"); dir != "" {
		writeForEver(dir)
		return
	}
	os.Exit(m.Run())
}

var ctx = context.Background()

// scale is how often something is done: in a short test, usually, in a long one.
func scale(short, usual, long int) int {
	switch {
	case os.Getenv("EARSHOT_LONG") == "1":
		return long
	case testing.Short():
		return short
	}
	return usual
}

// within fails when something took longer than it may, except in short tests: those run
// under the race detector.
func within(t *testing.T, limit, took time.Duration, what string) {
	t.Helper()
	if took > limit && !testing.Short() {
		t.Errorf("%s took %v, more than %v", what, took, limit)
	}
}

// clock is a wall clock that tests set.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func openStore(t *testing.T, opts Options) *Store {
	t.Helper()
	s, err := Open(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// memoryDir is a folder in memory where there is one: many tests open hundreds of
// stores, and a disk takes its time to sync each.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "earshot-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func startRecording(t *testing.T, s *Store) int64 {
	t.Helper()
	id, err := s.StartRecording(ctx, Recording{Title: "title", Source: "test", Started: s.opts.Now(), Task: "transcribe", Language: "en", Model: "tiny.en"})
	must(t, err)
	return id
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// say stores a segment of one second at a place in seconds.
func say(t *testing.T, s *Store, recording int64, at float64, text string) int64 {
	t.Helper()
	ids, err := s.Append(ctx, recording, Utterance{Segments: []Segment{segment(s, at, text)}})
	must(t, err)
	return ids[0]
}

func segment(s *Store, at float64, text string) Segment {
	seg := Segment{Start: seconds(at), End: seconds(at + 1), Wall: s.opts.Now(), Text: text, Language: "en", Model: "tiny.en", Plan: "cpu/30s", Backend: "cpu"}
	for i, w := range strings.Fields(text) {
		from := seconds(at + float64(i)/100)
		seg.Words = append(seg.Words, Word{from, from + 10*time.Millisecond, w, 0.5})
	}
	return seg
}

func segments(t *testing.T, s *Store, recording int64) (list []Segment) {
	t.Helper()
	for seg, err := range s.Segments(ctx, recording) {
		must(t, err)
		list = append(list, seg)
	}
	return list
}

func status(t *testing.T, s *Store) Status {
	t.Helper()
	st, err := s.Status(ctx)
	must(t, err)
	return st
}

func problem(t *testing.T, s *Store, k Kind) string {
	t.Helper()
	for _, p := range status(t, s).Problems {
		if p.Kind == k {
			return p.Reason
		}
	}
	return ""
}

// holding lists the files below dir that hold a text.
func holding(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, filepath.Base(path))
		}
		return err
	}))
	return names
}

func TestStoreAndRead(t *testing.T) {
	c := newClock()
	opts := Options{Dir: filepath.Join(t.TempDir(), "new", "st%41te #1?"), Now: c.now}
	s := openStore(t, opts)
	id := startRecording(t, s)
	full := segment(s, 1.25, "Guten Tag, “Welt”.")
	full.Speaker, full.Fallback, full.Notes = "left", "npu: self-test", []string{"low confidence", `"quoted"`}
	full.Decoding = &Decoding{-0.25, math.NaN(), 1.5, 0}
	ids, err := s.Append(ctx, id, Utterance{
		Segments: []Segment{full, segment(s, 3, "plain")},
		Events:   []Event{{Kind: "gap", At: seconds(4), Until: seconds(6), Wall: c.t, Amount: 32000, Detail: "unplugged"}},
		Until:    seconds(7),
	})
	must(t, err)
	must(t, s.Close())

	s = openStore(t, opts)
	if st := status(t, s); st.Degraded() {
		t.Errorf("problems %v", st.Problems)
	}
	r, err := s.Recording(ctx, id)
	must(t, err)
	want := Recording{ID: id, Title: "title", Source: "test", Started: c.t.Local(), State: Interrupted, Task: "transcribe",
		Language: "en", Model: "tiny.en", Duration: seconds(7), Segments: 2}
	if r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
	got := segments(t, s, id)
	if len(got) != 2 || got[0].ID != ids[0] || got[1].ID != ids[1] {
		t.Fatalf("got %+v", got)
	}
	full.ID, full.Recording, full.Wall = ids[0], id, c.t.Local()
	if d := got[0].Decoding; d == nil || !math.IsNaN(d.NoSpeechProb) || d.AvgLogProb != -0.25 || d.Temperature != 0 {
		t.Errorf("decoding %+v", d)
	}
	got[0].Decoding, full.Decoding = nil, nil
	if !reflect.DeepEqual(got[0], full) {
		t.Errorf("got %+v, want %+v", got[0], full)
	}
	events, err := s.Events(ctx, id, 0, 10)
	must(t, err)
	if len(events) != 1 || events[0].Kind != "gap" || events[0].Until != seconds(6) || events[0].Amount != 32000 || !events[0].Wall.Equal(c.t) {
		t.Errorf("events %+v", events)
	}
}

func TestListAndStates(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir(), Now: newClock().now})
	var ids []int64
	for range 5 {
		ids = append(ids, startRecording(t, s))
	}
	must(t, s.FinishRecording(ctx, ids[4], seconds(9)))
	page, err := s.Recordings(ctx, 0, 2)
	must(t, err)
	rest, err := s.Recordings(ctx, page[1].ID, 10)
	must(t, err)
	if len(page) != 2 || page[0].ID != ids[4] || page[0].State != Done || page[0].Duration != seconds(9) || len(rest) != 3 || rest[0].ID != ids[2] {
		t.Errorf("got %+v, then %+v", page, rest)
	}
	for name, err := range map[string]error{
		"Recording": second(s.Recording(ctx, 99)), "Finish": s.FinishRecording(ctx, 99, 0), "Delete": s.Delete(ctx, 99),
		"Append": second(s.Append(ctx, 99, Utterance{})),
		"Segments": func() (e error) {
			for _, err := range s.Segments(ctx, 99) {
				e = err
			}
			return e
		}(),
	} {
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "99") {
			t.Errorf("%s of an unknown recording: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestPieces reads more than a piece while the recording goes on (cases.md, C111).
func TestPieces(t *testing.T) {
	s := openStore(t, Options{Dir: t.TempDir()})
	id := startRecording(t, s)
	var u Utterance
	for i := range 2*piece + 10 {
		u.Segments = append(u.Segments, segment(s, float64(i/2), fmt.Sprint("text ", i))) // two with each start
	}
	_, err := s.Append(ctx, id, u)
	must(t, err)
	n := 0
	for seg, err := range s.Segments(ctx, id) {
		must(t, err)
		if want := fmt.Sprint("text ", n); seg.Text != want || len(seg.Words) != 2 {
			t.Fatalf("segment %d is %q with %d words", n, seg.Text, len(seg.Words))
		}
		if n++; n == 300 {
			say(t, s, id, 10000, fmt.Sprint("text ", len(u.Segments)))
		}
	}
	if n != len(u.Segments)+1 {
		t.Errorf("%d segments, want %d", n, len(u.Segments)+1)
	}
	for _, err := range s.Segments(ctx, id) {
		if err == nil {
			err = s.Delete(ctx, id)
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("deleted while it is read: %v", err)
		}
	}
}

func TestNoHistory(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir, NoHistory: true})
	id := startRecording(t, s)
	say(t, s, id, 1, "a secret")
	if got := segments(t, s, id); len(got) != 1 || got[0].Text != "a secret" {
		t.Errorf("while it goes on: %+v", got)
	}
	if hits, err := s.Search(ctx, "secret", 0, 5); err != nil || len(hits) != 1 {
		t.Errorf("search: %v, %v", hits, err)
	}
	clip, err := s.SaveClip(ctx, Clip{Recording: id, Pending: true}, func(io.WriteSeeker) error { t.Error("clip written"); return nil })
	if err != nil || clip.ID != 0 {
		t.Errorf("clip %+v, %v", clip, err)
	}
	must(t, s.FinishRecording(ctx, id, seconds(2)))
	if list, err := s.Recordings(ctx, 0, 9); err != nil || len(list) != 0 {
		t.Errorf("afterwards: %v, %v", list, err)
	}
	if next := startRecording(t, s); next <= id {
		t.Errorf("id %d behind %d", next, id)
	}
	must(t, s.Prune(ctx))
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("files: %v", entries)
	}
}

// TestClock starts in 1970 and jumps by an hour both ways.
func TestClock(t *testing.T) {
	c := &clock{time.Unix(100, 0)}
	s := openStore(t, Options{Dir: t.TempDir(), Now: c.now, Retention: Retention{TextAge: 24 * time.Hour}})
	id := startRecording(t, s)
	say(t, s, id, 1, "clock not set")
	c.t = newClock().t
	say(t, s, id, 10, "clock set")
	c.t = c.t.Add(10*time.Second + time.Hour)
	say(t, s, id, 20, "an hour late")
	c.t = c.t.Add(10*time.Second - time.Hour)
	say(t, s, id, 30, "right again")
	must(t, s.Prune(ctx))
	must(t, s.FinishRecording(ctx, id, seconds(31)))

	if r, err := s.Recording(ctx, id); err != nil || !r.Started.IsZero() {
		t.Errorf("started %v, %v; want not known", r.Started, err)
	}
	got := segments(t, s, id)
	if len(got) != 4 || !got[0].Wall.IsZero() || !got[3].Wall.Equal(c.t) {
		t.Errorf("got %+v", got)
	}
	events, err := s.Events(ctx, id, 0, 10)
	must(t, err)
	if len(events) != 2 || events[0].Kind != "clock" || events[0].Amount != 3_600_000 || events[0].At != seconds(20) || events[1].Amount != -3_600_000 {
		t.Errorf("events %+v", events)
	}
	if next := startRecording(t, s); next <= id {
		t.Errorf("id %d behind %d", next, id)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	id := startRecording(t, s)
	say(t, s, id, 1, "kept")
	must(t, s.Close())
	disktest.ReadOnly(t, dir)
	s = openStore(t, Options{Dir: dir})
	if got := segments(t, s, id); len(got) != 1 || got[0].Text != "kept" {
		t.Errorf("got %+v", got)
	}
	_, err := s.StartRecording(ctx, Recording{Source: "mic"})
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), `"mic"`) {
		t.Errorf("start: %v", err)
	}
	for name, err := range map[string]error{"delete": s.Delete(ctx, id), "prune": s.Prune(ctx)} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if reason := problem(t, s, ProblemReadOnly); !strings.Contains(reason, "read-only file system") {
		t.Errorf("problem %q", reason)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	must(t, s.Backup(ctx, copied))
	if size(copied) == 0 {
		t.Error("no backup")
	}
	if _, err := Open(ctx, Options{Dir: filepath.Join(dir, "other")}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestReadOnlyLog has a log that was not moved into the database when the folder became
// read-only.
func TestReadOnlyLog(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	s := openStore(t, Options{Dir: from})
	id := startRecording(t, s)
	say(t, s, id, 1, "in the log")
	for _, name := range []string{dbName, dbName + "-wal"} {
		copyFile(t, filepath.Join(from, name), filepath.Join(dir, name))
	}
	disktest.ReadOnly(t, dir)
	s = openStore(t, Options{Dir: dir})
	if got := segments(t, s, id); len(got) != 1 || got[0].Text != "in the log" {
		t.Errorf("got %+v", got)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, data, 0o600))
}
