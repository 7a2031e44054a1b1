package store

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// writeForEver is a process of its own: it stores segments and prints each when it is
// acknowledged.
func writeForEver(dir string) {
	s, err := Open(ctx, Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := s.StartRecording(ctx, Recording{Source: "child"})
	for i := 0; err == nil; i++ {
		var ids []int64
		text := fmt.Sprintf("sentence %d of recording %d %s", i, id, strings.Repeat("and more ", i%40))
		ids, err = s.Append(ctx, id, Utterance{Segments: []Segment{segment(s, float64(i), text), segment(s, float64(i), "second")}})
		if err == nil {
			fmt.Println(id, i, ids[0])
		}
		if i%10 == 5 {
			var c Clip
			c, err = s.SaveClip(ctx, Clip{Recording: id, Type: "wav", Pending: true}, func(w io.WriteSeeker) error {
				_, err := w.Write(make([]byte, 30000))
				return err
			})
			if err == nil {
				fmt.Println("clip", filepath.Base(c.Path))
			}
		}
	}
	fmt.Println(err)
}

// TestKilled ends a writer at random moments. All that it acknowledged must be there,
// the database sound, and open again soon (cases.md, C106).
func TestKilled(t *testing.T) {
	kills := scale(4, 20, 200)
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(6, 6))
	committed, midway := map[int64][]int64{}, 0
	var slowest time.Duration
	var clips []string
	for n := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "EARSHOT_TEST_STORE="+dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		lines.Scan() // it has begun
		kill := time.AfterFunc(time.Duration(random.IntN(100_000))*time.Microsecond, func() { cmd.Process.Kill() })
		for ok := true; ok; ok = lines.Scan() {
			f := strings.Fields(lines.Text())
			if len(f) == 2 && f[0] == "clip" {
				clips = append(clips, f[1])
			} else if len(f) == 3 {
				r, _ := strconv.ParseInt(f[0], 10, 64)
				id, _ := strconv.ParseInt(f[2], 10, 64)
				committed[r] = append(committed[r], id)
			} else {
				t.Fatalf("child: %s", lines.Text())
			}
		}
		kill.Stop()
		cmd.Wait()
		if size(filepath.Join(dir, dbName+"-wal")) > 0 {
			midway++
		}
		// Every tenth time it is opened and read in full; else the next child opens it.
		if n%10 == 9 || n == kills-1 {
			slowest = max(slowest, checkCommitted(t, dir, committed, clips))
		}
	}
	total := 0
	for _, ids := range committed {
		total += len(ids)
	}
	t.Logf("%d kills, %d utterances acknowledged, reopened within %v", kills, total, slowest)
	if midway == 0 || total == 0 {
		t.Errorf("%d kills while the log was in use, %d utterances", midway, total)
	}
}

func checkCommitted(t *testing.T, dir string, committed map[int64][]int64, clips []string) time.Duration {
	t.Helper()
	began := time.Now()
	s, err := Open(ctx, Options{Dir: dir})
	took := time.Since(began)
	must(t, err)
	defer s.Close()
	within(t, 2*time.Second, took, "open")
	if st := status(t, s); st.Degraded() {
		t.Fatalf("problems %v", st.Problems)
	}
	must(t, s.Check(ctx))
	for recording, ids := range committed {
		got := map[int64]int{}
		all := segments(t, s, recording)
		for _, seg := range all {
			got[seg.ID] = len(seg.Words)
		}
		for _, id := range ids {
			if got[id] < 5 || got[id+1] != 1 {
				t.Fatalf("recording %d: segment %d has %d words, the second of its utterance %d", recording, id, got[id], got[id+1])
			}
		}
		if len(all)%2 != 0 {
			t.Errorf("recording %d: half an utterance", recording)
		}
		if r, err := s.Recording(ctx, recording); err != nil || r.State != Interrupted {
			t.Errorf("recording %d is %q, %v", recording, r.State, err)
		}
	}
	for _, name := range clips {
		if size(filepath.Join(dir, clipsDir, name)) != 30000 {
			t.Errorf("clip %s has %d bytes", name, size(filepath.Join(dir, clipsDir, name)))
		}
	}
	pending, err := s.Pending(ctx, 1<<20)
	must(t, err)
	files, _ := os.ReadDir(filepath.Join(dir, clipsDir))
	if len(files) != len(pending) || len(pending) < len(clips) {
		t.Errorf("%d files, %d rows, %d acknowledged", len(files), len(pending), len(clips))
	}
	return took
}

// TestCutLog cuts the last write to the log at every multiple of 512 bytes, as a power
// cut may: all that was committed before is there (cases.md, C106).
func TestCutLog(t *testing.T) {
	from := t.TempDir()
	s := openStore(t, Options{Dir: from})
	id := startRecording(t, s)
	say(t, s, id, 1, "first")
	before := size(filepath.Join(from, dbName+"-wal"))
	mark, err := os.ReadFile(filepath.Join(from, markName))
	must(t, err)
	say(t, s, id, 2, "last, "+strings.Repeat("with many words ", 100))
	db, err := os.ReadFile(filepath.Join(from, dbName))
	must(t, err)
	log, err := os.ReadFile(filepath.Join(from, dbName+"-wal"))
	must(t, err)
	if int64(len(log)) < before+3*4096 {
		t.Fatalf("the log grew from %d to %d bytes", before, len(log))
	}
	for cut := before; cut < int64(len(log)); cut += 512 {
		dir := memoryDir(t)
		must(t, os.WriteFile(filepath.Join(dir, dbName), db, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, dbName+"-wal"), log[:cut], 0o600))
		must(t, os.WriteFile(filepath.Join(dir, markName), mark, 0o600))
		s := openStore(t, Options{Dir: dir})
		if got := segments(t, s, id); len(got) != 1 || got[0].Text != "first" || status(t, s).Degraded() {
			t.Errorf("cut at %d: %d segments, problems %v", cut, len(got), status(t, s).Problems)
		}
		must(t, s.Check(ctx))
		must(t, s.Close())
	}
}
