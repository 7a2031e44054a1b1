package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/store/disktest"
)

// talk is a source that says the same ten seconds again and again, as fast as it is
// written down.
const talk = "loop:../../audio/testdata/sample.wav?speed=max"

// configured writes a configuration file and returns the flag for it.
func configured(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "earshot.yaml")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--config=" + path
}

// goesOn waits until some more texts are stored.
func (s *server) goesOn() {
	s.t.Helper()
	before := s.status().Segments
	s.eventually("more is stored", func(now liveStatus) bool { return now.Segments >= before+3 && now.Unstored == 0 })
}

// keeps fails where something that was read before is not there any more.
func (p program) keeps(known map[string]bool) {
	p.t.Helper()
	now := p.everything()
	for segment := range known {
		if !now[segment] {
			p.t.Errorf("lost: %s", segment)
		}
	}
}

// TestFullDisk: on a full disk the service goes on, says so, and keeps what is said in
// memory until there is room.
func TestFullDisk(t *testing.T) {
	p := programIn(t, disktest.Small(t, "12m"))
	config := configured(t, "store:\n  min-free: 1MB\n  keep-audio: 1d\n")
	s := p.serve("--source", talk, config)
	s.goesOn()
	if st := s.status(); st.Store.Degraded {
		t.Errorf("problems before: %+v", st.Store.Problems)
	}
	known := p.everything()
	filler := filepath.Join(p.state, "filler")
	s.eventually("the disk is full", func(now liveStatus) bool {
		disktest.Fill(t, filler) // also what the service has freed
		return now.problem("full") != "" && now.Unstored > 0
	})
	if st := s.status(); !st.Store.Degraded || st.problem("low-space") == "" || st.Source.State != "running" || st.Lost > 0 {
		t.Errorf("status %+v", st)
	}
	p.keeps(known) // it can be read
	known = p.everything()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	s.eventually("all is stored", func(now liveStatus) bool { return now.Unstored == 0 && !now.Store.Degraded && len(now.Problems) == 0 })
	s.goesOn()
	p.keeps(known)
	known = p.everything()
	_ = s.end(syscall.SIGKILL)
	p.keeps(known)
	p.unbroken()

	// It starts on a full disk too.
	disktest.Fill(t, filler)
	s = p.serve("--source", talk, config)
	p.keeps(known)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	s.goesOn()
}

// unbroken fails where something that was said was not written down: each sentence of the
// sample takes three to four seconds, and it begins again after ten.
func (p program) unbroken() {
	p.t.Helper()
	for _, r := range p.recordings() {
		last := 0.0
		for _, g := range p.segments(r.ID) {
			if g.Start-last > 8 {
				p.t.Errorf("recording %d: nothing from %.1f to %.1f s", r.ID, last, g.Start)
			}
			last = g.End
		}
	}
}

// TestReadOnlyFolder: in a folder that can't be written, what is there can be read, and
// what is said waits until it can.
func TestReadOnlyFolder(t *testing.T) {
	p := newProgram(t)
	writable := disktest.ReadOnly(t, p.state)
	var errs strings.Builder
	cmd := p.command("serve", "--listen", "off", "--model", "tiny.en", "--source", talk)
	cmd.Stderr = &errs
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(errs.String(), p.state) || !strings.Contains(errs.String(), "read-only file system") {
		t.Errorf("with nothing in it: %v, %s", err, errs.String())
	}
	writable()
	s := p.serve("--source", talk)
	s.goesOn()
	_ = s.end(syscall.SIGKILL) // so that there is a log beside the database
	known := p.everything()

	writable = disktest.ReadOnly(t, p.state)
	s = p.serve("--source", talk)
	st := s.eventually("what is said waits", func(now liveStatus) bool { return now.Unstored > 2 })
	if !strings.Contains(st.problem("read-only"), "read-only file system") || !st.Store.Degraded || len(st.Problems) == 0 || st.Lost > 0 {
		t.Errorf("status %+v", st)
	}
	p.keeps(known)
	writable()
	s.eventually("all is stored", func(now liveStatus) bool { return now.Unstored == 0 && !now.Store.Degraded && len(now.Problems) == 0 })
	s.goesOn()
	p.keeps(known)
	p.unbroken()
}

