package pipeline

import (
	"testing"
	"time"
)

// TestLadder: with more and more speech that waits, captions go first, then the model; with
// less both come back.
func TestLadder(t *testing.T) {
	type step struct {
		lag      float64
		captions bool
		model    int
	}
	for name, c := range map[string]struct {
		ladder *ladder
		steps  []step
	}{
		"OK":            {&ladder{steps: 2}, []step{{0, true, 0}, {1.9, true, 0}, {2, false, 0}, {8, false, 0}, {8.1, false, 1}, {9, false, 1}, {1, true, 1}, {0.9, true, 0}}},
		"three models":  {&ladder{steps: 3}, []step{{9, false, 1}, {9, false, 2}, {9, false, 2}, {5, false, 2}, {0, true, 1}, {0, true, 0}, {0, true, 0}}},
		"one model":     {&ladder{steps: 1}, []step{{9, false, 0}, {0, true, 0}}},
		"captions stay": {&ladder{steps: 2, keep: true}, []step{{3, true, 0}, {9, true, 1}, {0, true, 0}}},
	} {
		for i, s := range c.steps {
			c.ladder.see(time.Duration(s.lag * float64(time.Second)))
			if c.ladder.captions() != s.captions || c.ladder.model() != s.model {
				t.Errorf("%s, step %d: captions %v, model %d, want %v and %d", name, i, c.ladder.captions(), c.ladder.model(), s.captions, s.model)
			}
		}
	}
}
