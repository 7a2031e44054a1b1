package capture

import (
	"context"
	"io"
	"time"

	"earshot/audio"
)

// ChildOptions are what the capture process is asked for.
type ChildOptions struct {
	Device string       // name or part of it; "" is the system's default
	Format audio.Format // the only one to try; 0 where the process chooses
}

// Child is the capture process: it opens a device and writes what it hears to out, in
// the messages of wire.go, until ctx is done, out is closed or something fails. What
// failed is the last message, and returned. A sound system that hangs makes Child hang.
func Child(ctx context.Context, o ChildOptions, out io.Writer) error {
	w := &wireWriter{out: out}
	drv, err := openDriver()
	if err == nil {
		defer drv.close()
		err = record(ctx, drv, o, w)
	}
	if err != nil && ctx.Err() == nil {
		_ = w.failed(failure{Text: err.Error()}) // where out is the reason, nobody reads this
		return err
	}
	return nil
}

// blocksPerSecond is how often a device is read: every 40 ms. Each block wakes half a
// dozen threads of three processes. Twice as many took 2.0 % of a core with PulseAudio
// 16.1, these take 1.4 % (AMD Zen 3, 2026-11-30, all but the sound server).
const blocksPerSecond = 25

// record finds and opens the device, and passes on what it gives.
func record(ctx context.Context, drv driver, o ChildOptions, w *wireWriter) error {
	devices, err := drv.inputs()
	if err != nil {
		return err
	}
	d, err := choose(devices, o.Device)
	if err != nil {
		return err
	}
	if err := w.json(msgFound, d); err != nil {
		return err
	}
	in, format, err := openAny(drv, d, o.Format)
	if err != nil {
		return err
	}
	defer in.close()
	if err := w.json(msgOpened, format); err != nil {
		return err
	}
	clock := lossClock{rate: format.Rate, start: time.Now()}
	buf := make([]float32, format.Rate/blocksPerSecond*format.Channels)
	for ctx.Err() == nil {
		lost, err := in.read(buf)
		if err != nil {
			return err
		}
		frames := clock.read(time.Now(), len(buf)/format.Channels, in.waiting(), lost)
		if lost {
			if err := w.overflow(uint64(frames)); err != nil {
				return err
			}
		}
		if err := w.sound(buf); err != nil {
			return err
		}
	}
	return nil
}

// lossClock estimates how much a driver lost from how far the frames that came are
// behind the clock: as long as nothing is lost, the smallest lag is a constant.
type lossClock struct {
	rate   int
	start  time.Time
	frames int64         // that came, or are known to be lost
	least  time.Duration // the smallest lag so far
	any    bool
	last   time.Time
}

// drift is how fast a sound card's clock may be wrong: 300 ppm.
const drift = 3e-4

// read takes note of frames that were read at now, while so many more waited, and
// returns how many were lost before them.
func (c *lossClock) read(now time.Time, frames, waiting int, lost bool) int64 {
	c.frames += int64(frames)
	due := time.Duration(float64(c.frames+int64(waiting)) / float64(c.rate) * float64(time.Second))
	lag := now.Sub(c.start) - due
	if lost && c.any {
		gap := max(0, int64(float64(lag-c.least)*float64(c.rate)/float64(time.Second)))
		c.frames += gap
		c.last = now
		return gap
	}
	c.least += time.Duration(float64(now.Sub(c.last)) * drift)
	if !c.any || lag < c.least {
		c.least, c.any = lag, true
	}
	c.last = now
	return 0
}
