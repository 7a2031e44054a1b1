package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"earshot/audio"
)

// Source is live sound. It is not safe for concurrent use, Status and Close apart.
type Source interface {
	// Read waits for the next block. It returns io.EOF at the end of what ends (a file,
	// a pipe), and an error when ctx or the source's own context is done.
	Read(ctx context.Context) (Block, error)
	// Status says how things are now.
	Status() Status
	// Close ends the source, and the process behind it.
	Close() error
}

// Block is what lies between two positions of the sample clock: sound, or nothing.
type Block struct {
	Pos     int64     // of its first sample, 16 kHz
	Samples []float32 // 16 kHz mono, [-1, 1], at most 100 ms; valid until the next Read
	Missing int64     // samples that were not heard; then Samples is empty
}

// State is what a source is doing.
type State string

const (
	Searching State = "searching" // the device is not there, or cannot be opened, yet
	Opening   State = "opening"   // the device is there; no sound so far
	Running   State = "running"   // sound comes
	Lost      State = "lost"      // sound came, and no longer does
	Ended     State = "ended"     // the file or pipe is at its end, or the source was closed
)

// Event is a change that people should be able to see.
type Event struct {
	Time   time.Time `json:"time"`
	State  State     `json:"state"`
	Reason string    `json:"reason,omitempty"`
	Pos    int64     `json:"pos"`               // sample clock, 16 kHz
	Device string    `json:"device,omitempty"`  // full name of the device that is used
	Gap    int64     `json:"missing,omitempty"` // samples that this event says are missing, at Pos
}

// Status is a moment's view of a source.
type Status struct {
	State    State        `json:"state"`
	Since    time.Time    `json:"since"`
	Reason   string       `json:"reason,omitempty"` // why it is not running
	Device   string       `json:"device,omitempty"`
	Live     bool         `json:"live"`              // sound comes in its own time, not as fast as it is read
	Format   audio.Format `json:"format"`            // of the device; zero while not known
	Pos      int64        `json:"pos"`               // samples so far, missing ones included
	Missing  int64        `json:"missing_samples"`   // of these, not heard
	Overflow int          `json:"overflows"`         // times the driver lost samples
	Dropped  int          `json:"dropped"`           // times the reader was too slow
	Attempts int          `json:"attempts"`          // times that the device was looked for
	LevelDB  float64      `json:"level_dbfs"`        // RMS of the last 20 ms, before gain
	GainDB   float64      `json:"gain_db"`           // what gain control adds
	Unpaced  bool         `json:"unpaced,omitempty"` // as fast as it is read: it waits, and tells no time
	History  []Event      `json:"history,omitempty"` // the last events, oldest first
}

// File is a recording that was opened.
type File interface {
	audio.Source
	io.Closer
}

// Options are what a source needs from outside.
type Options struct {
	// Convert makes 16 kHz mono of any format, in full length: resample.To16k.
	Convert func(audio.Source) (audio.Source, error)
	// Preset is options that hold where the spec doesn't say otherwise.
	Preset string
	// OpenFile opens recordings, for file: and loop:.
	OpenFile func(path string) (File, error)
	// Stdin is what the source stdin reads.
	Stdin io.Reader
	// Command starts the capture process; arguments of Child's command are appended.
	// The default is this program's own command capture.
	Command []string
	// Buffer is how far Read may fall behind a device before samples are dropped; the
	// default is 30 s.
	Buffer time.Duration
	// Notify, if set, is called with each event as it happens. It must not block.
	Notify func(Event)
	// Log, if set, is told when sound comes, when it is lost, and why.
	Log *slog.Logger
}

const defaultBuffer = 30 * time.Second

// Open starts the source that spec names:
//
//	default, or nothing   the system's input
//	NAME, device:NAME     the input with that name, or with that in its name
//	file:PATH             a recording, paced like a microphone
//	loop:PATH             the same again and again
//	stdin                 raw samples from standard input
//
// Options follow behind a question mark, as in file:talk.wav?speed=max&gain=on:
//
//	gain=on|off           slow gain control; the default is on for devices only
//	filter=on|off         DC removal and high-pass; likewise
//	channel=mix|N         the channel to take, from 1 on; mix is audio.Mono's
//	speed=max             file, loop: as fast as it is read
//	rate, channels        device: the only format to try; stdin: of the samples
//	format=s16le|f32le    stdin
//
// A device need not be there. The source ends when ctx does.
func Open(ctx context.Context, spec string, o Options) (Source, error) {
	p, err := parseSpec(spec, o.Preset)
	if err != nil {
		return nil, err
	}
	if o.Convert == nil {
		panic("BUG: capture.Options.Convert is not set")
	}
	s := newStream(o, p)
	switch p.kind {
	case kindDevice:
		return s.begin(ctx, newSupervisor(s, p).run), nil
	case kindFile, kindLoop:
		return openFile(ctx, s, p)
	default:
		if o.Stdin == nil {
			return nil, errors.New("read samples from standard input: there is none")
		}
		in, err := audio.Mono(&raw{in: o.Stdin, format: p.format, float: p.float}, p.channel)
		if err != nil {
			return nil, fmt.Errorf("source %q: %w", spec, err)
		}
		return s.begin(ctx, s.feed(p.format, in)), nil
	}
}

// From is a source that takes its sound from src, and waits for its reader: samples
// from a network connection, for one. name stands for it in Status.
func From(ctx context.Context, name string, src audio.Source, o Options) (Source, error) {
	if f := src.Format(); f.Rate < minRate || f.Rate > maxRate || f.Channels < 1 || f.Channels > maxChannels {
		return nil, fmt.Errorf("%s: %d Hz, %d channels: accepted are %d to %d Hz, 1 to %d channels", name, f.Rate, f.Channels, minRate, maxRate, maxChannels)
	}
	s := newStream(o, spec{name: name})
	s.lossless = true
	return s.begin(ctx, s.feed(src.Format(), src)), nil
}
