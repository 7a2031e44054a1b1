package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"earshot/app/config"
)

// muter is who can mute.
type muter int

const (
	byUser   muter = iota // a person: the command, a key
	bySwitch              // a switch on the device, by its position
	muters
)

func (m muter) String() string { return [...]string{"user", "switch"}[m] }

// file is there while m mutes. That a file is there is all it says: whenever the power
// goes, either it is or it isn't, and nothing in it can be damaged.
func (m muter) file() string { return "muted-by-" + m.String() }

// muteSwitch keeps earshot from listening as long as anybody wants it to, over restarts
// too. Where it can't be known whether anybody does, nobody listens.
type muteSwitch struct {
	dir   string
	apply func(muted bool) // is called with each change, one at a time

	mu      sync.Mutex
	by      [muters]bool
	problem error // why the next start would not find it as it is
	since   time.Time
}

// openMuteSwitch returns the switch as it was left in a state folder.
func openMuteSwitch(dir string) *muteSwitch {
	m := &muteSwitch{dir: dir, apply: func(bool) {}}
	for who := range muters {
		_, err := os.Lstat(filepath.Join(dir, who.file()))
		m.by[who] = !errors.Is(err, fs.ErrNotExist)
		if m.by[who] && err != nil {
			m.problem, m.since = err, time.Now()
		}
	}
	return m
}

// muteState is what people are told about it.
type muteState struct {
	Muted   bool     `json:"muted"`
	By      []string `json:"by"`                // user, switch
	Problem string   `json:"problem,omitempty"` // why the next start would not find it so
	since   time.Time
}

func (m *muteSwitch) state() muteState {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := muteState{Muted: m.muted(), By: []string{}}
	for who, on := range m.by {
		if on {
			s.By = append(s.By, muter(who).String())
		}
	}
	if m.problem != nil {
		s.Problem, s.since = m.problem.Error(), m.since
	}
	return s
}

func (m *muteSwitch) muted() bool { return m.by != [muters]bool{} }

// attach lets apply follow the switch, from how it stands on.
func (m *muteSwitch) attach(apply func(muted bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.apply = apply
	apply(m.muted())
}

// set mutes, or no longer does. It takes effect when set returns, whatever can be
// remembered of it.
func (m *muteSwitch) set(who muter, on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.change(who, on)
}

// toggle is what a key does.
func (m *muteSwitch) toggle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.change(byUser, !m.by[byUser])
}

func (m *muteSwitch) change(who muter, on bool) {
	if m.by[who] == on && m.problem == nil {
		return
	}
	m.by[who] = on
	m.apply(m.muted())
	m.problem, m.since = m.remember(), time.Now()
}

// remember makes the switch last as it stands.
func (m *muteSwitch) remember() error {
	for who, on := range m.by {
		path := filepath.Join(m.dir, muter(who).file())
		if on {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return fmt.Errorf("remember that it is muted: %w", err)
			}
			f.Close() // nothing was written
		} else if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remember that it is not muted: %w", err)
		}
	}
	return config.SyncFolder(m.dir)
}
