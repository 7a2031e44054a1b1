package pipeline

import (
	"context"
	"sync"
	"time"

	"earshot/store"
)

// utterance is what somebody said: samples start to end-1 of the source's clock.
type utterance struct {
	recording          *recording
	start, end, spoken int
	wall               time.Time // at start; zero where nobody knows
	decided            time.Time // when its end was known
	samples            []float32
	clip               int64 // of the clip that it is kept in, or 0
}

// recording is one that goes on; the scribe gives it an id when there is something to
// store.
type recording struct {
	id    int64        // the scribe's alone; 0 before
	in    *store.Store // that it has the id in; nil for one that clips are left of
	began int          // position at which its times begin
	wall  time.Time
}

// place is a position of the source's clock in the recording.
func (r *recording) place(at int) time.Duration { return timeOf(at - r.began) }

// from and until are where the utterance lies in its recording.
func (u *utterance) from() time.Duration  { return u.recording.place(u.start) }
func (u *utterance) until() time.Duration { return u.recording.place(u.end) }

// wallAt is when the sample at a position of the source's clock was heard; zero where
// nobody knows.
func (u *utterance) wallAt(at int) time.Time {
	if u.wall.IsZero() {
		return u.wall
	}
	return u.wall.Add(timeOf(at - u.start))
}

// request asks for the text of an utterance that may go on.
type request struct {
	*utterance
	quiet bool // nobody speaks: it may be over
}

// job is what the scribe does next: one of its fields is set.
type job struct {
	recording *recording
	utterance *utterance
	event     *store.Event
	end       time.Duration // of the recording, which is over
	request   *request
}

// queue holds what the scribe has to do. Only utterances take room.
type queue struct {
	room int // samples that may wait

	mu      sync.Mutex
	changed *sync.Cond // there may be something to do
	taken   *sync.Cond // less is waiting
	jobs    []job      // requests apart
	waiting int        // samples in jobs
	request *request   // the last one
	closed  bool

	current *request           // that is being decoded
	cancel  context.CancelFunc // of whatever may be put off for an utterance
}

func newQueue(room int) *queue {
	q := &queue{room: room}
	q.changed, q.taken = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
	return q
}

// put adds a job. For an utterance, what is being decoded is given up, unless that is its
// text.
func (q *queue) put(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if u := j.utterance; u != nil {
		q.waiting += len(u.samples)
		q.request = nil
		if q.cancel != nil && !q.current.same(u) {
			q.cancel()
		}
	}
	q.jobs = append(q.jobs, j)
	q.changed.Signal()
}

// idle says whether there is time for a caption.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs) == 0 && q.current == nil && q.request == nil
}

// ask leaves a request, in place of the last one, also of one that is being decoded where
// this one may be the text of the whole.
func (q *queue) ask(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cancel != nil && (q.current == nil || r.quiet) {
		q.cancel() // a clip, or a text that is out of date: the speaker went on
	}
	q.request = r
	q.changed.Signal()
}

// next waits for something to do; ok is false at the end. Where nothing comes for a
// while it returns an empty job: time for clips.
func (q *queue) next(idle time.Duration) (j job, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	late := false
	if idle > 0 {
		timer := time.AfterFunc(idle, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			late = true
			q.changed.Signal()
		})
		defer timer.Stop()
	}
	for {
		switch {
		case len(q.jobs) > 0:
			j, q.jobs = q.jobs[0], q.jobs[1:]
			if j.utterance != nil {
				q.waiting -= len(j.utterance.samples)
				q.taken.Signal()
			}
			return j, true
		case q.request != nil:
			j.request, q.request = q.request, nil
			return j, true
		case q.closed:
			return job{}, false
		case late:
			return job{}, true
		}
		q.changed.Wait()
	}
}

// full says whether more is waiting than there is room for.
func (q *queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting > q.room
}

// wait returns when no more than most samples wait, or ctx has ended.
func (q *queue) wait(ctx context.Context, most int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.taken.Signal()
	})()
	for q.waiting > most && ctx.Err() == nil {
		q.taken.Wait()
	}
}

// lag is how much speech waits.
func (q *queue) lag() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return timeOf(q.waiting)
}

// yielding returns a context that ends when something more important comes. r is what is
// decoded meanwhile, nil for a clip. It has ended already where something has come.
func (q *queue) yielding(ctx context.Context, r *request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.current, q.cancel = r, cancel
	for _, j := range q.jobs {
		if j.utterance != nil && !r.same(j.utterance) {
			cancel()
		}
	}
	return ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.current, q.cancel = nil, nil
		cancel()
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Signal()
}

// same says whether the text of r is that of u: nobody has spoken since.
func (r *request) same(u *utterance) bool {
	return r != nil && r.quiet && r.recording == u.recording && r.start == u.start && r.spoken == u.spoken
}
