package npu

import "time"

// pauses say when a worker may be started again after failures.
type pauses struct {
	failures int // since the last execution that went well
	until    time.Time
}

const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// fail notes a failure: the first pause, and after each more twice that, up to the last.
func (p *pauses) fail(now time.Time) {
	p.until = now.Add(min(lastPause, firstPause<<min(p.failures, 10)))
	p.failures++
}

// well notes an execution that went well.
func (p *pauses) well() { p.failures = 0 }
