package wave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	mp3 "github.com/hajimehoshi/go-mp3"
)

// mp3Decoder decodes MP3 through hajimehoshi/go-mp3, one frame at a time. The walk
// over the frames is here, since the library ends at the first damage, allocates an
// ID3 tag as large as it says it is, and reads bits from the wrong place where a frame
// before is missing. It knows MPEG versions 1 and 2 (16 kHz and up), not 2.5.
//
// The library's checks of the bits are few: a flipped bit is mostly heard and not
// noticed. The CRC that some files have is not checked.
type mp3Decoder struct {
	in    *input
	notes *notes
	info  Info
	ref   mp3Header // of the first frame

	lib   *mp3.Decoder // nil before the first frame
	feed  bytes.Reader // the frame that lib reads
	pcm   []byte       // what lib makes of a frame: 16 bits, 2 channels
	out   []float32
	frame []byte

	reservoir int // bytes of frames before that lib has kept
	hole      hole
	count     int64 // frames read so far, without the tag's
	tag       mp3Tag
	skip      int64 // samples to drop: the delays of encoder and decoder
	left      int64 // samples to deliver; -1: all
}

// mp3Delay is what a decoder adds, in samples: 528 of the filter bank and one more
// (LAME technical FAQ; libmpg123's GAPLESS_DELAY).
const mp3Delay = 529

// openMP3 is for input without a signature: MP3 is recognised by its frames.
func openMP3(in *input, notes *notes) (decoder, Info, error) {
	at, h, ok := findMP3(in)
	switch {
	case in.failed() != nil:
		return nil, Info{}, in.failed()
	case !ok && h.layer != 0:
		return nil, Info{}, &FormatError{Found: fmt.Sprintf("MPEG audio layer %d", h.layer)}
	case !ok:
		head, _ := in.Peek(sniffLen)
		return nil, Info{}, unknown(head)
	case h.version == 25: // not known to go-mp3 0.3.4
		return nil, Info{}, &FormatError{Found: fmt.Sprintf("MP3 of MPEG version 2.5 (%d Hz)", h.rate)}
	}
	info := Info{Container: "MP3", Codec: "MP3", Rate: h.rate, Channels: h.channels, Frames: -1}
	if err := checkLayout(info); err != nil {
		return nil, Info{}, err
	}
	in.Discard(at)
	d := &mp3Decoder{
		in: in, notes: notes, info: info, ref: h,
		hole: hole{channels: h.channels},
		pcm:  make([]byte, 4*1152),
		out:  make([]float32, 1152*h.channels),
	}
	d.useTag()
	info.Frames = d.left
	return d, info, nil
}

// useTag sets up the exact length, where the frame that follows tells it.
func (d *mp3Decoder) useTag() (ok bool) {
	d.left, d.skip, d.count, d.reservoir = -1, 0, 0, 0
	head, _ := d.in.Peek(mp3HeaderLen)
	h, _ := parseMP3(head)
	first, _ := d.in.Peek(h.size)
	if d.tag, ok = parseMP3Tag(h, first); !ok {
		return false
	}
	d.in.Discard(len(first))
	if d.tag.delay < 0 {
		return true
	}
	d.skip = d.tag.delay + mp3Delay
	if n := d.tag.frames*int64(d.ref.samples) - d.tag.delay - d.tag.padding; d.tag.frames > 0 && n > 0 {
		d.left = n
	}
	return true
}

// goesOn reports whether more frames follow than the tag declares: those of another
// file, where files were joined, or of a tag that is wrong.
func (d *mp3Decoder) goesOn() bool {
	for ; d.count < d.tag.frames && d.atFrame(); d.count++ { // the padding
		head, _ := d.in.Peek(mp3HeaderLen)
		h, _ := parseMP3(head)
		d.in.Discard(h.size)
	}
	if err := d.skipTags(); err != nil || !d.atFrame() {
		return false
	}
	declared, at := d.tag.frames, d.in.pos()
	if !d.useTag() {
		d.notes.addf("the first frame declares %d frames, more follow from byte %d on", declared, at)
	}
	return true
}

