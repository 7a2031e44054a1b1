package capture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"earshot/audio"
)

// feed takes in src, which came in a format, to its end.
func (s *stream) feed(format audio.Format, src audio.Source) func(context.Context) error {
	s.lossless = true
	return func(ctx context.Context) error {
		s.running(format)
		return s.takeIn(ctx, src)
	}
}

func (s *stream) running(f audio.Format) {
	s.mu.Lock()
	s.status.Format = f
	s.mu.Unlock()
	s.set(Event{State: Running})
}

// openFile starts a recording: once, or again and again.
func openFile(ctx context.Context, s *stream, p spec) (Source, error) {
	if s.options.OpenFile == nil {
		panic("BUG: capture.Options.OpenFile is not set")
	}
	first, err := s.options.OpenFile(p.name)
	if err != nil {
		return nil, err
	}
	if _, err := audio.Mono(first, p.channel); err != nil {
		first.Close()
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	s.lossless = p.unpaced
	return s.begin(ctx, func(ctx context.Context) error {
		if !p.unpaced {
			s.paced = time.Now()
		}
		s.running(first.Format())
		if p.kind == kindLoop {
			return s.loop(ctx, first, p.name)
		}
		return s.play(ctx, first)
	}), nil
}

// loop plays f, and then what stands at path, for ever.
func (s *stream) loop(ctx context.Context, f File, path string) error {
	for {
		before, _ := s.ring.written()
		if err := s.play(ctx, f); err != nil {
			return err
		}
		if after, _ := s.ring.written(); after == before {
			return fmt.Errorf("repeat %s: there is no sound in it", path)
		}
		var err error
		if f, err = s.options.OpenFile(path); err != nil {
			return err
		}
	}
}

// play takes in f and closes it.
func (s *stream) play(ctx context.Context, f File) error {
	defer f.Close()
	in, err := audio.Mono(f, s.channel)
	if err != nil {
		return err // what stands at the path is another file now
	}
	return s.takeIn(ctx, in)
}

// raw is a source of samples without a header, little-endian, interleaved.
type raw struct {
	in     io.Reader
	format audio.Format
	float  bool // 32-bit float; else 16-bit integers
	bytes  []byte
	held   int   // bytes of a frame that is not complete
	err    error // how in ended
}

func (r *raw) Format() audio.Format { return r.format }

// Read implements audio.Source. Part of a frame at the end is dropped.
func (r *raw) Read(dst []float32) (int, error) {
	width := 2
	if r.float {
		width = 4
	}
	frame := width * r.format.Channels
	frames := len(dst) / r.format.Channels
	if frames == 0 {
		return 0, io.ErrShortBuffer
	}
	if len(r.bytes) < frames*frame {
		r.bytes = append(r.bytes, make([]byte, frames*frame-len(r.bytes))...)
	}
	for r.held < frame && r.err == nil {
		var n int
		n, r.err = r.in.Read(r.bytes[r.held : frames*frame])
		r.held += n
	}
	n := r.held / frame
	for i := range n * r.format.Channels {
		if r.float {
			dst[i] = sample(binary.LittleEndian.Uint32(r.bytes[4*i:]))
		} else {
			dst[i] = float32(int16(binary.LittleEndian.Uint16(r.bytes[2*i:]))) / 32768
		}
	}
	r.held = copy(r.bytes, r.bytes[n*frame:r.held])
	if n > 0 {
		return n * r.format.Channels, nil
	}
	if errors.Is(r.err, io.EOF) {
		return 0, io.EOF
	}
	return 0, fmt.Errorf("read samples: %w", r.err)
}

// sample is a float32 from outside: in [-1, 1], and 0 for what is no number. A NaN
// would stay in the filter for ever.
func sample(bits uint32) float32 {
	v := math.Float32frombits(bits)
	if v != v {
		return 0
	}
	return max(-1, min(1, v))
}
