// Package earshot_test holds the tests of the repository as a whole: who may
// import whom (this file), and what may be committed (repository_test.go).
package earshot_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	module     = "earshot"
	everything = "..."
)

// mayImport names, for every package of ours, the packages of ours that it may
// import. "a/..." is a and all below it. What is absent is forbidden. Packages
// that do not exist yet have their row already.
var mayImport = map[string][]string{
	"cpu":          {},
	"store":        {},
	"npu":          {"npu/neuron", "npu/graph"},
	"npu/neuron":   {},
	"npu/graph":    {},
	"npu/sim":      {}, // C, and the test that drives it
	"npu/tflite":   {"npu/graph"},
	"audio":        {},
	"audio/mel":    {"audio", "cpu"},
	"audio/vad":    {"audio", "cpu"},
	"whisper":      {"whisper/token"},
	"app/earshot":  {"app/cli"}, // package main: the start of the process, nothing else
	"app/cli":      {everything},
	"app/config":   {},
	"app/eval":     {}, // scoring: texts in, error rates out
	"app/export":   {},
	"app/panel":    {}, // keys and lights on the device's case
	"app/plan":     {"whisper", "npu/graph"},
	"app/pipeline": {"audio/...", "whisper", "store", "app/plan"},
	"app/web":      {"store", "app/config", "app/export"},

	"audio/capture":           {"audio"},
	"audio/capture/pulsetest": {}, // a sound server for tests
	"store/disktest":          {}, // small and read-only disks for tests
	"audio/resample":          {"audio", "cpu"},
	"audio/wave":              {"audio"},

	"whisper/token":       {},
	"whisper/weights":     {"whisper/token"},
	"whisper/ref":         {"whisper", "whisper/weights"},
	"whisper/oncpu":       {"whisper", "whisper/weights", "cpu"},
	"whisper/onnpu":       {"whisper", "whisper/weights", "npu", "npu/graph", "cpu"},
	"whisper/backendtest": {"whisper/..."},
}

// forTests are packages that only test files may import.
var forTests = []string{"whisper/backendtest", "audio/capture/pulsetest", "store/disktest"}

// Test files compare parts with each other, so they may import any package of ours
// outside app, and scoring. Only tests in app may import the rest of app.
var testsMayImport = []string{"app/eval", "audio/...", "cpu/...", "npu/...", "store/...", "whisper/..."}

// owner names the one package that may use a third-party module; its tests may too.
var owner = map[string]string{
	"github.com/chromedp/chromedp":        "app/web", // in tests: a real browser
	"github.com/coder/websocket":          "app/web",
	"github.com/go-audio/audio":           "audio/wave", // the sample buffers of go-audio/wav
	"github.com/go-audio/wav":             "audio/wave",
	"github.com/goccy/go-yaml":            "app/config",
	"github.com/google/flatbuffers":       "npu/tflite",
	"github.com/gordonklaus/portaudio":    "audio/capture",
	"github.com/hajimehoshi/go-mp3":       "audio/wave",
	"github.com/jfreymuth/vorbis":         "audio/wave",
	"github.com/mewkiz/flac":              "audio/wave",
	"github.com/mjibson/go-dsp":           "audio/vad",
	"github.com/prometheus/client_golang": "app/web",
	"github.com/rivo/uniseg":              "app/export",
	"github.com/spf13/cobra":              "app/cli",
	"github.com/vbauerster/mpb/v8":        "app/cli",
	"github.com/x448/float16":             "npu/graph", // half precision as the NPU has it
	"golang.org/x/sys":                    everything,
	"golang.org/x/term":                   "app/cli",  // is this a terminal, and how wide
	"golang.org/x/text":                   "app/eval", // Unicode folding before scoring
	"modernc.org/sqlite":                  "store",
}

// testsMayUse adds modules that belong to another package but that the tests of
// this one compare with.
var testsMayUse = map[string][]string{
	"audio/mel": {"github.com/mjibson/go-dsp"}, // the reference transform
}

// listed is what `go list -json` says about a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImports(t *testing.T) {
	// Build tags pick files, so the tree is listed as it is here, with all that needs C,
	// and as it is for a board built without C.
	for _, env := range [][]string{nil, {"CGO_ENABLED=1", "GOFLAGS=-tags=portaudio"}, {"GOARCH=arm64", "CGO_ENABLED=0"}} {
		packages := list(t, env)
		if len(packages) < 5 {
			t.Fatalf("go list found only %d packages", len(packages))
		}
		for _, p := range packages {
			for _, problem := range check(p) {
				t.Error(problem)
			}
		}
	}
}

