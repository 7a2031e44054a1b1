package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/store/disktest"
)

// TestContention is cases.md, C103: transactions that read and then write, beside
// readers.
func TestContention(t *testing.T) {
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir})
	writers, each := 50, scale(2, 85, 85)
	id := startRecording(t, s)
	stop, readers := make(chan struct{}), sync.WaitGroup{}
	for range 10 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				if _, err := s.Search(ctx, "writer", 0, 5); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var mu sync.Mutex
	var slowest time.Duration
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				began := time.Now()
				_, err := s.Append(ctx, id, Utterance{Segments: []Segment{segment(s, float64(i), fmt.Sprint("writer ", w))}})
				mu.Lock()
				slowest = max(slowest, time.Since(began))
				mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	close(stop)
	readers.Wait()
	r, err := s.Recording(ctx, id)
	must(t, err)
	t.Logf("%d segments, slowest %v", r.Segments, slowest)
	within(t, time.Second, slowest, "a write")
	if r.Segments != int64(writers*each) {
		t.Errorf("%d segments, want %d", r.Segments, writers*each)
	}
}

// TestOtherProcess deletes through another store, as a command does, while one records.
func TestOtherProcess(t *testing.T) {
	dir := memoryDir(t)
	s, other := openStore(t, Options{Dir: dir}), openStore(t, Options{Dir: dir})
	old := startRecording(t, s)
	var u Utterance
	for i := range scale(200, 1000, 1000) {
		u.Segments = append(u.Segments, segment(s, float64(i), "to be deleted soon"))
	}
	_, err := s.Append(ctx, old, u)
	must(t, err)
	id := startRecording(t, s)
	done := make(chan error)
	go func() { done <- other.Delete(ctx, old) }()
	var slowest time.Duration
	n := 0
	for ended := false; !ended; n++ {
		began := time.Now()
		say(t, s, id, float64(n), "live")
		slowest = max(slowest, time.Since(began))
		select {
		case err := <-done:
			must(t, err)
			ended = true
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Logf("%d segments stored meanwhile, slowest %v", n, slowest)
	within(t, time.Second, slowest, "a live write")
	if got := len(segments(t, s, id)); got != n {
		t.Errorf("%d of %d segments", got, n)
	}
	if r, err := other.Recording(ctx, id); err != nil || r.State != Running {
		t.Errorf("the live recording is %q, %v", r.State, err)
	}
	if got := holding(t, dir, "to be deleted soon"); len(got) > 0 {
		t.Errorf("deleted text is in %v", got)
	}
}

// TestLogIsCut is cases.md, C105: a reader that stays, and an export that never ends.
func TestLogIsCut(t *testing.T) {
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir})
	running, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- s.Run(running) }()
	id := startRecording(t, s)
	megabytes := func(n int) {
		for range n {
			_, err := s.Append(ctx, id, Utterance{Events: []Event{{Kind: "filling", Detail: strings.Repeat("x", 1<<20)}}})
			must(t, err)
		}
	}
	log := filepath.Join(dir, dbName+"-wal")
	for i := range 3 * piece {
		say(t, s, id, float64(i), "text")
	}
	next, stopExport := pull(s, id)
	if _, err := next(); err != nil {
		t.Fatal(err)
	}
	megabytes(scale(6, 20, 20))
	if n := size(log); n > 32<<20 {
		t.Errorf("with an export that does not go on the log has %d bytes", n)
	}
	stopExport()

	db, err := connect(filepath.Join(dir, dbName), pragmasRead, 1)
	must(t, err)
	reader, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	must(t, err)
	must(t, reader.QueryRow("SELECT count(*) FROM segments").Scan(new(int)))
	megabytes(scale(20, 30, 100))
	held := size(log)
	must(t, reader.Rollback())
	must(t, db.Close())
	if held < 20<<20 {
		t.Errorf("the reader did not hold the log: %d bytes", held)
	}
	for end := time.Now().Add(10 * time.Second); size(log) > 16<<20 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if n := size(log); n > 16<<20 {
		t.Errorf("the log has %d bytes, %d while the reader was there", n, held)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func pull(s *Store, id int64) (next func() (Segment, error), stop func()) {
	type item struct {
		Segment
		error
	}
	c, quit := make(chan item), make(chan struct{})
	go func() {
		for seg, err := range s.Segments(ctx, id) {
			select {
			case c <- item{seg, err}:
			case <-quit:
				return
			}
		}
	}()
	return func() (Segment, error) { i := <-c; return i.Segment, i.error }, func() { close(quit) }
}

// TestFullDisk writes until nothing fits, with clips that may go and a reserve.
func TestFullDisk(t *testing.T) {
	dir := disktest.Small(t, "16m")
	s := openStore(t, Options{Dir: dir, MinFree: 1 << 20, Reserve: 1 << 20, Retention: Retention{KeepAudio: true}})
	id := startRecording(t, s)
	stored := 0
	for i := range 8 {
		saveClip(t, s, id, float64(i), false)
	}
	waiting := saveClip(t, s, id, 9, true)
	filler := filepath.Join(dir, "filler")
	must(t, os.WriteFile(filler, nil, 0o600))
	f, err := os.OpenFile(filler, os.O_WRONLY, 0)
	must(t, err)
	fill(f)
	f.Close()

	// Clips are refused, and the oldest go.
	_, err = s.SaveClip(ctx, Clip{Recording: id, Type: "wav"}, func(w io.WriteSeeker) error { return nil })
	if !errors.Is(err, ErrNoRoom) {
		t.Errorf("a clip: %v", err)
	}
	if reason := problem(t, s, ProblemSpace); !strings.Contains(reason, "clips are not kept") {
		t.Errorf("problem %q", reason)
	}
	clips, err := s.Clips(ctx, id)
	must(t, err)
	if len(clips) != 1 || size(waiting.Path) != waiting.Bytes {
		t.Errorf("clips %+v", clips)
	}
	// Clips make way for text even when it is too late for makeRoom.
	late := saveClip(t, s, id, 10, true)
	must(t, s.FailClip(ctx, late.ID, "nothing in it", false))
	// Text goes on, into the reserve in the end, and then says that it cannot.
	for err == nil && stored < 100_000 {
		_, err = s.Append(ctx, id, Utterance{Segments: []Segment{segment(s, float64(stored), strings.Repeat("text ", 100))}})
		if err == nil {
			stored++
		}
	}
	if !errors.Is(err, ErrFull) || problem(t, s, ProblemFull) == "" || size(filepath.Join(dir, reserveName)) > restartReserve {
		t.Errorf("after %d segments: %v, problems %v", stored, err, status(t, s).Problems)
	}
	if got := len(segments(t, s, id)); got != stored {
		t.Errorf("%d segments, %d acknowledged", got, stored)
	}
	if size(late.Path) > 0 || size(waiting.Path) != waiting.Bytes {
		t.Errorf("the clip that may go has %d bytes, the one that waits %d", size(late.Path), size(waiting.Path))
	}
	t.Logf("%d segments until nothing fitted", stored)

	// A restart on the full disk works, even when others took the room of the log, and when there is room all is well again.
	s.Close()
	f, err = os.OpenFile(filepath.Join(dir, "more"), os.O_WRONLY|os.O_CREATE, 0o600)
	must(t, err)
	for block := []byte{1}; err == nil; _, err = f.Write(block) {
		block = append(block, make([]byte, 4095)...)[:4096]
	}
	f.Close()
	s = openStore(t, Options{Dir: dir, MinFree: 1 << 20, Reserve: 1 << 20})
	if got := len(segments(t, s, id)); got != stored {
		t.Errorf("after a restart %d segments, %d acknowledged", got, stored)
	}
	must(t, os.Remove(filler))
	must(t, os.Remove(filepath.Join(dir, "more")))
	must(t, s.makeRoom(ctx))
	if clips, err := s.Clips(ctx, id); err != nil || len(clips) > 2 {
		t.Errorf("clips %+v, %v", clips, err)
	}
	say(t, s, id, 1e6, "there is room")
	if st := status(t, s); st.Degraded() || size(filepath.Join(dir, reserveName)) == 0 {
		t.Errorf("problems %v", st.Problems)
	}
	must(t, s.Check(ctx))
}

// fill writes until the disk is full, and gives a little back.
func fill(f *os.File) {
	block := make([]byte, 16<<10)
	n := int64(0)
	for {
		m, err := f.Write(block)
		n += int64(m)
		if err != nil {
			f.Truncate(n - 64<<10)
			return
		}
	}
}

// TestTextForSpace deletes the oldest text where that is allowed.
func TestTextForSpace(t *testing.T) {
	dir := disktest.Small(t, "8m")
	s := openStore(t, Options{Dir: dir, MinFree: 3 << 20, Reserve: 64 << 10, TextForSpace: true})
	id := startRecording(t, s)
	n := 0
	for {
		free, err := s.free()
		must(t, err)
		if free < 5<<19 {
			break
		}
		var u Utterance
		for range 100 {
			u.Segments = append(u.Segments, Segment{Start: seconds(float64(n)), End: seconds(float64(n)), Text: strings.Repeat("text ", 200)})
			n++
		}
		_, err = s.Append(ctx, id, u)
		must(t, err)
	}
	must(t, s.makeRoom(ctx))
	got := segments(t, s, id)
	free, _ := s.free()
	if len(got) == n || len(got) < n/4 || got[len(got)-1].Start != seconds(float64(n-1)) || free < 3<<20 {
		t.Errorf("%d of %d segments left, %d bytes free", len(got), n, free)
	}
}

// TestSpeed fills a database, in a long test as large as years of talk make it.
func TestSpeed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, Options{Dir: dir})
	began := time.Now()
	n := 0
	for range scale(1, 10, 100) {
		id := startRecording(t, s)
		var u Utterance
		for i := range scale(100, 200, 1000) {
			text := fmt.Sprintf("sentence w%d w%d w%d w%d w%d w%d and number %d", n*7%5003, n*11%4999, n*13%4993, n*17%97, n*19%89, n%83, n)
			u.Segments = append(u.Segments, segment(s, float64(i), text))
			n++
		}
		_, err := s.Append(ctx, id, u)
		must(t, err)
	}
	t.Logf("%d segments, %d words: stored in %v, %d bytes", n, n*9, time.Since(began), status(t, s).Bytes)
	for _, query := range []string{"w4321", "sentence", "w17 w23", `"w17 w23"`, "numb*", "北京"} {
		began := time.Now()
		hits, err := s.Search(ctx, query, 0, 20)
		must(t, err)
		took := time.Since(began)
		t.Logf("search %s: %d hits in %v", query, len(hits), took)
		within(t, time.Second, took, "search "+query)
	}
	began = time.Now()
	_, err := s.Recordings(ctx, 0, 100)
	must(t, err)
	t.Logf("list of 100 recordings in %v", time.Since(began))
	began = time.Now()
	must(t, s.Check(ctx))
	t.Logf("check in %v", time.Since(began))
	began = time.Now()
	must(t, s.Backup(ctx, filepath.Join(t.TempDir(), "b.db")))
	t.Logf("backup in %v", time.Since(began))
	began = time.Now()
	must(t, s.Delete(ctx, 1))
	t.Logf("delete of a recording in %v", time.Since(began))
	must(t, s.Close())
	began = time.Now()
	openStore(t, Options{Dir: dir})
	t.Logf("open in %v", time.Since(began))
}
