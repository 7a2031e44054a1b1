package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/app/export"
)

// TestKilled ends the service in the middle of its work, as a power cut would, again and
// again: what could be read once is there for ever.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	j := join(t)
	random := rand.New(rand.NewPCG(6, 1))
	var known map[string]bool
	var ready []float64
	check := func() {
		t.Helper()
		now := p.everything()
		for segment := range known {
			if !now[segment] {
				t.Errorf("lost: %s", segment)
			}
		}
		known = now
	}
	for i := range 10 {
		began := time.Now()
		s := p.serve("--source", "file:"+j.path+"?speed=max")
		ready = append(ready, time.Since(began).Seconds())
		if i%2 == 0 { // on a busy machine nothing is written down so soon
			s.eventually("something is written down", func(now liveStatus) bool { return now.Segments > 0 })
		}
		time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		check()
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		_ = s.end(syscall.SIGKILL)
		check()
	}
	if len(known) == 0 {
		t.Error("nothing was ever written down")
	}
	t.Logf("%d segments; ready after %s s", len(known), spread(ready))
}

// everything is every segment of every recording.
func (p program) everything() map[string]bool {
	p.t.Helper()
	all := map[string]bool{}
	for _, r := range p.recordings() {
		for _, g := range p.segments(r.ID) {
			all[fmt.Sprintf("recording %d, %.2f to %.2f: %s", r.ID, g.Start, g.End, g.Text)] = true
		}
	}
	return all
}

// segments are those of a recording.
func (p program) segments(id int) []export.Segment {
	p.t.Helper()
	transcript, err := export.Read(strings.NewReader(p.output("export", fmt.Sprint(id), "--format", "json")), export.JSON)
	if err != nil {
		p.t.Fatal(err)
	}
	return transcript.Segments
}

// listed is a recording in `earshot recordings --json`.
type listed struct {
	ID       int    `json:"id"`
	State    string `json:"state"`
	Segments int    `json:"segments"`
}

func (p program) recordings() []listed {
	p.t.Helper()
	var list struct {
		Recordings []listed `json:"recordings"`
	}
	out := p.output("recordings", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		p.t.Fatalf("%s: %v", out, err)
	}
	return list.Recordings
}
