package config

import (
	"errors"
	"fmt"
	"io/fs"
)

// DefaultPath is where the file is looked for when nothing else is said.
const DefaultPath = "/etc/earshot/earshot.yaml"

// Sources say where a configuration comes from.
type Sources struct {
	// Path is the file. Where it is "", DefaultPath is read if it is there.
	Path string
	// StateDir has the settings of the page; "" reads none.
	StateDir string
	// Overrides come last and win.
	Overrides []Override
	// Checks are run too.
	Checks Checks
}

// Override is a value from the command line or the environment.
type Override struct {
	Key, Value string
	From       string // "--model"
}

// Loaded is a configuration that was checked, and where its values come from.
type Loaded struct {
	Config
	Path  string  // of the file; "" where there is none
	Notes []error // what in settings.yaml was left out, and why: no reason not to start

	checks Checks
	from   map[string]string
}

// From says where the value of a key comes from: "default", FILE:LINE, or a flag.
func (l *Loaded) From(key string) string {
	if from := l.from[key]; from != "" {
		return from
	}
	return "default"
}

// Load reads the file, the settings of the page and the overrides, and checks them. An
// error is Problems, all of them, or says why the file can't be read. That the default
// file is absent is none. Damage of settings.yaml goes to Notes: the device has to
// listen, and nobody may be there to repair a file.
func Load(s Sources) (*Loaded, error) {
	l := &Loaded{Config: Default(), checks: s.Checks, from: map[string]string{}}
	problems, err := l.readFile(s.Path)
	if err != nil {
		return nil, err
	}
	if s.StateDir != "" {
		l.readSettings(s.StateDir)
	}
	for _, o := range s.Overrides {
		k, known := find(o.Key)
		if !known {
			panic("BUG: override of " + o.Key)
		}
		problems = append(problems, l.apply([]entry{{key: k, text: o.Value, from: o.From}})...)
	}
	problems = append(problems, l.together()...)
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Loaded) readFile(path string) (Problems, error) {
	l.Path = path
	if path == "" {
		l.Path = DefaultPath
	}
	data, err := readFile(l.Path)
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		l.Path = ""
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	entries, problems := parse(l.Path, data)
	return append(problems, l.apply(entries)...).byLine(), nil
}

func (l *Loaded) readSettings(dir string) {
	entries, problems, err := readSettings(dir)
	if err != nil {
		l.Notes = append(l.Notes, err)
	}
	for _, p := range append(problems, l.apply(entries)...) {
		l.Notes = append(l.Notes, p)
	}
}

func (l *Loaded) apply(entries []entry) (problems Problems) {
	for _, e := range entries {
		if p := e.key.set(&l.Config, e.text, e.from, l.checks); p != nil {
			p.line = e.line
			problems = append(problems, p)
			continue
		}
		l.from[e.key.Name] = e.from
	}
	return problems
}

// together checks what depends on more than one key. None of these may be changed by
// the page, which sees one at a time.
func (l *Loaded) together() Problems {
	e := l.Endpointing
	if e.EndThreshold <= e.Threshold {
		return nil
	}
	const key = "endpointing.end-threshold"
	from := l.From(key)
	if from == "default" {
		from = l.From("endpointing.threshold")
	}
	return Problems{{From: from, Key: key, Value: fmt.Sprint(e.EndThreshold), Reason: fmt.Sprintf("at most threshold, which is %v", e.Threshold)}}
}

// Change is a key with two values.
type Change struct {
	Key, Old, New string
	Live          bool // it can take effect at once; otherwise with the next start
}

// Diff lists what is not the same in two configurations.
func Diff(before, after Config) []Change {
	var list []Change
	for _, k := range keys() {
		if a, b := k.text(&before), k.text(&after); a != b {
			list = append(list, Change{Key: k.Name, Old: a, New: b, Live: k.Live})
		}
	}
	return list
}
