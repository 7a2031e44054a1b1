package cli

import (
	"cmp"
	"log/slog"
	"strings"
	"testing"

	"earshot/app/config"
	"earshot/app/pipeline"
)

// newTestControls are those of a service that runs.
func newTestControls(t *testing.T, dir string, c config.Controls) (*controls, *pipeline.Pipeline) {
	t.Helper()
	x, err := newControls(dir, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p := pipeline.New(nil, nil, nil, nil, pipeline.Options{})
	x.attach(p)
	return x, p
}

// TestRecordingLight is lit while somebody listens, and only then.
func TestRecordingLight(t *testing.T) {
	x, _ := newTestControls(t, t.TempDir(), config.Controls{MuteKey: "KEY_MICMUTE", Light: "rec"})
	for _, step := range []struct {
		name string
		do   func()
		lit  bool
	}{
		{"no sound yet", func() {}, false},
		{"sound", func() { x.sourceRuns(true) }, true},
		{"muted", x.key.Pressed, false},
		{"lost", func() { x.sourceRuns(false) }, false},
		{"listening again, and lost", x.key.Pressed, false},
		{"found", func() { x.sourceRuns(true) }, true},
	} {
		if step.do(); x.light.On() != step.lit {
			t.Errorf("%s: lit %v", step.name, !step.lit)
		}
	}
}

// TestMuteAtStart: what was muted is deaf from the first sample on; a switch that is asked
// for no longer mutes nobody.
func TestMuteAtStart(t *testing.T) {
	dir := t.TempDir()
	x, p := newTestControls(t, dir, config.Controls{MuteKey: "SW_MUTE_DEVICE"})
	if x.key.Moved(true); !p.Muted() {
		t.Error("the switch doesn't mute")
	}
	for _, c := range []struct {
		key   string
		muted bool
	}{{"SW_MUTE_DEVICE", true}, {"KEY_MICMUTE", false}, {"SW_MUTE_DEVICE", false}} {
		if _, p := newTestControls(t, dir, config.Controls{MuteKey: c.key}); p.Muted() != c.muted {
			t.Errorf("started with %s it is muted: %v", c.key, p.Muted())
		}
	}
	if x, _ := newTestControls(t, dir, config.Controls{MuteKey: "off"}); x.key != nil || x.light != nil {
		t.Errorf("neither key nor light was asked for: %+v", x)
	}
}

// TestMute mutes a service that hears somebody speak again and again, ends it, starts it
// again, and lets it listen.
func TestMute(t *testing.T) {
	address, log, end := startService(t, "--source", "loop:"+sample)
	status := func(holds func(s serverStatus) bool) func() bool {
		return func() bool { s, err := statusOf(address); return err == nil && holds(s) }
	}
	muted := func(args, want string) {
		t.Helper()
		if code, out, errs := run(t, nil, append([]string{"mute"}, strings.Fields(args)...)...); code != 0 || strings.TrimSpace(out) != want || errs != "" {
			t.Errorf("mute %s: status %d, %s%s", args, code, out, errs)
		}
	}
	eventually(t, "somebody speaks", status(func(s serverStatus) bool { return s.Speaking }))
	muted("status", "not muted")
	muted("on", "muted by user")
	muted("on", "muted by user")
	eventually(t, "what was said before is written down", status(func(s serverStatus) bool {
		return s.Muted && !s.Speaking && s.Segments == 1 && s.Lag == 0 && s.Source.LevelDB == -120
	}))
	if code, out, errs := run(t, nil, "status", "--listen", address); code != 0 || !strings.Contains(out, "running, muted by user, -120 dBFS") {
		t.Errorf("status %d: %s%s", code, out, errs)
	}
	if s := end(); s != 0 {
		t.Errorf("exit status %d, %s", s, log)
	}
	if code, _, errs := run(t, nil, "mute", "maybe"); code != exitNothing || !strings.Contains(errs, "on, off or status") {
		t.Errorf("maybe: status %d, %s", code, errs)
	}
	if code, _, errs := run(t, nil, "mute", "off"); code != exitNothing || !strings.Contains(errs, "earshot serve does not answer") {
		t.Errorf("nobody is there: status %d, %s", code, errs)
	}

	address, log, end = restartService(t, "--source", "loop:"+sample)
	eventually(t, "it is muted still", status(func(s serverStatus) bool { return s.Muted && s.Source.Pos > 16000 && s.Recording == 0 }))
	muted("off", "not muted")
	eventually(t, "it listens again", status(func(s serverStatus) bool { return !s.Muted && s.Speaking }))
	muted("on", "muted by user")
	var since int64
	eventually(t, "time passes", status(func(s serverStatus) bool {
		since = cmp.Or(since, s.Source.Pos)
		return s.Source.Pos > since+16000
	}))
	if s := end(); s != 0 {
		t.Errorf("exit status %d, %s", s, log)
	}
	_, out, _ := run(t, nil, "export", "2", "--format", "json")
	if !strings.Contains(out, "muted") {
		t.Errorf("the recording doesn't say that it was muted: %s", out)
	}
}
