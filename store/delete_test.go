package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// saveClip stores a clip of one second with recognisable content.
func saveClip(t *testing.T, s *Store, recording int64, at float64, pending bool) Clip {
	t.Helper()
	c, err := s.SaveClip(ctx, Clip{Recording: recording, Start: seconds(at), End: seconds(at + 1), Wall: s.opts.Now(), Type: "wav", Pending: pending},
		func(w io.WriteSeeker) error {
			_, err := w.Write(bytes.Repeat([]byte("sound of speech "), 2000))
			return err
		})
	must(t, err)
	return c
}

// TestDeleteEverywhere looks for deleted text in every file there is.
func TestDeleteEverywhere(t *testing.T) {
	d := makeDamage(t)
	dir := d.put(t, append([]byte("damaged by us"), d.db[13:]...), nil)
	s := openStore(t, Options{Dir: dir, Retention: Retention{KeepAudio: true}})
	must(t, s.Salvaged(ctx))
	id := startRecording(t, s)
	for i := range 120 {
		say(t, s, id, float64(i), fmt.Sprintf("xylophone%d played the unmistakable tune", i))
	}
	clip := saveClip(t, s, id, 1, false)
	_, err := s.Append(ctx, id, Utterance{Events: []Event{{Kind: "state", Detail: "unmistakable event"}}})
	must(t, err)
	other := startRecording(t, s)
	say(t, s, other, 1, "this remains")
	must(t, s.backUp(ctx))
	if err := s.Backup(ctx, filepath.Join(dir, ".", dbName)); err == nil {
		t.Error("a backup over the database itself")
	}
	elsewhere := filepath.Join(t.TempDir(), "my copy.db")
	must(t, s.Backup(ctx, elsewhere))
	for _, place := range []string{dir, filepath.Dir(elsewhere)} {
		if len(holding(t, place, "unmistakable tune")) == 0 {
			t.Fatalf("nothing to delete in %s", place)
		}
	}
	if got := holding(t, dir, "text 3 of recording 1,"); len(got) < 3 {
		t.Fatalf("only %v hold old text", got)
	}
	must(t, s.Delete(ctx, id, 1))

	for _, text := range []string{"unmistakable", "xylophone", "lophone77", "text 3 of recording 1,"} {
		for _, place := range []string{dir, filepath.Dir(elsewhere)} {
			if got := holding(t, place, text); len(got) > 0 {
				t.Errorf("%q is still in %v", text, got)
			}
		}
	}
	if size(clip.Path) > 0 {
		t.Error("the clip is still there")
	}
	if hits, err := s.Search(ctx, "xylophone7", 0, 5); err != nil || len(hits) > 0 {
		t.Errorf("search: %v, %v", hits, err)
	}
	for _, text := range []string{"this remains", "text 3 of recording 2,"} {
		if got := holding(t, dir, text); len(got) < 2 {
			t.Errorf("%q is in %v", text, got)
		}
	}
	if got := segments(t, s, other); len(got) != 1 {
		t.Errorf("the other recording has %d segments", len(got))
	}
	must(t, s.Check(ctx))

	copied := filepath.Join(t.TempDir(), dbName)
	copyFile(t, elsewhere, copied)
	s = openStore(t, Options{Dir: filepath.Dir(copied)})
	if got := segments(t, s, other); len(got) != 1 || got[0].Text != "this remains" || status(t, s).Degraded() {
		t.Errorf("the copy has %+v, problems %v", got, status(t, s).Problems)
	}
	must(t, s.Check(ctx))
}

// TestDeleteResumed: a deletion of which only the beginning was stored when the power went
// is finished with the next start.
func TestDeleteResumed(t *testing.T) {
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir})
	id := startRecording(t, s)
	for i := range 200 {
		say(t, s, id, float64(i), "to be deleted")
	}
	must(t, s.write(ctx, func(tx *sql.Tx) error {
		return one(tx.ExecContext(ctx, "UPDATE recordings SET state = ? WHERE id = ?", deleting, id))
	}))
	if len(holding(t, dir, "to be deleted")) == 0 {
		t.Fatal("there is nothing to finish")
	}
	if list, err := s.Recordings(ctx, 0, 9); err != nil || len(list) != 0 {
		t.Errorf("listed: %v, %v", list, err)
	}
	if hits, err := s.Search(ctx, "deleted", 0, 9); err != nil || len(hits) != 0 {
		t.Errorf("found: %v, %v", hits, err)
	}
	must(t, s.Close())
	s = openStore(t, Options{Dir: dir})
	must(t, s.Prune(ctx))
	if got := holding(t, dir, "to be deleted"); len(got) > 0 {
		t.Errorf("still in %v", got)
	}
}

