package capture

import (
	"context"
	"sync"

	"earshot/audio"
)

const (
	maxBlock = audio.SampleRate / 10 // samples that Read returns at most
	maxMarks = 64                    // gaps in the ring that are told apart
)

// ring is the buffer between whatever makes sound and its reader. Writing never waits,
// allocates or fails: samples that have no room become a gap. Gaps take no room.
type ring struct {
	mu      sync.Mutex
	buf     []float32
	head    int    // index in buf of the next sample to read
	held    int    // samples in buf
	marks   []mark // gaps not read yet, in order, apart from each other
	pos     int64  // sample clock of what is read next
	end     int64  // sample clock of what is written next
	missing int64  // samples in gaps, so far
	err     error  // how it ended

	ready, room chan struct{} // there may be something to read; there may be room
	block       [maxBlock]float32
}

// mark is a gap.
type mark struct{ pos, n int64 }

func newRing(samples int) *ring {
	return &ring{
		buf:   make([]float32, samples),
		marks: make([]mark, 0, maxMarks),
		ready: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
}

// write appends samples, or a gap of their length where there is no room for all of
// them, and reports which.
func (r *ring) write(samples []float32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(samples) > len(r.buf)-r.held {
		r.gap(int64(len(samples)))
		signal(r.ready)
		return false
	}
	tail := (r.head + r.held) % len(r.buf)
	n := copy(r.buf[tail:], samples)
	copy(r.buf, samples[n:])
	r.held += len(samples)
	r.end += int64(len(samples))
	signal(r.ready)
	return true
}

// miss appends a gap.
func (r *ring) miss(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 {
		r.gap(n)
		signal(r.ready)
	}
}

func (r *ring) gap(n int64) {
	r.missing += n
	r.end += n
	last := len(r.marks) - 1
	switch {
	case last >= 0 && r.marks[last].pos+r.marks[last].n == r.end-n:
		r.marks[last].n += n
	case len(r.marks) < maxMarks:
		r.marks = append(r.marks, mark{r.end - n, n})
	default: // what lies between the last gap and this one goes too
		lost := r.end - n - r.marks[last].pos - r.marks[last].n
		r.held -= int(lost)
		r.missing += lost
		r.marks[last].n += lost + n
	}
}

// wait returns once there is room for n samples.
func (r *ring) wait(ctx context.Context, n int) error {
	for {
		r.mu.Lock()
		free := len(r.buf) - r.held
		r.mu.Unlock()
		if free >= n {
			return nil
		}
		select {
		case <-r.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// finish ends the ring: err is what read returns behind the last block.
func (r *ring) finish(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
	signal(r.ready)
}

// read waits for a block.
func (r *ring) read(ctx context.Context) (Block, error) {
	for {
		if b, ok, err := r.next(); ok || err != nil {
			return b, err
		}
		select {
		case <-r.ready:
		case <-ctx.Done():
			return Block{}, ctx.Err()
		}
	}
}

// next returns what there is: a block, nothing yet, or the end.
func (r *ring) next() (b Block, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b.Pos = r.pos
	if len(r.marks) > 0 && r.marks[0].pos == r.pos {
		b.Missing = r.marks[0].n
		r.marks = r.marks[:copy(r.marks, r.marks[1:])]
		r.pos += b.Missing
		return b, true, nil
	}
	n := min(r.held, maxBlock)
	if n == 0 {
		return b, false, r.err
	}
	if len(r.marks) > 0 {
		n = min(n, int(r.marks[0].pos-r.pos))
	}
	b.Samples = r.block[:n]
	k := copy(b.Samples, r.buf[r.head:])
	copy(b.Samples[k:], r.buf)
	r.head = (r.head + n) % len(r.buf)
	r.held -= n
	r.pos += int64(n)
	signal(r.room)
	return b, true, nil
}

// written returns the clock at the writer's end, and how much of it is missing.
func (r *ring) written() (pos, missing int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end, r.missing
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
