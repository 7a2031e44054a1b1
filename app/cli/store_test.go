package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/app/export"
	"earshot/store"
)

// stored makes a store in a state folder of its own, left open as by `earshot serve`,
// with two recordings of which the second goes on.
func stored(t *testing.T) *store.Store {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("EARSHOT_STATE", dir)
	ctx := context.Background()
	began := time.Now().Add(-time.Hour)
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for n, title := range []string{"first talk", ""} {
		id, err := s.StartRecording(ctx, store.Recording{Title: title, Source: "USB Audio", Started: began, Task: "transcribe", Language: "en", Model: "tiny.en"})
		if err != nil {
			t.Fatal(err)
		}
		var u store.Utterance
		for i := range 3 {
			at := time.Duration(2*i) * time.Second
			u.Segments = append(u.Segments, store.Segment{
				Start: at, End: at + time.Second, Wall: began.Add(at), Language: "en", Backend: "cpu",
				Text:  fmt.Sprintf("Sentence %d of talk %d.", i, n+1),
				Words: []store.Word{{Start: at, End: at + time.Second, Text: "Sentence", Probability: 0.5}},
			})
		}
		u.Events = []store.Event{{Kind: "gap", At: 5 * time.Second, Until: 6 * time.Second, Detail: "unplugged"}}
		if _, err := s.Append(ctx, id, u); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := s.FinishRecording(ctx, id, 7*time.Second); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func TestRecordings(t *testing.T) {
	stored(t)
	status, out, errs := run(t, nil, "recordings", "--json")
	if status != 0 || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	var got struct {
		Recordings []struct {
			ID       int64
			Title    string
			State    string
			Started  time.Time
			Duration float64
			Segments int
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if r := got.Recordings; len(r) != 2 || r[0].ID != 2 || r[0].State != "recording" || r[1].ID != 1 || r[1].Title != "first talk" ||
		r[1].Duration != 7 || r[1].Segments != 3 || time.Since(r[1].Started).Round(time.Hour) != time.Hour {
		t.Errorf("got %+v", got)
	}
	if !strings.HasPrefix(strings.Join(strings.Fields(out), ""), `{"recordings":[{"id":2,`) {
		t.Errorf("got %s", out)
	}
	if _, out, _ = run(t, nil, "recordings"); !strings.Contains(out, "first talk") || strings.Count(out, "\n") != 3 || strings.Index(out, "first talk") < strings.Index(out, "USB Audio") {
		t.Errorf("got %s", out)
	}
}

func TestNothingRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	t.Setenv("EARSHOT_STATE", dir)
	status, out, _ := run(t, nil, "recordings", "--json")
	if status != 0 || strings.Join(strings.Fields(out), "") != `{"recordings":[]}` {
		t.Errorf("status %d, got %s", status, out)
	}
	status, out, errs := run(t, nil, "search", "word")
	if status != 0 || out != "" || !strings.Contains(errs, "nothing") {
		t.Errorf("status %d, got %q, %q", status, out, errs)
	}
	if status, _, errs = run(t, nil, "export", "1"); status != 2 || !strings.Contains(errs, "nothing has been recorded yet") {
		t.Errorf("status %d, got %q", status, errs)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store was made: %v", err)
	}
}

func TestSearchStored(t *testing.T) {
	stored(t)
	status, out, _ := run(t, nil, "search", "--json", "sentence", "1")
	var got struct {
		Results []struct {
			Recording, Segment int64
			Start              float64
			Text, Snippet      string
			Marks              []int
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s", status, err, out)
	}
	if r := got.Results; len(r) != 4 || r[0].Recording != 2 || r[0].Start != 2 || r[1].Recording != 1 || r[3].Start != 0 || r[0].Snippet[r[0].Marks[0]:r[0].Marks[1]] != "Sentence" {
		t.Errorf("got %+v", r)
	}
	if _, out, _ = run(t, nil, "search", `"talk 1"`); strings.Count(out, "\n") != 4 || !strings.Contains(out, "Sentence 2 of talk 1.") {
		t.Errorf("got %s", out)
	}
}

func TestExportStored(t *testing.T) {
	s := stored(t)
	for _, f := range export.Formats() {
		for id := 1; id <= 2; id++ {
			status, out, errs := run(t, nil, "export", fmt.Sprint(id), "--format", string(f))
			if status != 0 || errs != "" {
				t.Fatalf("%s: status %d, %s", f, status, errs)
			}
			want := fmt.Sprintf("Sentence 0 of talk %[1]d. Sentence 1 of talk %[1]d. Sentence 2 of talk %[1]d.", id)
			got := export.Transcript{Segments: []export.Segment{{Text: out}}}
			if f != export.TXT && f != export.MD {
				var err error
				if got, err = export.Read(strings.NewReader(out), f); err != nil {
					t.Fatalf("%s: %v", f, err)
				}
			}
			if text := got.Text(); text != want && f != export.MD {
				t.Errorf("%s: %q, want %q", f, text, want)
			}
			if f == export.JSON && (got.Title != []string{"first talk", "USB Audio"}[id-1] || len(got.Segments[1].Words) != 1 ||
				len(got.Warnings) != 1 || got.Warnings[0] != export.Warning{Start: 5, End: 6, Text: "gap: unplugged"}) {
				t.Errorf("json: %+v", got)
			}
		}
	}
	// What is exported while a recording goes on is the beginning of what comes later.
	_, before, _ := run(t, nil, "export", "2", "--format", "srt")
	if _, err := s.Append(context.Background(), 2, store.Utterance{Segments: []store.Segment{{Start: 9 * time.Second, End: 10 * time.Second, Text: "Later."}}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "out.srt")
	if status, _, errs := run(t, nil, "export", "2", "--format", "srt", "-o", path); status != 0 {
		t.Fatal(errs)
	}
	after, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(after), before) || !strings.Contains(string(after), "Later.") {
		t.Errorf("%v: first %q, then %q", err, before, after)
	}
	for _, args := range [][]string{{"export", "99"}, {"export", "x"}, {"export", "1", "--format", "doc"}, {"export"}} {
		if status, out, errs := run(t, nil, args...); status != 2 || out != "" || errs == "" {
			t.Errorf("%v: status %d, %q, %q", args, status, out, errs)
		}
	}
}

func TestDeleteStored(t *testing.T) {
	stored(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if status, _, errs := run(t, nil, "backup", copied); status != 0 {
		t.Fatal(errs)
	}
	if status, _, errs := run(t, nil, "delete", "1", "99"); status != 1 || !strings.Contains(errs, "99") {
		t.Errorf("status %d, %s", status, errs)
	}
	if _, out, _ := run(t, nil, "recordings"); strings.Contains(out, "first talk") || !strings.Contains(out, "USB Audio") {
		t.Errorf("listed: %s", out)
	}
	for _, dir := range []string{filepath.Dir(copied), os.Getenv("EARSHOT_STATE")} {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, f := range files {
			if data, _ := os.ReadFile(filepath.Join(dir, f.Name())); strings.Contains(string(data), "of talk 1.") {
				t.Errorf("%s still has the text", f.Name())
			}
		}
	}
	if status, _, errs := run(t, nil, "prune", "--text-age", "1ns"); status != 0 {
		t.Errorf("status %d, %s", status, errs)
	}
	if _, out, _ := run(t, nil, "search", "sentence"); out != "" {
		t.Errorf("found %s", out)
	}
	if status, _, errs := run(t, nil, "delete", "one"); status != 2 || !strings.Contains(errs, `"one"`) {
		t.Errorf("status %d, %s", status, errs)
	}
}

// TestDamagedStore says what happened, and goes on.
func TestDamagedStore(t *testing.T) {
	stored(t).Close()
	dir := os.Getenv("EARSHOT_STATE")
	path := filepath.Join(dir, "earshot.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[:100], make([]byte, 100))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		status, out, errs := run(t, nil, "export", "1")
		if status != 0 || !strings.Contains(out, "Sentence 2 of talk 1.") || !strings.Contains(errs, "damaged") {
			t.Errorf("status %d, %q, %q", status, out, errs)
		}
	}
	if status, _, errs := run(t, nil, "prune", "--set-aside"); status != 0 {
		t.Errorf("status %d, %s", status, errs)
	}
	if status, _, errs := run(t, nil, "recordings"); status != 0 || errs != "" {
		t.Errorf("status %d, %s", status, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "earshot-damaged-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
