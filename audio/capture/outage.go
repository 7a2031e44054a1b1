package capture

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// clock keeps the sample clock true while a device is away. Its own time is that of
// this machine.
type clock struct {
	mu    sync.Mutex
	heard time.Time // up to when the ring has all, sound or gaps; zero before the first sample
	down  bool      // no sound comes
	pos   int64     // of the ring, when it went down
}

// sound takes note of sound of that length, which came just now. Where it is the first
// of an attempt, all since the sound before it is missing: at pos, n samples.
func (c *clock) sound(r *ring, length time.Duration, first bool) (pos, n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if first && c.down {
		c.missUntil(r, now.Add(-length))
		end, _ := r.written()
		pos, n = c.pos, end-c.pos
	}
	c.heard, c.down = now, false
	return pos, n
}

// stop takes note that there is no sound from now on.
func (c *clock) stop(r *ring) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
	c.pos, _ = r.written()
}

// missUntil marks what the ring doesn't have yet, up to t, as missing.
func (c *clock) missUntil(r *ring, t time.Time) {
	if n := samples(t.Sub(c.heard)); n > 0 {
		c.heard = c.heard.Add(duration(n))
		r.miss(n)
	}
}

// countEvery is how often an outage is passed on to the reader while it lasts. Sound
// that comes now began a block and a device's buffer ago: behindNow is left out.
const (
	countEvery = 100 * time.Millisecond
	behindNow  = 400 * time.Millisecond
)

// count lets the sample clock go on while no sound comes, until ctx is done or the
// function that it returns is called.
func (c *clock) count(ctx context.Context, r *ring) func() {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			sleep(ctx, countEvery)
			c.mu.Lock()
			if c.down {
				c.missUntil(r, time.Now().Add(-behindNow))
			}
			c.mu.Unlock()
		}
	})
	return func() { cancel(); wg.Wait() }
}

// hardware changes when a sound device or a sound server comes or goes.
func hardware() string {
	devices, _ := filepath.Glob("/dev/snd/*") // the patterns are right
	servers, _ := filepath.Glob(filepath.Join(cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), "/run"), "pulse", "*"))
	return strings.Join(append(devices, servers...), " ")
}