func (d *mp3Decoder) next() ([]float32, error) {
	for d.left != 0 || d.goesOn() {
		block, err := d.block()
		if err != nil {
			return nil, err
		}
		if block = d.trim(block); len(block) > 0 {
			return block, nil
		}
	}
	return nil, io.EOF
}

// block returns the sound of the next frame, or a part of the silence in front of it.
func (d *mp3Decoder) block() ([]float32, error) {
	if d.hole.left == 0 {
		if err := d.sync(); err != nil {
			return nil, err
		}
	}
	if d.hole.left > 0 {
		return d.hole.next(), nil
	}
	head, _ := d.in.Peek(mp3HeaderLen)
	h, _ := parseMP3(head)
	start := d.in.pos()
	d.frame = slices.Grow(d.frame[:0], h.size)[:h.size]
	if n, err := io.ReadFull(d.in, d.frame); err != nil {
		if !ended(err) {
			return nil, err
		}
		d.notes.addf("it ends inside a frame: %d of %d bytes at byte %d", n, h.size, start)
		return nil, io.EOF
	}
	d.count++
	return d.decode(h, start), nil
}

// decode returns the sound of d.frame, which began at byte start. Without the frames
// before that it builds on, and where it cannot be decoded, it is silence.
func (d *mp3Decoder) decode(h mp3Header, start int64) []float32 {
	begin := h.mainDataBegin(d.frame)
	if begin > d.reservoir {
		begin = d.reservoir
		h.mute(d.frame, begin)
	}
	pcm, err := d.run()
	if err != nil {
		d.damaged("the frame at byte %d is damaged: %v", start, err)
		begin = 0
		h.mute(d.frame, 0)
		pcm, err = d.run()
	}
	if err != nil {
		pcm = d.pcm[:4*h.samples]
		clear(pcm)
	}
	_, end := h.sideInfo()
	d.reservoir = begin + h.size - end
	return d.convert(pcm)
}

// run lets the library decode d.frame.
func (d *mp3Decoder) run() (pcm []byte, err error) {
	// The library indexes tables by bits of the frame (go-mp3 issue 51); a panic of it
	// is damage. It goes on with the next frame all the same: what it keeps between
	// frames is replaced at the end of each.
	defer recoverLibrary("go-mp3", &err)
	d.feed.Reset(d.frame)
	if d.lib == nil {
		noSeeker := struct{ io.Reader }{&d.feed} // it would walk over the whole stream
		if d.lib, err = mp3.NewDecoder(noSeeker); err != nil {
			return nil, err
		}
	}
	n, err := d.lib.Read(d.pcm)
	if errors.Is(err, io.EOF) {
		err = errors.New("its data is longer than the frame")
	}
	return d.pcm[:n], err
}

// convert makes samples of info's channels from the library's 16 bits and 2 channels.
func (d *mp3Decoder) convert(pcm []byte) []float32 {
	const scale = 1.0 / 32768
	out := d.out[:len(pcm)/4*d.info.Channels]
	for i := range len(pcm) / 4 {
		left := float32(int16(binary.LittleEndian.Uint16(pcm[4*i:]))) * scale
		right := float32(int16(binary.LittleEndian.Uint16(pcm[4*i+2:]))) * scale
		if d.info.Channels == 1 {
			out[i] = (left + right) / 2 // the same twice, unless the stream turned stereo
		} else {
			out[2*i], out[2*i+1] = left, right
		}
	}
	return out
}

// trim takes the delays off the start and the padding off the end.
func (d *mp3Decoder) trim(block []float32) []float32 {
	channels := int64(d.info.Channels)
	n := min(d.skip, int64(len(block))/channels)
	d.skip -= n
	block = block[n*channels:]
	if d.left >= 0 {
		block = block[:min(int64(len(block)), d.left*channels)]
		d.left -= int64(len(block)) / channels
	}
	return block
}

// damaged notes that the length that the first frame tells may not hold any more.
func (d *mp3Decoder) damaged(format string, args ...any) {
	d.notes.addf(format, args...)
	d.left = -1
}
