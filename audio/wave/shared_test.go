package wave

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"earshot/audio"
)

// shared returns a path in the folder of test data beside the repository, and skips
// the test where there is none, except under CI.
func shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	folder := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the test data is missing: %v", err)
		}
		t.Skipf("the test data is missing: %v", err)
	}
	return filepath.Join(append([]string{folder}, elem...)...)
}

// load reads a file of the shared audio folder.
func load(t testing.TB, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(shared(t, append([]string{"audio"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decoded is what a Reader made of a stream.
type decoded struct {
	samples  []float32
	info     Info
	warnings []string
}

// frames is how many there are, by the samples.
func (d decoded) frames() int { return len(d.samples) / d.info.Channels }

// decode reads file to its end, through a reader that cannot seek and hands out 1000
// bytes at a time.
func decode(t testing.TB, file []byte) decoded {
	t.Helper()
	d, err := tryDecode(file)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tryDecode(file []byte) (decoded, error) {
	r, err := NewReader(&trickle{b: file, n: 1000}, "test")
	if err != nil {
		return decoded{}, err
	}
	defer r.Close()
	samples, err := audio.ReadAll(r)
	return decoded{samples, r.Info(), r.Warnings()}, err
}

// trickle hands out b in pieces of n bytes, then err or io.EOF.
type trickle struct {
	b   []byte
	n   int
	err error
}

func (t *trickle) Read(p []byte) (int, error) {
	if len(t.b) == 0 {
		if t.err != nil {
			return 0, t.err
		}
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), t.n)], t.b)
	t.b = t.b[n:]
	return n, nil
}

// jfk returns samples 3 200…35 199 of jfk.wav, read without the code under test: they
// are what the files of wav-synthetic hold.
func jfk(t testing.TB) []float32 {
	t.Helper()
	file := load(t, "jfk", "jfk.wav")
	at := bytes.Index(file, []byte("data")) + chunkHeader
	var s []float32
	for i := 3200; i <= 35199; i++ {
		s = append(s, float32(int16(le.Uint16(file[at+2*i:])))/32768)
	}
	return s
}

// farthest is the largest difference between got and want.
func farthest(t testing.TB, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d samples, want %d", len(got), len(want))
	}
	far := 0.0
	for i := range got {
		far = max(far, math.Abs(float64(got[i]-want[i])))
	}
	return far
}

func db(s []float32) float64 {
	sum := 0.0
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return 10 * math.Log10(sum/float64(len(s)))
}

// quick runs f, which must take less than 100 ms; on a busy machine, in one of five
// tries.
func quick(t *testing.T, name string, f func()) {
	t.Helper()
	const limit = 100 * time.Millisecond
	least := time.Duration(math.MaxInt64)
	for try := 0; try < 5 && least >= limit; try++ {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	if least >= limit {
		t.Errorf("%s took %v", name, least)
	}
}

// isAbout reports whether err is one that Open explains the input with.
func isAbout(err error) bool {
	_, format := errors.AsType[*FormatError](err)
	return format || errors.Is(err, ErrEmpty) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrRate) || errors.Is(err, ErrChannels)
}
