package whisper

import "sync"

// room is how much more may be in use at a time.
type room struct {
	mu          sync.Mutex
	changed     sync.Cond
	used, whole int
	swapping    int // how many wait in swap
}

func newRoom(whole int) *room {
	r := &room{whole: whole}
	r.changed.L = &r.mu
	return r
}

// take waits until there is room for n, or until nothing is in use.
func (r *room) take(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.swapping > 0 || r.full(n) {
		r.changed.Wait()
	}
	r.used += n
}

// swap is give and take for one that has begun already, and goes before those who have not.
func (r *room) swap(had, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= had
	r.swapping++
	r.changed.Broadcast()
	for r.full(n) {
		r.changed.Wait()
	}
	r.swapping--
	r.used += n
	r.changed.Broadcast()
}

func (r *room) full(n int) bool { return r.used > 0 && r.used+n > r.whole }

func (r *room) give(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	r.changed.Broadcast()
}
