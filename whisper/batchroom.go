package whisper

import "sync"

// room is how much more may be in use at a time.
type room struct {
	mu          sync.Mutex
	given       sync.Cond
	used, whole int
}

func newRoom(whole int) *room {
	r := &room{whole: whole}
	r.given.L = &r.mu
	return r
}

// take waits until there is room for n, or until nothing is in use.
func (r *room) take(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.used > 0 && r.used+n > r.whole {
		r.given.Wait()
	}
	r.used += n
}

func (r *room) give(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	r.given.Signal()
}
