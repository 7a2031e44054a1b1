package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"earshot/app/export"
	"earshot/whisper/backendtest"
)

// Recordings that last for hours, and for ever: memory does not follow them.

// long says whether there is time for tests of minutes.
func long() bool { return os.Getenv("EARSHOT_LONG") == "1" }

// resident is the memory of the process that is in use now, in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// growth watches the memory while do runs, and returns by how much it grew at most.
func growth(t *testing.T, do func()) int64 {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	before, most := resident(t), int64(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	for {
		select {
		case <-done:
			return most - before
		case <-time.After(20 * time.Millisecond):
			most = max(most, resident(t))
		}
	}
}

const megabyte = 1 << 20

// TestFortyHours is case C91: a sparse RF64 file, of 40 h when there is time, else of 2.
func TestFortyHours(t *testing.T) {
	if testing.Short() {
		t.Skip("reads hours of silence")
	}
	hours := int64(2)
	if long() {
		hours = 40
	}
	header, err := os.ReadFile(backendtest.Shared(t, "audio/wav-synthetic/rf64_ds64.wav"))
	if err != nil {
		t.Fatal(err)
	}
	header = header[:bytes.Index(header, []byte("data"))+8]
	size := hours * 3600 * 16000 * 2
	sizes := header[bytes.Index(header, []byte("ds64"))+8:]
	binary.LittleEndian.PutUint64(sizes, uint64(size)+72)
	binary.LittleEndian.PutUint64(sizes[8:], uint64(size))
	binary.LittleEndian.PutUint64(sizes[16:], uint64(size/2))
	path := filepath.Join(t.TempDir(), "hours.wav")
	if err := os.WriteFile(path, header, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(header))+size); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	r := newRig(t, say(said{text: "nothing of this is said", until: 2}), transcribeFlags{outputFlags: outputFlags{formats: []string{"json"}}})
	grown := growth(t, func() { err = r.run(context.Background(), []string{path}) })
	if err != nil {
		t.Fatal(err)
	}
	got := r.read(t, export.JSON)
	if got.Duration != float64(hours*3600) || len(got.Segments) > 0 || r.stub.count > 0 {
		t.Errorf("duration %.3f s, %d segments, %d windows", got.Duration, len(got.Segments), r.stub.count)
	}
	if grown > 64*megabyte {
		t.Errorf("memory grew by %d MiB", grown/megabyte)
	}
}

// endless is a WAV header without a length and a sound again and again; the listener is
// gone when it has heard enough.
type endless struct {
	head, sound, rest []byte
	left              int // bytes
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if len(e.rest) == 0 {
		e.rest = e.sound
	}
	if e.head != nil {
		e.head, e.rest = nil, e.head
	}
	n := copy(p, e.rest)
	e.rest, e.left = e.rest[n:], e.left-n
	return n, nil
}

// TestEndlessPipe has speech without end, and noise that no pause is in: memory is flat,
// and text comes all the time.
func TestEndlessPipe(t *testing.T) {
	if testing.Short() {
		t.Skip("reads minutes of speech")
	}
	minutes := 10
	if long() {
		minutes = 600
	}
	for name, x := range map[string][]float32{"speech": load(t, "jfk/jfk.wav"), "noise": noise(20, -20, 91)} {
		for mode, flags := range map[string]transcribeFlags{"": {}, "--no-vad": {noVAD: true}, "--sequential": {sequential: true}} {
			if name == "noise" && mode == "" {
				continue // nobody speaks
			}
			file, err := os.ReadFile(waveFile(t, filepath.Join(t.TempDir(), "x.wav"), 16000, x))
			if err != nil {
				t.Fatal(err)
			}
			flags.language = "en"
			flags.jsonLines = true
			r := newRig(t, nil, flags)
			r.stub.script = func(window []float32, _ string) said {
				return said{text: "and so on", until: math.Min(3, float64(len(window))/16000), logProb: -0.2}
			}
			lines := &counting{}
			r.env.Stdout = lines
			r.env.Stdin = &endless{head: file[:44], sound: file[44:], left: minutes * 60 * 32_000}
			grown := growth(t, func() { err = r.run(context.Background(), []string{"-"}) })
			if err != nil {
				t.Fatal(err)
			}
			if lines.n < minutes || grown > 64*megabyte {
				t.Errorf("%s %s: %d lines, memory grew by %d MiB", name, mode, lines.n, grown/megabyte)
			}
		}
	}
}

// counting counts lines and forgets them.
type counting struct{ n int }

func (c *counting) Write(p []byte) (int, error) {
	c.n += bytes.Count(p, []byte("\n"))
	return len(p), nil
}
