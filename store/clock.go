package store

import (
	"fmt"
	"time"
)

// The wall clock is for people. Order, places in a recording and what is stored never
// depend on it: ids and sample clocks do. Only ages need it, and a wrong one must not cost
// anybody their text; Prune says how they are told, and here is when they are believed.

const (
	clockLeap  = time.Minute    // ahead of the time that has passed
	clockTrust = 24 * time.Hour // how long a clock that leapt is not believed
)

// clockWatch compares the wall clock with the time that passes. One that leaps ahead (a
// bad time server, a wrong hand) makes all that there is look old; it is believed when it
// has stayed so for a day. One that is set back does no harm.
type clockWatch struct {
	wall  time.Time // what it showed when it was last believed
	at    time.Time // when that was, on the clock that never jumps
	leapt time.Time // when it was first seen ahead; zero where it is not
}

// ahead is by how much a clock that shows wall is ahead of what is believed, 0 for one that
// is fine.
func (w *clockWatch) ahead(wall time.Time) time.Duration {
	at := time.Now()
	ahead := wall.Round(0).Sub(w.wall.Round(0)) - at.Sub(w.at)
	if ahead > clockLeap && w.wall.After(clockFloor) { // one that was not set may be set to anything
		if w.leapt.IsZero() {
			w.leapt = at
		}
		if at.Sub(w.leapt) < clockTrust {
			return ahead
		}
	}
	*w = clockWatch{wall: wall, at: at}
	return 0
}

// believed are the settings less the ages, while the clock is not believed.
func (s *Store) believed(keep Retention, now time.Time) Retention {
	ahead := s.clock.ahead(now)
	if ahead == 0 || keep.TextAge == 0 && keep.AudioAge == 0 {
		s.problems.clear(ProblemClock)
		return keep
	}
	s.problems.set(ProblemClock, fmt.Sprintf("the clock leapt ahead by %v: nothing is deleted for its age until it has stayed so for a day, or earshot is started again", ahead.Round(time.Second)))
	keep.TextAge, keep.AudioAge = 0, 0
	return keep
}

// clockProblem is there while the clock is not set.
func (s *Store) clockProblem() []Problem {
	if s.opts.Now().After(clockFloor) {
		return nil
	}
	return []Problem{{Kind: ProblemClock, Reason: "the clock is not set: no times of day are kept, and nothing is deleted for its age"}}
}
