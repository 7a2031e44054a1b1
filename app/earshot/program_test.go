package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot/app/export"
	"earshot/whisper/backendtest"
)

// asProgram, in the environment, makes the test binary earshot itself.
const asProgram = "EARSHOT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is earshot as a process, with a state folder of its own.
type program struct {
	t     *testing.T
	env   []string
	state string
}

func newProgram(t *testing.T, env ...string) program {
	t.Helper()
	return programIn(t, t.TempDir(), env...)
}

// programIn has its state in a folder.
func programIn(t *testing.T, state string, env ...string) program {
	t.Helper()
	backendtest.Silero(t)
	models := filepath.Dir(backendtest.Model(t, "tiny.en").PackedPath())
	if err := os.Symlink(models, filepath.Join(state, "models")); err != nil {
		t.Fatal(err)
	}
	return program{t, append(env, "EARSHOT_STATE="+state, asProgram+"=1"), state}
}

func (p program) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), p.env...)
	return cmd
}

// output carries out a command that must succeed.
func (p program) output(args ...string) string {
	p.t.Helper()
	var out, errs strings.Builder
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return out.String()
}

// server is `earshot serve` while it runs.
type server struct {
	*program
	cmd     *exec.Cmd
	address string // of its status page
	ended   chan struct{}

	mu  sync.Mutex
	log []string
}

// serve starts the service, and waits until it answers.
func (p program) serve(args ...string) *server {
	p.t.Helper()
	s := &server{program: &p, ended: make(chan struct{})}
	s.cmd = p.command(append([]string{"serve", "--listen", "127.0.0.1:0", "--model", "tiny.en", "--language", "en", "--log-level", "debug"}, args...)...)
	errs, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { s.end(syscall.SIGKILL) })
	listening := make(chan string, 1)
	go func() {
		defer close(s.ended)
		address := regexp.MustCompile(`msg=listening address=http://(\S+)`)
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			s.mu.Lock()
			s.log = append(s.log, lines.Text())
			s.mu.Unlock()
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				listening <- m[1]
			}
		}
	}()
	select {
	case s.address = <-listening:
	case <-s.ended:
		p.t.Fatalf("the service has ended: %s", s.logged())
	case <-time.After(time.Minute):
		p.t.Fatalf("the service doesn't listen: %s", s.logged())
	}
	return s
}

func (s *server) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// end ends the service with a signal.
func (s *server) end(signal os.Signal) error {
	_ = s.cmd.Process.Signal(signal) // it may be gone
	<-s.ended
	return s.cmd.Wait()
}

// status asks for it as a script does.
func (s *server) status() (status liveStatus) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.output("status", "--json", "--listen", s.address)), &status); err != nil {
		s.t.Fatal(err)
	}
	return status
}

// eventually waits until the status is as it should be.
func (s *server) eventually(what string, holds func(liveStatus) bool) liveStatus {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		status := s.status()
		if holds(status) {
			return status
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("never: %s; %+v\n%s", what, status, s.logged())
		}
	}
}

// liveStatus is what the tests look at of /api/status.
type liveStatus struct {
	Source struct {
		State   string `json:"state"`
		Pos     int64  `json:"pos"`
		Missing int64  `json:"missing_samples"`
	} `json:"source"`
	Goroutines int     `json:"goroutines"`
	Speaking   bool    `json:"speaking"`
	Lag        float64 `json:"lag_seconds"`
	Pending    int     `json:"pending_clips"`
	Unstored   int     `json:"unstored"`
	Lost       int     `json:"lost"`
	Segments   int     `json:"segments"`
	Problems   []any   `json:"problems"`
	Store      struct {
		Degraded bool           `json:"degraded"`
		Problems []storeProblem `json:"problems"`
		LogBytes int64          `json:"log_bytes"`
	} `json:"store"`
}

type storeProblem struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
}

// problem is the reason of a problem of the store; empty for none of that kind.
func (s liveStatus) problem(kind string) string {
	for _, p := range s.Store.Problems {
		if p.Kind == kind {
			return p.Reason
		}
	}
	return ""
}

// newest exports the only recording, which is done.
func (p program) newest() []export.Segment {
	p.t.Helper()
	if list := p.recordings(); len(list) != 1 || list[0].State != "done" {
		p.t.Fatalf("the recordings are %+v", list)
	}
	_, segments := p.srt()
	return segments
}

// srt exports the first recording.
func (p program) srt() (text string, segments []export.Segment) {
	p.t.Helper()
	text = p.output("export", "1", "--format", "srt")
	transcript, err := export.Read(strings.NewReader(text), export.SRT)
	if err != nil {
		p.t.Fatalf("%v in %s", err, text)
	}
	return text, transcript.Segments
}
