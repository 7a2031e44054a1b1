package wave

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
)

// flacDecoder decodes FLAC (RFC 9639) through mewkiz/flac, frame by frame, and picks
// the stream up again behind a damaged frame. Every frame has a CRC-8 over its
// header and a CRC-16 over all of it, which the library checks; the MD5 sum over
// all samples is not computed.
type flacDecoder struct {
	bytes flacBytes
	notes *notes
	info  Info
	scale float32 // full scale is 1/scale

	total int64 // frames by the header, -1 when it does not say
	pos   int64 // frames delivered
	first int64 // number of the stream's first frame: not 0 in a cut from a longer one
	block int64 // frames in a full block
	hole  hole
	held  *frame.Frame // decoded, comes behind the hole
	out   []float32
}

func openFLAC(in *input, notes *notes) (decoder, Info, error) {
	stream, err := flacHeader(in)
	if err != nil {
		return nil, Info{}, err
	}
	si := stream.Info
	info := Info{
		Container: "FLAC", Codec: "FLAC",
		Bits: int(si.BitsPerSample), Rate: int(si.SampleRate), Channels: int(si.NChannels),
		Frames: -1,
	}
	if si.NSamples > 0 {
		info.Frames = int64(si.NSamples)
	}
	if err := checkLayout(info); err != nil {
		return nil, Info{}, err
	}
	if info.Bits > 24 { // mewkiz/flac 1.0.14 does not know the frame header's code for more
		return nil, Info{}, &FormatError{Found: fmt.Sprintf("FLAC of %d bits", info.Bits)}
	}
	d := &flacDecoder{
		bytes: flacBytes{in: in},
		notes: notes,
		info:  info,
		scale: float32(math.Ldexp(1, 1-info.Bits)),
		total: info.Frames,
		hole:  hole{channels: info.Channels},
	}
	return d, info, nil
}

// flacHeader reads the metadata. The library puts a bufio.Reader around what it is
// given, and bufio takes one that is large enough as it is; so the stream goes on
// exactly behind the metadata.
func flacHeader(in *input) (stream *flac.Stream, err error) {
	defer recoverLibrary("mewkiz/flac", &err)
	stream, err = flac.New(in.Reader)
	switch {
	case err == nil:
		return stream, nil
	case in.failed() != nil:
		return nil, in.failed()
	case ended(err):
		return nil, cutHeader(in, err)
	}
	return nil, damagedf("FLAC header: %w", err)
}

func (d *flacDecoder) next() ([]float32, error) {
	if d.hole.left > 0 {
		return d.silence(), nil
	}
	if f := d.held; f != nil {
		d.held = nil
		return d.samples(f), nil
	}
	start := d.bytes.pos()
	f, err := d.parse()
	if err == nil {
		if d.pos == 0 {
			d.first = d.number(f)
		}
		return d.samples(f), nil
	}
	if d.held, err = d.resume(start, err); err != nil {
		return nil, err
	}
	return d.next()
}

// parse decodes the frame that starts here.
func (d *flacDecoder) parse() (f *frame.Frame, err error) {
	// The library trusts some numbers that the frame holds; where one makes it index
	// out of range, the frame is damaged.
	defer recoverLibrary("mewkiz/flac", &err)
	d.bytes.mark()
	if f, err = frame.New(&d.bytes); err != nil {
		return nil, err
	}
	if !d.fits(f) {
		return nil, errors.New("the frame does not match the stream")
	}
	return f, f.Parse()
}

// fits completes f's header from the stream's and reports whether they agree.
func (d *flacDecoder) fits(f *frame.Frame) bool {
	if f.BitsPerSample == 0 { // "as in STREAMINFO"
		f.BitsPerSample = uint8(d.info.Bits)
	}
	if f.SampleRate == 0 {
		f.SampleRate = uint32(d.info.Rate)
	}
	return f.BlockSize > 0 && f.Channels.Count() == d.info.Channels &&
		int(f.BitsPerSample) == d.info.Bits && int(f.SampleRate) == d.info.Rate
}

// number is the place of f's first sample in the stream. Streams of fixed block size
// count blocks, the last of which may be shorter; the others count samples.
func (d *flacDecoder) number(f *frame.Frame) int64 {
	if !f.HasFixedBlockSize {
		return int64(f.Num & math.MaxInt64)
	}
	d.block = max(d.block, int64(f.BlockSize))
	return int64(f.Num&math.MaxInt32) * d.block
}

// resume finds the next good frame behind one that could not be read, which began
// at byte start, and prepares the silence before it. cause is what was wrong.
func (d *flacDecoder) resume(start int64, cause error) (*frame.Frame, error) {
	d.bytes.rewind()
	for err := cause; ; {
		switch {
		case d.bytes.in.failed() != nil:
			return nil, d.bytes.in.failed()
		case ended(err):
			return nil, d.end(start, cause)
		}
		if err = d.bytes.seekFrame(d.fits); err != nil {
			continue
		}
		at := d.bytes.pos()
		var f *frame.Frame
		if f, err = d.parse(); err == nil {
			d.hole.set(d.number(f)-d.first-d.pos, d.info.Rate)
			d.notes.addf("bytes %d to %d are damaged (%v): %.2f s of silence in their place",
				start, at, cause, float64(d.hole.left)/float64(d.info.Rate))
			return f, nil
		}
	}
}

// end is the end of the bytes, behind a frame that began at byte start. It may come
// too early.
func (d *flacDecoder) end(start int64, cause error) error {
	switch {
	case d.total > d.pos:
		d.notes.addf("it ends after %d of %d frames, at byte %d: %v", d.pos, d.total, start, cause)
	case d.total < 0 && !errors.Is(cause, io.EOF):
		d.notes.addf("it ends inside a frame at byte %d: %v", start, cause)
	}
	return io.EOF // what follows the last frame is a tag
}

func (d *flacDecoder) silence() []float32 {
	block := d.hole.next()
	d.pos += int64(len(block) / d.info.Channels)
	return block
}

// samples interleaves f.
func (d *flacDecoder) samples(f *frame.Frame) []float32 {
	n, channels := int(f.BlockSize), d.info.Channels
	d.pos += int64(n)
	if cap(d.out) < n*channels {
		d.out = make([]float32, n*channels)
	}
	d.out = d.out[:n*channels]
	for c, sub := range f.Subframes {
		for i, s := range sub.Samples[:n] {
			d.out[i*channels+c] = float32(s) * d.scale
		}
	}
	return d.out
}