// TestRetention is cases.md, C109.
func TestRetention(t *testing.T) {
	c := newClock()
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir, Now: c.now, Retention: Retention{KeepAudio: true, AudioAge: 24 * time.Hour, TextAge: 7 * 24 * time.Hour}})
	old := startRecording(t, s)
	say(t, s, old, 1, "an old sentence")
	saveClip(t, s, old, 1, false)
	waiting := saveClip(t, s, old, 3, true)
	must(t, s.FinishRecording(ctx, old, seconds(9)))
	going := startRecording(t, s)
	say(t, s, going, 2, "a stale sentence")
	must(t, s.backUp(ctx))
	has := func(want string) {
		t.Helper()
		must(t, s.Prune(ctx))
		clips, err := s.Clips(ctx, old)
		must(t, err)
		got := fmt.Sprintf("%d clips, %d files", len(clips), len(holding(t, filepath.Join(dir, clipsDir), "sound of speech")))
		for _, text := range []string{"an old", "a stale", "a late"} {
			if len(holding(t, dir, text+" sentence")) > 0 {
				got += ", " + text
			}
		}
		if got != want {
			t.Errorf("at %v: %s, want %s", c.t, got, want)
		}
	}
	has("2 clips, 2 files, an old, a stale")
	c.t = c.t.Add(25 * time.Hour)
	has("1 clips, 1 files, an old, a stale") // what was not transcribed stays
	_, err := s.Append(ctx, going, Utterance{Segments: []Segment{segment(s, 25*3600, "a late sentence")}})
	must(t, err)
	c.t = c.t.Add(144 * time.Hour) // 169
	has("0 clips, 0 files, a late")
	if size(waiting.Path) > 0 {
		t.Error("the pending clip outlived its text")
	}
	list, err := s.Recordings(ctx, 0, 9)
	must(t, err)
	if len(list) != 1 || list[0].ID != going || list[0].Segments != 1 {
		t.Errorf("recordings %+v", list)
	}
}

// TestRetentionWrongClock must not delete what was just said.
func TestRetentionWrongClock(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		name string
		walk func(t *testing.T, s *Store, c *clock)
		want int // segments
	}{
		{"starts in 1970", func(t *testing.T, s *Store, c *clock) {
			set := c.t
			c.t = time.Unix(0, 0)
			say(t, s, startRecording(t, s), 1, "x")
			c.t = set
		}, 1},
		{"starts in 1970, much later", func(t *testing.T, s *Store, c *clock) {
			set := c.t
			c.t = time.Unix(0, 0)
			say(t, s, startRecording(t, s), 1, "x")
			c.t = set
			say(t, s, startRecording(t, s), 1, "known")
			c.t = set.Add(9 * day)
		}, 0},
		{"set right in the middle", func(t *testing.T, s *Store, c *clock) {
			set := c.t
			c.t = set.Add(-365 * day)
			id := startRecording(t, s)
			say(t, s, id, 1, "x")
			c.t = set
			say(t, s, id, 20, "y")
		}, 2},
		{"falls behind later", func(t *testing.T, s *Store, c *clock) {
			set := c.t
			say(t, s, startRecording(t, s), 1, "x")
			c.t = set.Add(-365 * day)
			say(t, s, startRecording(t, s), 1, "y")
			c.t = set
		}, 2},
		{"was in the future", func(t *testing.T, s *Store, c *clock) {
			set := c.t
			c.t = set.Add(3650 * day)
			say(t, s, startRecording(t, s), 1, "x")
			c.t = set
			say(t, s, startRecording(t, s), 1, "y")
			c.t = set.Add(9 * day)
		}, 0},
		{"is not set now", func(t *testing.T, s *Store, c *clock) {
			say(t, s, startRecording(t, s), 1, "x")
			c.t = time.Unix(0, 0)
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := newClock()
			s := openStore(t, Options{Dir: memoryDir(t), Now: clock.now, Retention: Retention{TextAge: 7 * day}})
			c.walk(t, s, clock)
			must(t, s.Prune(ctx))
			n := 0
			list, err := s.Recordings(ctx, 0, 9)
			must(t, err)
			for _, r := range list {
				n += int(r.Segments)
			}
			if n != c.want {
				t.Errorf("%d segments, want %d", n, c.want)
			}
		})
	}
}

