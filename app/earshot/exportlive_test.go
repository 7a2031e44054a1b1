package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"earshot/audio"
	"earshot/whisper/backendtest"
)

// TestExportWhileLive is case C111: what is exported at 30 s of 66 is the beginning of
// what is exported at the end, and costs no frame.
func TestExportWhileLive(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	x := slices.Repeat(readClip(t, backendtest.Shared(t, "audio/jfk/jfk.wav")), 6)
	path := writeClip(t, x)
	s := p.serve("--source", "file:"+path)
	s.eventually("30 s were heard", func(s liveStatus) bool { return s.Source.Pos >= 30*audio.SampleRate })
	early, cues := p.srt()
	s.eventually("it is at its end", func(now liveStatus) bool {
		if at := float64(now.Source.Pos) / audio.SampleRate; len(cues) > 0 && cues[len(cues)-1].End > at {
			t.Errorf("text up to %.2f s was there at %.2f s", cues[len(cues)-1].End, at)
		}
		if now.Source.Missing != 0 || now.Source.Pos > int64(len(x)) {
			t.Errorf("frames are missing: %+v", now.Source)
		}
		return now.Source.State == "ended" && now.Source.Pos == int64(len(x))
	})
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, s.logged())
	}
	late, all := p.srt()
	if !strings.HasPrefix(late, early) || len(cues) < 2 || len(all) <= len(cues) {
		t.Errorf("%d cues, which are not the beginning of the %d later:\n%s\n%s", len(cues), len(all), early, late)
	}
	if last := all[len(all)-1].End; last < 64 || last > 66 {
		t.Errorf("the last cue ends at %.2f s", last)
	}
}
