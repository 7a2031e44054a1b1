package eval

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadManifest(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Row
	}{
		{"OK", "path\treference\na.wav\thello there\n", []Row{{Path: "a.wav", Reference: "hello there"}}},
		{"columns in any order", "seconds\tnote\treference\tlanguage\tpath\n1.5\tx\thi\ten-US\tb/a.wav\n",
			[]Row{{"b/a.wav", "hi", "en-US", 1.5}}},
		{"quotes are letters", "path\treference\na.wav\t\"say \"\"hi\"\n", []Row{{Path: "a.wav", Reference: `"say ""hi"`}}},
		{"CRLF, mark, empty lines, no last line end", "\ufeffpath\treference\r\n\r\na.wav\thi\r\n \t\r\nb.wav\tho",
			[]Row{{Path: "a.wav", Reference: "hi"}, {Path: "b.wav", Reference: "ho"}}},
		{"no speech", "path\treference\tlanguage\tseconds\na.wav\t\t-\t\n", []Row{{Path: "a.wav"}}},
		{"line ends early", "path\treference\tlanguage\tseconds\na.wav\thi\n", []Row{{Path: "a.wav", Reference: "hi"}}},
		{"empty fields behind", "path\treference\na.wav\thi\t\t\n", []Row{{Path: "a.wav", Reference: "hi"}}},
		{"no rows", "path\treference\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReadManifest(strings.NewReader(c.text), "m.tsv")
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestReadManifestErrors(t *testing.T) {
	const header = "path\treference\tseconds\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "m.tsv:1: empty"},
		{"only empty lines", "\n\n", "m.tsv:1: empty"},
		{"no path", "file\treference\n", `m.tsv:1: header has no column "path"`},
		{"commas", "path,reference\n", `m.tsv:1: header has no column "path"`},
		{"column twice", "path\treference\tpath\n", `m.tsv:1: header has column "path" twice`},
		{"spaces for tabs", header + "a.wav\thi\n\nb.wav ho\n", "m.tsv:4: 1 fields, want at least 2"},
		{"too many fields", header + "a.wav\thi\t1\tx\n", "m.tsv:2: 4 fields, the header names 3"},
		{"no path in line", header + " \thi\n", "m.tsv:2: empty path"},
		{"seconds", header + "a.wav\thi\tlong\n", `m.tsv:2: seconds is "long"`},
		{"negative seconds", header + "a.wav\thi\t-1\n", "m.tsv:2: seconds"},
		{"infinite seconds", header + "a.wav\thi\tInf\n", "m.tsv:2: seconds"},
		{"not a number", header + "a.wav\thi\tNaN\n", "m.tsv:2: seconds"},
		{"not UTF-8", header + "a.wav\t\xff\xfe\n", "m.tsv:2: not UTF-8"},
		{"long line", header + "a.wav\t" + strings.Repeat("x", maxLineBytes) + "\n", "m.tsv:2: line longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := ReadManifest(strings.NewReader(c.text), "m.tsv")
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, %v; want an error that starts with %q", rows, err, c.want)
			}
		})
	}
	broken := errors.New("disk gone")
	if _, err := ReadManifest(iotest.ErrReader(broken), "m.tsv"); !errors.Is(err, broken) {
		t.Errorf("read error: got %v", err)
	}
}

func TestReadManifestOfSharedSets(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(sharedDir(t), "audio", "*", "manifest.tsv"))
	total := 0
	for _, path := range paths {
		total += len(readManifestFile(t, path))
	}
	if len(paths) < 10 || total < 100 {
		t.Errorf("%d rows in %d manifests", total, len(paths))
	}
}

func readManifestFile(t *testing.T, path string) []Row {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := ReadManifest(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// sharedDir is the folder "shared" beside the module.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working folder")
		}
		dir = filepath.Dir(dir)
	}
	shared := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(shared); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("no ../shared with audio and reference values: %v", err)
	}
	return shared
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte("\ufeffpath\treference\tseconds\r\na.wav\thi\t1.5\r\n\n"))
	f.Add([]byte("reference\tlanguage\tpath\n\t-\tx\ny\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := ReadManifest(strings.NewReader(string(data)), "m.tsv")
		if err != nil && (rows != nil || !strings.HasPrefix(err.Error(), "m.tsv:")) {
			t.Fatalf("got %v with error %v", rows, err)
		}
		for _, r := range rows {
			if strings.TrimSpace(r.Path) == "" || strings.ContainsAny(r.Path+r.Reference+r.Language, "\t\n") || !(r.Seconds >= 0) {
				t.Fatalf("bad row %+v", r)
			}
		}
	})
}
