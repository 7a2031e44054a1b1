// Package wave reads audio files as streams of float32 samples and writes small
// WAV files.
//
// The container is recognised by its first bytes, never by the file's name: WAV
// (RIFF, RF64, BW64), FLAC, MP3, Ogg Vorbis and Ogg Opus. A Reader works on any
// io.Reader, a pipe included, and holds a few blocks of samples, never the file.
// No buffer has a size that a header asked for.
//
// # Damaged input
//
// The samples that are there are delivered, and what is wrong is said once:
//
//   - Input that ends too early gives the samples before the end, then io.EOF and a
//     warning. A partial last frame is dropped.
//   - Damage in the middle of FLAC, MP3 or Ogg: those formats can be picked up again
//     at the next frame or page. The hole is filled with silence (its length is exact
//     in FLAC and Ogg, estimated from the bytes in MP3), so that the times of
//     everything behind it stay right, and a warning names the place. When nothing
//     usable follows, it counts as an early end.
//   - WAV samples carry no check; only sizes can be seen to be wrong. Whatever bytes
//     the data chunk holds are samples.
//   - A header that cannot be understood is an error from Open or NewReader:
//     ErrEmpty, ErrDamaged, ErrRate, ErrChannels, or a *FormatError.
//
// Samples come out in [-1, 1]: beyond full scale they are clipped, NaN becomes 0.
//
// The package starts no threads. It owns the file that Open opened, and closes it
// in Close.
package wave

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"earshot/audio"
)

// Limits on what a header may say. Rates outside are typing errors or attacks (a
// test file of pocketsphinx declares 1 092 676 Hz) rather than sound.
const (
	MinRate     = 4000
	MaxRate     = 192000
	MaxChannels = 32
)

// Info describes a file as its header does.
type Info struct {
	Container string // "WAV", "RF64", "BW64", "FLAC", "MP3" or "Ogg"
	Codec     string // "PCM", "IEEE float", "A-law", "mu-law", "FLAC", "MP3", "Vorbis" or "Opus"
	Bits      int    // bits per stored sample; 0 where the codec has no such number
	Rate      int    // frames per second, Hz
	Channels  int
	// Frames is the length. It is -1 as long as it is not known, and is what was
	// really found once Read has returned io.EOF.
	Frames int64
}

// decoder produces blocks of samples.
type decoder interface {
	// next returns the next block of interleaved samples, at least one frame, valid
	// until the next call; or an error, which is io.EOF at the end.
	next() ([]float32, error)
}

// closer is a decoder that owns something outside Go's heap.
type closer interface{ close() }

// Reader is an audio.Source that reads one file or stream. It is not safe for
// concurrent use.
type Reader struct {
	name  string
	file  io.Closer // nil: the stream belongs to the caller
	info  Info
	notes notes
	dec   decoder
	block []float32 // decoded and not yet handed out
	read  int64     // frames handed out
	err   error     // what ended the stream
}

var _ audio.Source = (*Reader)(nil)

// Open opens the file at path. The caller closes the Reader.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// NewReader reads from src; name stands for it in errors. The caller closes the
// Reader, and src. Where src can seek, its size is asked for so that Info knows the
// length in advance; it is read from where it stands, and only forwards.
func NewReader(src io.Reader, name string) (*Reader, error) {
	r := &Reader{name: name}
	var err error
	r.dec, r.info, err = open(newInput(src), &r.notes)
	if err != nil {
		return nil, named(name, err)
	}
	return r, nil
}

// open recognises the container and reads its header.
func open(in *input, notes *notes) (decoder, Info, error) {
	if err := in.skipID3(); err != nil {
		return nil, Info{}, err
	}
	head, err := in.Peek(sniffLen)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			err = ErrEmpty
		}
		return nil, Info{}, err
	}
	switch kind := sniff(head); kind {
	case kindWAV:
		return openWAV(in, notes)
	case kindFLAC:
		return openFLAC(in, notes)
	case kindOgg:
		return openOgg(in, notes)
	case kindUnknown:
		return openMP3(in, notes)
	default:
		return nil, Info{}, &FormatError{Found: kind}
	}
}

// checkLayout is called by every decoder before it allocates anything.
func checkLayout(info Info) error {
	switch {
	case info.Rate < MinRate || info.Rate > MaxRate:
		return fmt.Errorf("%w: %d Hz, accepted are %d to %d Hz", ErrRate, info.Rate, MinRate, MaxRate)
	case info.Channels < 1 || info.Channels > MaxChannels:
		return fmt.Errorf("%w: %d, accepted are 1 to %d", ErrChannels, info.Channels, MaxChannels)
	}
	return nil
}

// Format returns the layout of the samples.
func (r *Reader) Format() audio.Format {
	return audio.Format{Rate: r.info.Rate, Channels: r.info.Channels}
}

// Info returns what the header says; see Info.Frames for the length.
func (r *Reader) Info() Info { return r.info }

// Warnings returns what was found wrong so far without being an error, in order.
// It is complete once Read has returned an error or io.EOF.
func (r *Reader) Warnings() []string { return r.notes.all() }

// Read implements audio.Source. dst must have room for one frame.
func (r *Reader) Read(dst []float32) (int, error) {
	dst = dst[:len(dst)/r.info.Channels*r.info.Channels]
	if len(dst) == 0 {
		return 0, io.ErrShortBuffer
	}
	for len(r.block) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(dst, r.block)
	r.block = r.block[n:]
	r.read += int64(n / r.info.Channels)
	return n, nil
}

// fill fetches the next block, or the reason why there is none.
func (r *Reader) fill() {
	block, err := r.dec.next()
	switch {
	case errors.Is(err, io.EOF):
		r.err = io.EOF
		r.info.Frames = r.read
	case err != nil:
		r.err = named(r.name, err)
	default:
		clip(block)
		r.block = block
	}
}

// Close releases the decoder, and the file if Open opened it. It is safe to call
// it more than once.
func (r *Reader) Close() error {
	if c, ok := r.dec.(closer); ok {
		c.close()
	}
	r.dec, r.block, r.err = nil, nil, os.ErrClosed
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	return file.Close()
}

// clip puts samples in place that no later stage has to expect anything but
// [-1, 1] from. Float files hold anything: NaN, infinities, +6 dBFS.
func clip(samples []float32) {
	for i, s := range samples {
		switch {
		case s > 1:
			samples[i] = 1
		case s < -1:
			samples[i] = -1
		case s != s: // NaN
			samples[i] = 0
		}
	}
}

// notes collects warnings. A file damaged in many places does not fill the memory.
type notes struct {
	kept    []string
	dropped int
}

const maxNotes = 16

func (n *notes) addf(format string, args ...any) {
	if len(n.kept) == maxNotes {
		n.dropped++
		return
	}
	n.kept = append(n.kept, fmt.Sprintf(format, args...))
}

func (n *notes) all() []string {
	all := slices.Clone(n.kept)
	if n.dropped > 0 {
		all = append(all, fmt.Sprintf("and %d more of the same kinds", n.dropped))
	}
	return all
}
