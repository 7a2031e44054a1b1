package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"earshot/app/config"
	"earshot/app/export"
	"earshot/store"
	"earshot/whisper/backendtest"
)

// logged is what a service writes to standard error.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// ownState makes a state folder for the test, with the models that are here.
func ownState(t *testing.T) {
	t.Helper()
	models, state := filepath.Dir(backendtest.Model(t, "tiny.en").PackedPath()), t.TempDir()
	if err := os.Symlink(models, filepath.Join(state, "models")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EARSHOT_STATE", state)
}

// startService runs earshot serve with a state folder of its own. end ends it and
// returns its exit status.
func startService(t *testing.T, args ...string) (address string, log *logged, end func() int) {
	t.Helper()
	return startServiceAt(t, time.Now, args...)
}

// startServiceAt gives it another wall clock.
func startServiceAt(t *testing.T, now func() time.Time, args ...string) (address string, log *logged, end func() int) {
	t.Helper()
	ownState(t)
	return runService(t, strings.NewReader(""), now, args...)
}

// startServiceOn is startService with a standard input.
func startServiceOn(t *testing.T, in io.Reader, args ...string) (address string, log *logged, end func() int) {
	t.Helper()
	ownState(t)
	return runService(t, in, time.Now, args...)
}

// restartService runs earshot serve with the state folder that there is.
func restartService(t *testing.T, args ...string) (address string, log *logged, end func() int) {
	t.Helper()
	return runService(t, strings.NewReader(""), time.Now, args...)
}

func runService(t *testing.T, in io.Reader, now func() time.Time, args ...string) (address string, log *logged, end func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	ctx, stop := context.WithCancel(t.Context())
	log = &logged{}
	status := make(chan int, 1)
	go func() {
		env := &Env{Stdin: in, Stdout: io.Discard, Stderr: log, Now: now}
		status <- runIn(ctx, env, append([]string{"serve", "--listen", address, "--model", "tiny.en", "--language", "en"}, args...))
	}()
	ended := false
	end = func() int {
		if ended {
			return -1
		}
		ended = true
		stop()
		select {
		case s := <-status:
			return s
		case <-time.After(30 * time.Second):
			t.Fatal("the service does not end")
			return -1
		}
	}
	t.Cleanup(func() { end() })
	return address, log, end
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never:", what)
		}
	}
}

func statusOf(address string) (s serverStatus, err error) {
	answer, err := http.Get("http://" + address + "/api/status")
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	return s, json.NewDecoder(answer.Body).Decode(&s)
}

// TestServe listens to a recording and asks for what was said, in every way that there
// is, while the service runs.
func TestServe(t *testing.T) {
	address, log, end := startService(t, "--source", "file:"+sample+"?speed=max")
	eventually(t, "the source ends", func() bool {
		s, err := statusOf(address)
		return err == nil && s.Source.State == "ended" && s.Segments > 0 && s.Lag == 0 && !s.Speaking
	})
	if answer, err := http.Get("http://" + address + "/healthz"); err != nil || answer.StatusCode != 200 {
		t.Errorf("/healthz: %v, %v", answer, err)
	}
	status, out, errs := run(t, nil, "recordings", "--json")
	var listed struct {
		Recordings []struct {
			ID    int64  `json:"id"`
			State string `json:"state"`
		} `json:"recordings"`
	}
	if err := json.Unmarshal([]byte(out), &listed); err != nil || status != 0 || len(listed.Recordings) != 1 || listed.Recordings[0].State != "done" {
		t.Fatalf("status %d, %s%s: %v", status, out, errs, err)
	}
	_, out, _ = run(t, nil, "export", "1", "--format", "txt")
	near(t, "txt", out, sampleText(t), 0)
	_, out, _ = run(t, nil, "export", "1", "--format", "srt")
	transcript, err := export.Read(strings.NewReader(out), export.SRT)
	if err != nil || len(transcript.Segments) == 0 {
		t.Fatalf("srt %q: %v", out, err)
	}
	if first := transcript.Segments[0]; first.Start > 1.5 {
		t.Errorf("the first cue begins at %v", first.Start)
	}
	longest := ""
	for _, w := range strings.FieldsFunc(sampleText(t), func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') }) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	if _, out, errs = run(t, nil, "search", longest); !strings.Contains(out, longest) {
		t.Errorf("search %s: %s%s", longest, out, errs)
	}
	if status, out, errs = run(t, nil, "status", "--listen", address); status != 0 || !strings.Contains(out, "tiny.en") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if s := end(); s != 0 {
		t.Errorf("exit status %d, %s", s, log)
	}
	if status, _, errs = run(t, nil, "status", "--listen", address); status != exitNothing || !strings.Contains(errs, "does not answer") {
		t.Errorf("after the end: status %d, %s", status, errs)
	}
}

