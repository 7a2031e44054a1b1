package pipeline

import "time"

// clocks compares the sample clock with that of this machine, which a crystal of a sound
// card may leave behind by hundreds of millionths. Times in a recording are the sample
// clock's; the wall clock is read anew for each segment, so that neither hides the other.
type clocks struct {
	began time.Time     // when the first samples had come
	at    int           // position then
	drift time.Duration // how far the sample clock is ahead since
	ppm   float64       // the same in millionths; 0 in the first minute, which is too short to say
}

// compare takes note that all samples up to the position at are there now.
func (c *clocks) compare(at int, now time.Time) {
	if c.began.IsZero() {
		c.began, c.at = now, at
		return
	}
	passed := now.Sub(c.began) // on the monotonic clock: it doesn't matter that somebody sets the clock
	c.drift = timeOf(at-c.at) - passed
	if passed >= time.Minute {
		c.ppm = 1e6 * c.drift.Seconds() / passed.Seconds()
	}
}