// backups are the copies that the service made by itself.
func (p program) backups() []string {
	list, _ := filepath.Glob(filepath.Join(p.state, "backups", "earshot-*.db"))
	return list
}

// backedUp waits until all that is stored now is in a backup.
func (s *server) backedUp() {
	s.t.Helper()
	for range 2 { // the next one may have begun before
		before := s.backups()
		s.eventually("a backup", func(liveStatus) bool { return !slices.Equal(s.backups(), before) })
	}
}

const oftenBackedUp = "store:\n  backup-every: 1s\n"

// TestDamagedAtStart: a damaged database is set aside, and recording begins at once; what
// was committed comes back.
func TestDamagedAtStart(t *testing.T) {
	p := newProgram(t)
	s := p.serve("--source", talk, configured(t, oftenBackedUp))
	s.goesOn()
	known := p.everything()
	s.backedUp()
	_ = s.end(syscall.SIGTERM)
	for i, damage := range []func([]byte) []byte{
		func(data []byte) []byte { return data[:len(data)/2] },
		func(data []byte) []byte {
			for at := 4096 + 8; at < len(data); at += 4096 {
				data[at] ^= 0xff // where it is told what each page holds
			}
			return data
		},
	} {
		p.damage("earshot.db", damage)
		began := time.Now()
		s = p.serve("--source", talk, configured(t, oftenBackedUp))
		took := time.Since(began)
		aside := fmt.Sprintf("set aside as earshot-damaged-%d.db", i+1)
		st := s.eventually("the rows are back", func(now liveStatus) bool {
			reason := now.problem("salvage")
			return strings.Contains(reason, aside) && !strings.Contains(reason, "being brought back")
		})
		t.Logf("ready after %v; %s", took, st.problem("salvage"))
		s.goesOn()
		p.keeps(known)
		known = p.everything()
		s.backedUp() // where pages are damaged, their first rows come from there
		_ = s.end(syscall.SIGTERM)
	}
	s = p.serve("--source", talk)
	if st := s.status(); len(st.Store.Problems) != 2 {
		t.Errorf("two files are set aside: %+v", st.Store.Problems)
	}
	p.output("prune", "--set-aside")
	s.eventually("all is well", func(now liveStatus) bool { return !now.Store.Degraded })
	p.keeps(known)
}

// damage changes a file of the state folder in its place.
func (p program) damage(name string, how func([]byte) []byte) {
	p.t.Helper()
	path := filepath.Join(p.state, name)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, how(data), 0o600) // the same file, also for who has it open
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestDamagedInUse: damage that is found while the service runs is set aside by it, and
// it goes on without a restart.
func TestDamagedInUse(t *testing.T) {
	p := newProgram(t)
	s := p.serve("--source", talk, configured(t, oftenBackedUp))
	s.goesOn()
	known := p.everything()
	s.backedUp()
	for _, name := range []string{"earshot.db", "earshot.db-wal"} {
		p.damage(name, func(data []byte) []byte {
			for at := 4096; at < len(data); at += 4096 {
				copy(data[at:], bytes.Repeat([]byte{0xa5}, 64))
			}
			return data
		})
	}
	st := s.eventually("the rows are back", func(now liveStatus) bool {
		return strings.Contains(now.problem("salvage"), "rows were brought back") && now.problem("damaged") == ""
	})
	t.Log(st.problem("salvage"))
	s.goesOn()
	p.keeps(known)
	if st := s.status(); st.Lost > 0 || len(st.Problems) > 0 {
		t.Errorf("status %+v", st)
	}
	if list := p.recordings(); len(list) < 2 || list[0].State != "recording" {
		t.Errorf("recordings %+v", list)
	}
	if !strings.Contains(s.logged(), "the store is opened again") {
		t.Error("the log does not say what happened")
	}
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, s.logged())
	}
}
