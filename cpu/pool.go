package cpu

import (
	"fmt"
	"sync"
)

// Pool is a set of threads that share the loops of the kernels. They are threads of
// C, made once: the caller of a method is one of them for as long as it takes, no
// goroutine is started, and other goroutines keep all processors but the one that
// the caller holds. Between loops the threads look out for the next one for some
// 60 µs and then sleep.
//
// It is safe for concurrent use: one loop runs at a time, so two goroutines that
// compute on one pool take turns loop by loop.
type Pool struct {
	mu      sync.Mutex // held by the loop in progress
	threads int
	native  nativePool
	closed  bool

	// Of int8 products, kept from loop to loop.
	a       []int8    // [m, StrideI8(k)]
	aScales []float32 // [m]
	tops    []float32 // [m, pairs of panels], of LargestI8
	exact   []uint32  // the same

	// Of attention, kept from loop to loop.
	attend  attendArgs
	queries []nativeQuery
	scratch []float32 // [threads, room]
}

// NewPool returns a pool of the given number of threads, at least one, of which
// one is the caller. [Threads] says how many make sense. The system may grant fewer.
//
// The others may run on the CPUs listed only, on any where none is: [Cores] keeps
// them off the small cores of a board, as long as nobody else needs the big ones.
// The caller stays where the system puts it.
//
// Close the pool to end the threads.
func NewPool(threads int, cpus ...int) *Pool {
	if threads < 1 {
		panic(fmt.Sprintf("BUG: pool of %d threads", threads))
	}
	p := &Pool{}
	p.native, p.threads = openNative(threads, cpus)
	return p
}

// Threads returns the number of threads, the caller included.
func (p *Pool) Threads() int { return p.threads }

// Close ends the threads, once the loop in progress is over. No other may follow;
// a second Close does nothing.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.closed = true
		closeNative(p.native)
	}
}

// lock waits until no loop is in progress; the caller unlocks.
func (p *Pool) lock() *sync.Mutex {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		panic("BUG: loop on a closed pool")
	}
	return &p.mu
}
