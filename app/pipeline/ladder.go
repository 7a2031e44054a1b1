package pipeline

import (
	"sync"
	"time"
)

// ladder says what is done without while more is said than can be written down: captions
// first, then the model that was asked for, then text at once (see queue.full).
type ladder struct {
	steps int  // models
	keep  bool // captions, whatever waits

	mu  sync.Mutex
	lag time.Duration
	at  int // model in use
}

const (
	lagCaptions = 2 * time.Second // speech that waits: no more captions
	lagModel    = 8 * time.Second // the next smaller model
	lagRecover  = time.Second     // the next larger one again
)

// see takes how much speech waits to be written down.
func (l *ladder) see(lag time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.lag = lag; {
	case lag > lagModel && l.at < l.steps-1:
		l.at++
	case lag < lagRecover && l.at > 0:
		l.at--
	}
}

// captions says whether there is time for captions.
func (l *ladder) captions() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keep || l.lag < lagCaptions
}

// model is the index of the model to use.
func (l *ladder) model() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// reason says why a model is not the one that was asked for.
func (l *ladder) reason(used, asked string) string {
	if used == asked {
		return ""
	}
	return asked + " was too slow"
}
