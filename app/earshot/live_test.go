package main

import (
	"syscall"
	"testing"

	"earshot/audio/capture"
	"earshot/audio/capture/pulsetest"
)

// TestLivePulse speaks for three minutes into a sound server; what the service hears
// from there goes to the store, and out as SRT.
func TestLivePulse(t *testing.T) {
	t.Parallel()
	var lacks error
	if !capture.Built {
		lacks = capture.ErrNoPortAudio
	}
	pulsetest.Need(t, lacks, "pulseaudio", "paplay")
	sound := pulsetest.New(t)
	p := newProgram(t, sound.Env...)
	j := join(t)
	reference := j.evaluate(p)
	sound.Start()
	s := p.serve("--source", pulsetest.Monitor)
	s.eventually("the source runs", func(s liveStatus) bool { return s.Source.State == "running" })
	sound.Play(j.path)
	s.eventually("all is written down", func(s liveStatus) bool { return !s.Speaking && s.Lag == 0 && s.Pending == 0 })
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, s.logged())
	}
	cues := p.newest()
	j.assign(cues)
	j.checkTimes(t)
	j.checkText(t, reference)
	reportLatency(t, s.logged())
}
