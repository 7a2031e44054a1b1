package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"earshot/audio"
)

// List writes the inputs of this machine to out, as the capture process does when it is
// asked for a list: a message 'f' for each, or one 'e'.
func List(out io.Writer) error {
	w := &wireWriter{out: out}
	drv, err := openDriver()
	if err != nil {
		_ = w.failed(failure{Text: err.Error()}) // err says more than a broken pipe
		return err
	}
	defer drv.close()
	devices, err := drv.inputs()
	if err != nil {
		_ = w.failed(failure{Text: err.Error()})
		return err
	}
	for _, d := range devices {
		if err := w.json(msgFound, d); err != nil {
			return err
		}
	}
	return nil
}

// Devices asks a capture process for the inputs of this machine.
func Devices(ctx context.Context, o Options) ([]Device, error) {
	p, err := startProcess(append(o.command(), "--list"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	defer context.AfterFunc(ctx, p.kill)()
	devices, err := readList(newWireReader(p.out))
	said := p.end()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("list sound devices: no answer within %v", opening)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("list sound devices: %w", err)
	case len(devices) == 0 && said != processEnded:
		return nil, fmt.Errorf("list sound devices: %s", said)
	}
	return devices, nil
}

// mostDevices is more than any machine has.
const mostDevices = 1000

func readList(r *wireReader) ([]Device, error) {
	var all []Device
	for {
		m, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case m.kind == msgError && m.failure.Text == ErrNoPortAudio.Error():
			return nil, ErrNoPortAudio
		case m.kind == msgError:
			return nil, errors.New(m.failure.Text)
		case m.kind != msgFound || len(all) == mostDevices:
			return nil, garbage("message of type %q in a list", m.kind)
		}
		all = append(all, m.device)
	}
}

// Level is how loud an input is.
type Level struct {
	RMS    float64      `json:"rms_dbfs"`  // of the loudest 20 ms, constant offset apart
	Peak   float64      `json:"peak_dbfs"` // the largest sample
	Format audio.Format `json:"format"`    // in which the device was opened
}

// Measure listens to a device for a while.
func Measure(ctx context.Context, d Device, listen time.Duration, o Options) (Level, error) {
	ctx, cancel := context.WithTimeout(ctx, listen+opening)
	defer cancel()
	reason := make(chan string, 1)
	o.Notify = func(e Event) {
		if e.Reason != "" && (e.State == Searching || e.State == Lost) {
			select {
			case reason <- e.Reason:
				cancel() // one attempt is enough
			default:
			}
		}
	}
	s := newStream(o, spec{name: d.Name, filter: true})
	src := s.begin(ctx, newSupervisor(s, spec{name: d.Name}).run)
	defer src.Close()
	var l Level
	square, peak := 0.0, 0.0
	for heard := time.Duration(0); heard < listen; {
		b, err := src.Read(ctx)
		if err != nil {
			select {
			case text := <-reason:
				return l, errors.New(text)
			default:
				return l, fmt.Errorf("no sound within %v", listen+opening)
			}
		}
		heard += duration(int64(len(b.Samples)))
		for frame := range slices.Chunk(b.Samples, chunk) {
			var sum float64
			for _, v := range frame {
				peak = max(peak, math.Abs(float64(v)))
				sum += float64(v) * float64(v)
			}
			square = max(square, sum/chunk)
		}
	}
	l.RMS, l.Peak, l.Format = decibels(square), decibels(peak*peak), src.Status().Format
	return l, nil
}