// TestAudioNotKept removes a clip as soon as its text is stored.
func TestAudioNotKept(t *testing.T) {
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir})
	id := startRecording(t, s)
	clip := saveClip(t, s, id, 1, true)
	if st := status(t, s); st.Pending != 1 || st.ClipBytes != clip.Bytes || clip.Bytes != 32000 {
		t.Errorf("status %+v, clip %+v", st, clip)
	}
	must(t, s.FailClip(ctx, clip.ID, "no engine", true))
	must(t, s.Close())
	must(t, os.WriteFile(filepath.Join(dir, clipsDir, "r1-orphan.wav"), []byte("sound of speech"), 0o600))

	// A restart in the middle loses nothing (cases.md, C113), and sweeps what was cut off.
	s = openStore(t, Options{Dir: dir})
	list, err := s.Pending(ctx, 9)
	must(t, err)
	if len(list) != 1 || list[0].ID != clip.ID || list[0].Path != clip.Path || list[0].Failure != "no engine" || list[0].Type != "wav" {
		t.Fatalf("pending %+v", list)
	}
	if got := holding(t, dir, "sound of speech"); len(got) != 1 {
		t.Errorf("files %v", got)
	}
	_, err = s.Append(ctx, id, Utterance{Segments: []Segment{segment(s, 1, "text")}, Clip: clip.ID})
	must(t, err)
	if got := holding(t, dir, "sound of speech"); len(got) > 0 {
		t.Errorf("files %v", got)
	}
	if got := segments(t, s, id); len(got) != 1 || status(t, s).Pending != 0 {
		t.Errorf("got %+v, %d pending", got, status(t, s).Pending)
	}
}

func TestSizeLimits(t *testing.T) {
	s := openStore(t, Options{Dir: memoryDir(t), Retention: Retention{KeepAudio: true, AudioBytes: 100_000}})
	id := startRecording(t, s)
	for i := range 6 {
		saveClip(t, s, id, float64(i), false)
	}
	must(t, s.Prune(ctx))
	clips, err := s.Clips(ctx, id)
	must(t, err)
	if len(clips) != 3 || clips[0].Start != seconds(3) {
		t.Errorf("%d clips, from %v", len(clips), clips[0].Start)
	}
	var u Utterance
	for i := range 600 {
		u.Segments = append(u.Segments, segment(s, float64(i), strings.Repeat("text ", 20)))
	}
	_, err = s.Append(ctx, id, u)
	must(t, err)
	before, err := s.used(ctx)
	must(t, err)
	s.SetRetention(Retention{TextBytes: before * 4 / 5})
	must(t, s.Prune(ctx))
	after, err := s.used(ctx)
	must(t, err)
	got := segments(t, s, id)
	if after > before*4/5 || len(got) < 400 || len(got) > 520 || got[len(got)-1].Start != seconds(599) {
		t.Errorf("from %d to %d bytes, %d segments left", before, after, len(got))
	}
}

// TestOldestClips: as many of the oldest go at once as have the room that is wanted.
func TestOldestClips(t *testing.T) {
	s := openStore(t, Options{Dir: memoryDir(t), Retention: Retention{KeepAudio: true}})
	id := startRecording(t, s)
	waiting := saveClip(t, s, id, 0, true)
	for i := range 9 {
		saveClip(t, s, id, float64(1+i), false) // 32,000 bytes
	}
	for _, step := range []struct {
		bytes int64
		first float64 // that is left
	}{{1, 2}, {64_000, 4}, {64_001, 7}, {1 << 30, 0}} {
		if gone, err := s.deleteOldest(ctx, step.bytes); !gone || err != nil {
			t.Errorf("%d bytes: %v, %v", step.bytes, gone, err)
		}
		clips, err := s.Clips(ctx, id)
		must(t, err)
		if clips[0].ID != waiting.ID || step.first > 0 && clips[1].Start != seconds(step.first) || step.first == 0 && len(clips) > 1 {
			t.Errorf("%d bytes: left %+v", step.bytes, clips)
		}
	}
	if gone, err := s.deleteOldest(ctx, 1); gone || err != nil {
		t.Errorf("there is none: %v, %v", gone, err)
	}
}

func TestClipFails(t *testing.T) {
	dir := memoryDir(t)
	s := openStore(t, Options{Dir: dir, Retention: Retention{KeepAudio: true}})
	broken := errors.New("broken")
	_, err := s.SaveClip(ctx, Clip{Recording: startRecording(t, s), Type: "wav"}, func(w io.WriteSeeker) error {
		w.Write([]byte("sound"))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, clipsDir)); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}