// TestImportsForbidden sees that the checker finds what it is there for.
func TestImportsForbidden(t *testing.T) {
	for _, c := range []struct {
		name string
		p    listed
		want string // part of the only problem; empty for none
	}{
		{"OK", listed{ImportPath: "earshot/whisper/oncpu", Imports: []string{"fmt", "C", "earshot/cpu", "golang.org/x/sys/cpu"}}, ""},
		{"every one below", listed{ImportPath: "earshot/app/pipeline", Imports: []string{"earshot/audio", "earshot/audio/vad"}}, ""},
		{"the root", listed{ImportPath: "earshot", XTestImports: []string{"testing"}}, ""},
		{"forbidden edge", listed{ImportPath: "earshot/whisper", Imports: []string{"earshot/cpu"}}, "whisper may not import earshot/cpu"},
		{"same beginning, other package", listed{ImportPath: "earshot/app/cli/extra"}, "app/cli/extra is not in the table"},
		{"upwards", listed{ImportPath: "earshot/store", Imports: []string{"earshot/app/cli"}}, "store may not import earshot/app/cli"},
		{"not in the table", listed{ImportPath: "earshot/util"}, "util is not in the table"},
		{"for tests only", listed{ImportPath: "earshot/app/cli", Imports: []string{"earshot/whisper/backendtest"}}, "app/cli may not import earshot/whisper/backendtest"},
		{"module of another", listed{ImportPath: "earshot/audio/wave", Imports: []string{"github.com/mjibson/go-dsp/fft"}}, "audio/wave may not import github.com/mjibson/go-dsp"},
		{"unknown module", listed{ImportPath: "earshot/store", Imports: []string{"github.com/a/b"}}, "store may not import github.com/a/b"},
		{"module with a longer name", listed{ImportPath: "earshot/store", Imports: []string{"modernc.org/sqlitez"}}, "store may not import modernc.org/sqlitez"},
		{"tests may compare", listed{ImportPath: "earshot/whisper", XTestImports: []string{"earshot/whisper/backendtest", "earshot/audio/mel", "earshot/app/eval"}}, ""},
		{"tests in app", listed{ImportPath: "earshot/app/cli", TestImports: []string{"earshot/app/config"}}, ""},
		{"tests elsewhere", listed{ImportPath: "earshot/whisper", TestImports: []string{"earshot/app/cli"}}, "tests of whisper may not import earshot/app/cli"},
		{"module for tests", listed{ImportPath: "earshot/audio/mel", TestImports: []string{"github.com/mjibson/go-dsp/fft"}}, ""},
		{"module for tests, in the package", listed{ImportPath: "earshot/audio/mel", Imports: []string{"github.com/mjibson/go-dsp/fft"}}, "audio/mel may not import github.com/mjibson/go-dsp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := check(c.p)
			if c.want == "" {
				if len(got) != 0 {
					t.Errorf("got %q, want no problem", got)
				}
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("got %q, want one problem with %q", got, c.want)
			}
		})
	}
}

// check returns what p imports against the tables, in words.
func check(p listed) []string {
	name := ours(p.ImportPath)
	if p.ImportPath == module {
		return nil // the package of these tests
	}
	allowed, known := mayImport[name]
	if !known {
		return []string{name + " is not in the table: add its row to imports_test.go"}
	}
	inTests := slices.Concat(allowed, testsMayImport, []string{name})
	if strings.HasPrefix(name, "app/") {
		inTests = []string{everything}
	}
	var problems []string
	for _, path := range p.Imports {
		if !mayUse(path, name, nil) || slices.Contains(forTests, ours(path)) || !matches(allowed, ours(path)) {
			problems = append(problems, fmt.Sprintf("%s may not import %s", name, path))
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		if !mayUse(path, name, testsMayUse[name]) || !matches(inTests, ours(path)) {
			problems = append(problems, fmt.Sprintf("tests of %s may not import %s", name, path))
		}
	}
	return problems
}

// mayUse says whether the package name may use the module that path is in: its own,
// one of more, or what needs no owner (our packages, the standard library, C).
func mayUse(path, name string, more []string) bool {
	if host, _, _ := strings.Cut(path, "/"); !strings.Contains(host, ".") {
		return true
	}
	for module, by := range owner {
		if matches([]string{module + "/..."}, path) {
			return by == name || by == everything || slices.Contains(more, module)
		}
	}
	return false
}

// ours is a package's path within this module, or "" for a package of others.
func ours(path string) string {
	name, found := strings.CutPrefix(path, module+"/")
	if !found {
		return ""
	}
	return name
}

// matches says whether one of patterns fits path: itself, everything, or "a/...".
// The empty path, which is not ours, always fits.
func matches(patterns []string, path string) bool {
	return path == "" || slices.ContainsFunc(patterns, func(p string) bool {
		root, tree := strings.CutSuffix(p, "/...")
		return p == everything || path == root || tree && strings.HasPrefix(path, root+"/")
	})
}

// list asks the go command for every package of this module.
func list(t *testing.T, env []string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v with %v: %v\n%s", cmd.Args, env, err, stderr(err))
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("%v: %v", cmd.Args, err)
		}
		packages = append(packages, p)
	}
}

func stderr(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}
