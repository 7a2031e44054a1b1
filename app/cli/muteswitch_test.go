package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// applied is what a switch said to whom it is attached.
func applied(m *muteSwitch) *[]bool {
	var all []bool
	m.attach(func(muted bool) { all = append(all, muted) })
	return &all
}

// TestMuteSwitch: it is muted as long as anybody mutes, and a restart finds it as it was.
func TestMuteSwitch(t *testing.T) {
	dir := t.TempDir()
	m := openMuteSwitch(dir)
	all := applied(m)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "not muted"},
		{m.toggle, "muted by user"},
		{func() { m.set(bySwitch, true) }, "muted by user and switch"},
		{func() { m.set(byUser, false) }, "muted by switch"},
		{func() { m.set(bySwitch, true) }, "muted by switch"},
		{m.toggle, "muted by user and switch"},
		{func() { m.set(bySwitch, false) }, "muted by user"},
		{m.toggle, "not muted"},
	} {
		step.do()
		for _, at := range []*muteSwitch{m, openMuteSwitch(dir)} {
			if s := at.state(); s.String() != step.want || s.Problem != "" {
				t.Errorf("got %+v, want %s", s, step.want)
			}
		}
	}
	if want := []bool{false, true, true, true, true, true, false}; !slices.Equal(*all, want) {
		t.Errorf("applied %v, want %v", *all, want)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestMuteSwitchForgets: where nothing can be remembered it still works, and says so.
func TestMuteSwitchForgets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	m := openMuteSwitch(dir)
	all := applied(m)
	m.set(byUser, true)
	if s := m.state(); !s.Muted || !strings.Contains(s.Problem, dir) || !slices.Equal(*all, []bool{false, true}) {
		t.Errorf("%+v, applied %v", s, *all)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	m.set(byUser, true) // once more, now that it can be
	if s := m.state(); s.Problem != "" || !openMuteSwitch(dir).muted() {
		t.Errorf("%+v", s)
	}
}

// TestMuteSwitchUnknown: who can't tell whether somebody muted doesn't listen.
func TestMuteSwitchUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := openMuteSwitch(file).state(); !s.Muted || s.Problem == "" { // "not a directory"
		t.Errorf("%+v", s)
	}
}
