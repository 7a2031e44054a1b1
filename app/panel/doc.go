// Package panel is what a device has on its case: a key or a switch that mutes, and a
// light that shows when it listens. Both are the kernel's: the input layer
// (Documentation/input/event-codes.rst) and the LED class (Documentation/leds/leds-class.rst).
//
// What is not there, or goes away, is a state with a reason (Status), looked for again with
// growing pauses, and never an end. The package decides nothing: whoever has a Key gets its
// presses, whoever has a Light says when it is lit.
package panel

import (
	"sync"
	"time"
)

// State is how a part of the panel is.
type State string

const (
	Searching State = "searching" // it is not there, or can't be used
	Ready     State = "ready"
)

// Status is a moment's view of a part.
type Status struct {
	State  State     `json:"state"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"` // why it is not ready
	Device string    `json:"device,omitempty"`
}

// status is one that can be asked for at any time.
type status struct {
	mu  sync.Mutex
	now Status
}

// set reports whether that is news.
func (s *status) set(state State, reason, device string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.now; n.State == state && n.Reason == reason && n.Device == device {
		return false
	}
	s.now = Status{State: state, Since: time.Now(), Reason: reason, Device: device}
	return true
}

// Status says how the part is.
func (s *status) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// What is looked for is looked for again after soonest, then after twice as long, up to
// latest.
const (
	soonest = time.Second
	latest  = 5 * time.Second
)

// longer is the pause behind wait.
func longer(wait time.Duration) time.Duration { return min(2*wait, latest) }
