package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"earshot/audio"
)

// sample is what a service takes at a moment.
type sample struct {
	minute                               float64 // of what was heard
	memory, descriptors, goroutines, wal float64 // bytes where it is bytes
}

func (s *server) sample() sample {
	s.t.Helper()
	st := s.status()
	proc := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	text, err := os.ReadFile(proc + "status")
	if err != nil {
		s.t.Fatal(err)
	}
	resident, err := strconv.Atoi(string(regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)[1]))
	if err != nil {
		s.t.Fatal(err)
	}
	open, err := os.ReadDir(proc + "fd")
	if err != nil {
		s.t.Fatal(err)
	}
	return sample{
		minute: float64(st.Source.Pos) / audio.SampleRate / 60, memory: float64(resident) * 1024,
		descriptors: float64(len(open)), goroutines: float64(st.Goroutines), wal: float64(st.Store.LogBytes),
	}
}

// until takes samples until so many minutes were heard.
func (s *server) until(minute float64) (all []sample) {
	for len(all) == 0 || all[len(all)-1].minute < minute {
		time.Sleep(2 * time.Second)
		all = append(all, s.sample())
	}
	return all
}

// TestHour hears an hour of talk, faster than it is spoken, while somebody exports it who
// never reads, and for the last third while somebody reads the database who never ends:
// the service takes no more at the end than at the beginning.
func TestHour(t *testing.T) {
	if os.Getenv("EARSHOT_LONG") != "1" {
		t.Skip("an hour of talk; EARSHOT_LONG=1")
	}
	const logLimit = 16 << 20 // cases.md, C105
	p := newProgram(t)
	s := p.serve("--source", talk)
	began := time.Now()
	s.until(6) // it has grown to its size, and an export is larger than a pipe
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	export := p.command("export", "1", "--format", "json")
	export.Stdout = write
	if err := export.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	ended := make(chan error, 1)
	go func() { ended <- export.Wait() }()
	all := s.until(40)
	for _, x := range all {
		if x.wal > logLimit {
			t.Errorf("minute %.0f: the log has %.0f bytes", x.minute, x.wal)
		}
	}

	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.state, "earshot.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	reader, err := db.Begin()
	if err == nil {
		err = reader.QueryRow("SELECT count(*) FROM segments").Scan(new(int))
	}
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, s.until(60)...)
	t.Logf("%.0f minutes in %v; while somebody reads for ever the log grows to %.0f bytes", all[len(all)-1].minute, time.Since(began), all[len(all)-1].wal)
	select {
	case err := <-ended:
		t.Errorf("the export has ended: %v", err)
	default:
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	s.eventually("the log is cut", func(now liveStatus) bool { return now.Store.LogBytes < logLimit })
	flat(t, "resident memory", all, func(x sample) float64 { return x.memory }, 8<<20)
	flat(t, "descriptors", all, func(x sample) float64 { return x.descriptors }, 2)
	flat(t, "goroutines", all, func(x sample) float64 { return x.goroutines }, 4)
	if st := s.status(); st.Store.Degraded || len(st.Problems) > 0 || st.Lost > 0 || st.Pending > 0 {
		t.Errorf("status %+v", st)
	}
	_ = export.Process.Signal(syscall.SIGKILL)
	p.unbroken()
}

// flat compares the middle of the first third with that of the last, and tells the slope.
func flat(t *testing.T, what string, all []sample, of func(sample) float64, most float64) {
	t.Helper()
	third := len(all) / 3
	middle := func(part []sample) float64 {
		var x []float64
		for _, s := range part {
			x = append(x, of(s))
		}
		slices.Sort(x)
		return x[len(x)/2]
	}
	first, last := middle(all[:third]), middle(all[len(all)-third:])
	var mx, my, xy, xx float64
	for _, s := range all {
		mx, my = mx+s.minute/float64(len(all)), my+of(s)/float64(len(all))
	}
	for _, s := range all {
		xy, xx = xy+(s.minute-mx)*(of(s)-my), xx+(s.minute-mx)*(s.minute-mx)
	}
	t.Logf("%s: %.0f in the first third, %.0f in the last, %.1f more per hour (%d samples)", what, first, last, 60*xy/xx, len(all))
	if last > first+most {
		t.Errorf("%s grew from %.0f to %.0f", what, first, last)
	}
}
