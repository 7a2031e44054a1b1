package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	t.Cleanup(func() { export.Process.Kill() })
	write.Close()
	ended := make(chan error, 1)
	go func() { ended <- export.Wait() }()
	all := s.until(40)
	largest := slices.MaxFunc(all, func(a, b sample) int { return cmp.Compare(a.wal, b.wal) }).wal
	if t.Logf("beside the export the log has up to %.0f bytes", largest); largest > logLimit {
		t.Errorf("that is more than %d", logLimit)
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
	p.unbroken()
}

// flat compares the middle of the first third with that of the last, and tells the slope
// with its standard error.
func flat(t *testing.T, what string, all []sample, of func(sample) float64, most float64) {
	t.Helper()
	var x, y []float64
	for _, s := range all {
		x, y = append(x, s.minute/60), append(y, of(s))
	}
	third := len(y) / 3
	first, last := median(y[:third]), median(y[len(y)-third:])
	slope, noise := line(x, y)
	t.Logf("%s: %.0f in the first third, %.0f in the last; %.1f ± %.1f per hour (%d samples)", what, first, last, slope, noise, len(y))
	if last > first+most {
		t.Errorf("%s grew from %.0f to %.0f", what, first, last)
	}
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[len(sorted)/2]
}

// line is the slope of the line through points that is nearest to them, with its standard
// error.
func line(x, y []float64) (slope, noise float64) {
	mean := func(v []float64) (sum float64) {
		for _, x := range v {
			sum += x / float64(len(v))
		}
		return sum
	}
	mx, my := mean(x), mean(y)
	var xx, xy, rest float64
	for i := range x {
		xx, xy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my)
	}
	slope = xy / xx
	for i := range x {
		d := y[i] - my - slope*(x[i]-mx)
		rest += d * d
	}
	return slope, math.Sqrt(rest / float64(len(x)-2) / xx)
}