// TestClockNotSet: a board without a battery starts in 1970. The service says so, and goes
// on as ever; the clock is set by the time that the next recording begins.
func TestClockNotSet(t *testing.T) {
	var set atomic.Bool
	address, log, end := startServiceAt(t, func() time.Time {
		if set.Load() {
			return time.Now()
		}
		return time.Unix(100, 0)
	}, "--source", "file:"+sample+"?speed=max")
	eventually(t, "the source ends", func() bool {
		s, err := statusOf(address)
		return err == nil && s.Source.State == "ended" && s.Segments > 0 && s.Lag == 0 && !s.Speaking
	})
	clockReason := func() string {
		s, err := statusOf(address)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range s.Store.Problems {
			if p.Kind == store.ProblemClock {
				return p.Reason
			}
		}
		return ""
	}
	if reason := clockReason(); !strings.Contains(reason, "not set") {
		t.Errorf("the clock: %q", reason)
	}
	if status, out, errs := run(t, nil, "recordings"); status != 0 || !strings.Contains(out, "clock not set") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	_, out, _ := run(t, nil, "export", "1", "--format", "txt")
	near(t, "txt", out, sampleText(t), 0)
	if status, out, errs := run(t, nil, "status", "--listen", address); status != 0 || !strings.Contains(out, "problem     store, clock") || strings.Contains(out, "since 0001") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	set.Store(true)
	if reason := clockReason(); reason != "" {
		t.Errorf("now that it is set: %q", reason)
	}
	if s := end(); s != 0 {
		t.Errorf("exit status %d, %s", s, log)
	}
}

// TestServeRefuses: what is wrong is said at once.
func TestServeRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--listen 0.0.0.0:0", "other machines could reach it"},
		{"--model nonesuch", "model nonesuch is not in"},
		{"--source file:nonesuch.wav", "nonesuch.wav"},
		{"--language tlh", "tlh"},
		{"--threads -1", "threads"},
	} {
		args := append([]string{"serve", "--listen", "127.0.0.1:0"}, strings.Fields(c.args)...)
		t.Run(c.args, func(t *testing.T) {
			ownState(t)
			if status, _, errs := run(t, nil, args...); status != exitNothing || !strings.Contains(errs, c.want) {
				t.Errorf("status %d: %s", status, errs)
			}
		})
	}
}

// TestForeignHost: a page that reaches this machine by another name is refused.
func TestForeignHost(t *testing.T) {
	address, _, _ := startService(t, "--source", "file:"+sample)
	eventually(t, "it answers", func() bool { _, err := statusOf(address); return err == nil })
	r, err := http.NewRequest(http.MethodGet, "http://"+address+"/api/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example:80"
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("%v, %v", answer, err)
	}
}

// TestSoundOptions: what is not said stays with the source, and the source knows the rest.
func TestSoundOptions(t *testing.T) {
	for _, c := range []struct {
		config.Audio
		want string
	}{
		{config.Default().Audio, "channel=mix"},
		{config.Audio{Gain: "off", HighPass: "on", Channel: "2"}, "channel=2&filter=on&gain=off"},
	} {
		if got := soundOptions(c.Audio); got != c.want {
			t.Errorf("%+v: %s, want %s", c.Audio, got, c.want)
		}
	}
}
