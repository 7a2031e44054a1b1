package earshot_test

import (
	"bytes"
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// maxFileBytes is for whatever is committed: weights and recordings stay outside.
const maxFileBytes = 1_500_000

// unwanted are texts that tie the repository to one machine: the hosts of package
// registries, which every client knows by itself, and folders that exist only where
// something was built.
var unwanted = []struct {
	what string
	text *regexp.Regexp
}{
	{"the host of a package registry", regexp.MustCompile(`\b(pypi|pythonhosted|npmjs|crates|maven)[.](org|io|com)\b|\b(proxy|sum)[.]golang[.]org\b|\b(deb|security|archive|ports)[.](debian|ubuntu)[.](org|com)\b`)},
	{"a path of one machine", regexp.MustCompile(`(^|[^\w.~$}])/(work|root)/\w`)},
}

func TestRepository(t *testing.T) {
	for _, name := range tracked(t) {
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxFileBytes {
			t.Errorf("%s has %d bytes, more than %d", name, info.Size(), maxFileBytes)
			continue
		}
		if !info.Mode().IsRegular() {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range inspect(name, data) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func TestRepositoryUnwanted(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"OK", "a.md", "see ../shared/design.md and ~/.local/state, https://go.dev/dl/", ""},
		{"registry", "a.md", "from https://py" + "pi.org/simple", "the host of a package registry"},
		{"machine", "a.sh", "cd /ro" + "ot/earshot", "a path of one machine"},
		{"unformatted", "a.go", "package a\nvar  x = 1\n", "not formatted: run gofmt -w"},
		{"formatted", "a.go", "package a\n\nvar x = 1\n", ""},
		{"binary", "a.wav", "RIFF\x00/ro" + "ot/x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(inspect(c.file, []byte(c.text)), "; "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// inspect returns what is wrong with one file, in words.
func inspect(name string, data []byte) []string {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil // not text
	}
	var problems []string
	for _, u := range unwanted {
		if u.text.Match(data) {
			problems = append(problems, u.what)
		}
	}
	if strings.HasSuffix(name, ".go") {
		if want, err := format.Source(data); err != nil || !bytes.Equal(data, want) {
			problems = append(problems, "not formatted: run gofmt -w")
		}
	}
	return problems
}

// tracked lists the files that are in git or would be with the next `git add`.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		if os.Getenv("CI") != "true" {
			t.Skipf("not in a git repository: %v\n%s", err, stderr(err))
		}
		t.Fatalf("git ls-files: %v\n%s", err, stderr(err))
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}
