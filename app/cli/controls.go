package cli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"earshot/app/config"
	"earshot/app/panel"
	"earshot/app/pipeline"
)

// controls is what people can do to a service that runs, and what it shows them: the mute
// switch, the ways to it, and the recording light.
type controls struct {
	mute  *muteSwitch
	key   *panel.Key   // nil for none
	light *panel.Light // nil for none
	dir   string       // state folder
	log   *slog.Logger

	sounds atomic.Bool                      // the source runs
	deaf   func() bool                      // nobody listens
	noWay  atomic.Pointer[pipeline.Problem] // why the socket can't be used
}

// newControls finds the mute switch as it was left. Until attach, nobody listens.
func newControls(dir string, c config.Controls, log *slog.Logger) (*controls, error) {
	x := &controls{mute: openMuteSwitch(dir), dir: dir, log: log, deaf: func() bool { return true }}
	if c.MuteKey != "off" {
		code, err := panel.ParseCode(c.MuteKey)
		if err != nil {
			return nil, err
		}
		x.key = panel.NewKey(code)
		x.key.Device, x.key.Log = c.InputDevice, log
		x.key.Pressed = x.mute.toggle
		x.key.Moved = func(on bool) { x.mute.set(bySwitch, on) }
	}
	if x.key == nil || !x.key.Code.IsSwitch() {
		x.mute.set(bySwitch, false) // there was one before
	}
	if c.Light != "" {
		x.light = panel.NewLight(c.Light)
		x.light.On, x.light.Log = func() bool { return x.sounds.Load() && !x.deaf() }, log
	}
	return x, nil
}

// attach puts p in the hands of whoever mutes.
func (x *controls) attach(p *pipeline.Pipeline) {
	x.deaf = p.Muted
	x.mute.attach(func(muted bool) {
		p.SetMuted(muted)
		x.changed()
	})
}

// sourceRuns says whether sound comes.
func (x *controls) sourceRuns(runs bool) {
	x.sounds.Store(runs)
	x.changed()
}

func (x *controls) changed() {
	if x.light != nil {
		x.light.Changed()
	}
}

// run works until the function that it returns is called.
func (x *controls) run(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { x.listen(ctx) })
	if x.key != nil {
		parts.Go(func() { x.key.Run(ctx) })
	}
	if x.light != nil {
		parts.Go(func() { x.light.Run(ctx) })
	}
	return func() { cancel(); parts.Wait() }
}

// controlRetry is how long a folder that takes no socket is left alone.
const controlRetry = 5 * time.Second

// listen answers on the control socket. Where there can't be one, the service does without
// until there can.
func (x *controls) listen(ctx context.Context) {
	for ctx.Err() == nil {
		l, err := listenControl(ctx, x.dir)
		if err == nil {
			x.noWay.Store(nil)
			stop := serveOn(l, muteAPI(x.mute))
			<-ctx.Done()
			stop()
			_ = os.Remove(filepath.Join(x.dir, controlSocket)) // the next one would
			return
		}
		x.lacks(err)
		select {
		case <-ctx.Done():
		case <-time.After(controlRetry):
		}
	}
}

// lacks takes note of why there is no socket.
func (x *controls) lacks(err error) {
	p := pipeline.Problem{Kind: "control", Reason: err.Error(), Since: time.Now(), Count: 1}
	if before := x.noWay.Load(); before != nil {
		p.Since, p.Count = before.Since, before.Count+1
	} else {
		x.log.Warn("earshot mute can't reach this service", "problem", err)
	}
	x.noWay.Store(&p)
}

// status adds what there is to say.
func (x *controls) status(out *serverStatus) {
	mute := x.mute.state()
	out.MutedBy = mute.By
	if mute.Problem != "" {
		out.Problems = append(out.Problems, pipeline.Problem{Kind: "mute", Reason: mute.Problem, Since: mute.since, Count: 1})
	}
	if p := x.noWay.Load(); p != nil {
		out.Problems = append(out.Problems, *p)
	}
	if x.key != nil {
		s := x.key.Status()
		out.MuteKey = &s
	}
	if x.light != nil {
		s := x.light.Status()
		out.Light = &s
	}
}
