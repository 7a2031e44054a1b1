package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// SettingsName is the file in the state folder that has what the page changed.
const SettingsName = "settings.yaml"

// Settings are what the page changed: texts by the names of keys, as in
// {"store.keep-audio": "30d"}. A key that is absent has the value of the file.
type Settings map[string]string

// ErrDamaged is the error of settings that are not there as they were written.
var ErrDamaged = errors.New("damaged")

const (
	settingsHead = "# Written by earshot: what was changed on its page. Delete a line, or the whole file,\n# to go back to the configuration file; keep the last line.\n"
	// settingsEnd stands at the end of a whole file. What YAML leaves of a file that was
	// cut could be valid, with other values.
	settingsEnd = "# end of settings\n"
)

// ReadSettings returns the settings in a state folder; there are none where there is no
// file. Keys that this version doesn't know, or that the page may not change, are left
// out and reported, as is damage (ErrDamaged): what is returned can be used in any case.
func ReadSettings(dir string) (Settings, error) {
	entries, problems, err := readSettings(dir)
	s, c := Settings{}, Default()
	for _, e := range entries {
		if p := e.key.set(&c, e.text, e.from, nil); p != nil {
			problems = append(problems, p)
			continue
		}
		s[e.key.Name] = e.key.text(&c)
	}
	return s, errors.Join(err, problems.orNil())
}

func readSettings(dir string) ([]entry, Problems, error) {
	path := filepath.Join(dir, SettingsName)
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("settings of the page: %w", err)
	}
	if !strings.HasSuffix(string(data), settingsEnd) {
		return nil, nil, fmt.Errorf("settings of the page: %s: its last line is missing: %w", path, ErrDamaged)
	}
	found, problems := parse(path, data)
	var entries []entry
	for _, e := range found {
		if !e.key.Page {
			problems = append(problems, &Problem{From: e.from, Key: e.key.Name, Value: e.text, Reason: "the page may not change this", line: e.line})
			continue
		}
		entries = append(entries, e)
	}
	return entries, problems, nil
}

// WriteSettings checks settings and replaces the file in a state folder: whenever the
// power goes, either the old ones or the new ones are there. One caller may write at a
// time. The error for a bad key or value is Problems, and nothing is written.
func WriteSettings(dir string, s Settings, checks Checks) error {
	text, err := s.file(checks)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, SettingsName)
	if err := replaceFile(path, []byte(text)); err != nil {
		return fmt.Errorf("settings of the page: %w", err)
	}
	return nil
}

// file is the text of the file.
func (s Settings) file(checks Checks) (string, error) {
	c := Default()
	var problems Problems
	left := len(s)
	for _, k := range keys() {
		value, found := s[k.Name]
		if !found || !k.Page {
			continue
		}
		left--
		if p := k.set(&c, value, "settings", checks); p != nil {
			problems = append(problems, p)
		}
	}
	if left > 0 {
		problems = append(problems, s.refused()...)
	}
	body := document(func(k key) string {
		if _, found := s[k.Name]; !found {
			return ""
		}
		return k.line(&c)
	})
	return settingsHead + body + settingsEnd, problems.orNil()
}

// refused reports the keys that are none, or not for the page.
func (s Settings) refused() (problems Problems) {
	for name, value := range s {
		if k, known := find(name); !known {
			problems = append(problems, &Problem{From: "settings", Reason: unknown("", name)})
		} else if !k.Page {
			problems = append(problems, &Problem{From: "settings", Key: name, Value: value, Reason: "the page may not change this"})
		}
	}
	return problems
}

// replaceFile puts a file in the place of another one, or of none.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()           // a second time, where the first one failed
			_ = os.Remove(f.Name()) // the next call would overwrite it
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder makes what was created, renamed and removed in a folder last.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
