package cpu

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Pool is a set of threads that share loops. It is safe for concurrent use: one
// loop runs at a time, the next waits for it.
type Pool struct {
	mu   sync.Mutex      // held by the Run in progress
	wake []chan struct{} // one per helper, holding at most one call

	// The loop in progress.
	body func(i int)
	n    int64
	next atomic.Int64  // next index to hand out
	gate atomic.Int64  // helpers inside, or gateShut and more
	done chan struct{} // the last helper to leave a shut gate says so
}

const gateShut = 1 << 32

// NewPool returns a pool of the given number of threads, at least one, of which
// one is the caller of Run. Close it to end the others.
func NewPool(threads int) *Pool {
	if threads < 1 {
		panic(fmt.Sprintf("BUG: pool of %d threads", threads))
	}
	p := &Pool{wake: make([]chan struct{}, threads-1), done: make(chan struct{}, 1)}
	p.gate.Store(gateShut)
	for i := range p.wake {
		p.wake[i] = make(chan struct{}, 1)
		go p.help(p.wake[i])
	}
	return p
}

// Threads returns the number of threads, the caller of Run included.
func (p *Pool) Threads() int { return len(p.wake) + 1 }

// Close ends the helpers. No Run may be in progress or follow.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.wake {
		close(c)
	}
}

// Run calls body(0) … body(n-1), each once, in any order, on at most Threads
// goroutines of which the caller is one, and returns when all have returned.
// body must not call Run of the same pool.
func (p *Pool) Run(n int, body func(i int)) {
	helpers := min(n-1, len(p.wake))
	if helpers <= 0 {
		for i := range n {
			body(i)
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.body, p.n = body, int64(n)
	p.next.Store(0)
	p.gate.Store(0)
	for _, c := range p.wake[:helpers] {
		select {
		case c <- struct{}{}:
		default: // not awake yet from the last call; it will find this loop
		}
	}
	p.work()
	// A helper that has not come in by now is not waited for.
	if p.gate.Add(gateShut) != gateShut {
		<-p.done
	}
	p.body = nil
}

func (p *Pool) work() {
	for i := p.next.Add(1) - 1; i < p.n; i = p.next.Add(1) - 1 {
		p.body(int(i))
	}
}

// help takes part in loops until wake is closed.
func (p *Pool) help(wake <-chan struct{}) {
	for range wake {
		if p.enter() {
			p.work()
			if p.gate.Add(-1) == gateShut {
				p.done <- struct{}{}
			}
		}
	}
}

// enter counts the helper in unless the gate is shut.
func (p *Pool) enter() bool {
	for {
		inside := p.gate.Load()
		if inside >= gateShut {
			return false
		}
		if p.gate.CompareAndSwap(inside, inside+1) {
			return true
		}
	}
}
