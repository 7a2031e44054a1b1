package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"earshot/app/config"
)

// FuzzLoad wants that nothing panics, and that what was read is read again from what is
// shown.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		commentedOut.ReplaceAllString(config.Example(), "$1$2"),
		"hotwords: \"a \\u00e4 \\\\ # '\"\nprompt: >-\n  a\n  b\nsource: 'USB: #1'\n",
		"? [a]\n: b\n", "a: &b c\nd: *b\n", "<<: {model: a}\n", "!!map {model: a}", "%YAML 1.2\n---\n{}", "[[[[", "model: !a", "\t", "- - -", "audio: |\n gain",
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "earshot.yaml")
		put := func(data []byte) (*config.Loaded, error) {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return config.Load(config.Sources{Path: path})
		}
		l, err := put(data)
		if err != nil {
			return
		}
		again, err := put([]byte(l.Show()))
		if err != nil {
			t.Fatalf("%v\n%s", err, l.Show())
		}
		if !reflect.DeepEqual(again.Config, l.Config) {
			t.Errorf("other values: %+v\n%s", config.Diff(l.Config, again.Config), l.Show())
		}
	})
}
