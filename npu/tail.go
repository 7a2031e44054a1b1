package npu

import (
	"bytes"
	"sync"
	"time"
)

// tail keeps the last lines that a worker wrote to its standard error.
type tail struct {
	mu    sync.Mutex
	lines []string
	total int    // lines so far
	part  []byte // of a line without its end
	marks int    // so far
	more  chan struct{}
}

const (
	tailLines = 50
	tailBytes = 400 // of a line
	// tailMark is a line that a worker writes before it reports an error: what its library
	// printed before that is here when the line is.
	tailMark = "\x00earshot"
	tailWait = 2 * time.Second
)

func newTail() *tail { return &tail{more: make(chan struct{}, 1)} }

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := b; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		t.part = append(t.part, line[:min(len(line), tailBytes-len(t.part))]...)
		if ended {
			t.line(string(t.part))
			t.part = t.part[:0]
		}
		rest = after
	}
	return len(b), nil
}

func (t *tail) line(s string) {
	if s == tailMark {
		t.marks++
		select {
		case t.more <- struct{}{}:
		default:
		}
		return
	}
	if t.total++; len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, s)
}

// now is how many lines and marks there are.
func (t *tail) now() (lines, marks int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total, t.marks
}

// since returns the lines that came after the first n, as far as they are kept.
func (t *tail) since(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines[len(t.lines)-min(len(t.lines), t.total-n):]...)
}

// wait waits until there are more than n marks, but not for ever.
func (t *tail) wait(n int) {
	late := time.After(tailWait)
	for {
		if _, marks := t.now(); marks > n {
			return
		}
		select {
		case <-t.more:
		case <-late:
			return
		}
	}
}
