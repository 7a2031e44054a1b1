package wave

import (
	"bytes"
	"io"
)

// mp3Search is how far ahead a frame is looked for at once, in bytes. A recording of
// internet radio begins inside a frame; the first whole one comes soon.
const mp3Search = 4096

// findMP3 looks for the first frame. Without ok, the header is that of MPEG audio
// which is not MP3, or nothing.
func findMP3(in *input) (at int, h mp3Header, ok bool) {
	b, _ := in.Peek(mp3Search)
	if h, found := parseMP3(b); found && h.layer != 3 {
		return 0, h, false
	}
	for at := range b {
		h, found := parseMP3(b[at:])
		if !found || h.layer != 3 {
			continue
		}
		if confirmMP3(in, at, h) {
			return at, h, true
		}
	}
	return 0, mp3Header{}, false
}

// confirmMP3 reports whether another frame or a tag follows the one at offset at, or,
// for a frame that starts where it should, nothing does.
func confirmMP3(in *input, at int, h mp3Header) bool {
	b, _ := in.Peek(at + h.size + mp3HeaderLen)
	if len(b) < at+h.size+mp3HeaderLen {
		return at == 0
	}
	b = b[at+h.size:]
	next, ok := parseMP3(b)
	return ok && next.follows(h) || string(b[:3]) == "ID3" || string(b[:3]) == "TAG"
}

// sync moves to the next frame. Where it does not follow at once, the bytes between
// are damage: the silence that stands for them is as long as so many bytes of frames
// like the next one.
func (d *mp3Decoder) sync() error {
	if d.atFrame() {
		return nil
	}
	if err := d.skipTags(); err != nil {
		return err
	}
	start := d.in.pos()
	h, err := d.seekFrame()
	switch {
	case d.in.failed() != nil:
		return d.in.failed()
	case err != nil:
		return d.end(start)
	}
	if lost := d.in.pos() - start; lost > 0 {
		frames := (lost + int64(h.size)/2) / int64(h.size)
		d.hole.set(frames*int64(h.samples), h.rate)
		d.reservoir = 0
		d.damaged("bytes %d to %d are damaged: about %.2f s of silence in their place",
			start, start+lost, float64(d.hole.left)/float64(h.rate))
	}
	return nil
}

func (d *mp3Decoder) atFrame() bool {
	b, _ := d.in.Peek(mp3HeaderLen)
	h, ok := parseMP3(b)
	return ok && h.follows(d.ref)
}

// skipTags passes over what is stored between and behind frames: ID3v2 where files were
// joined, ID3v1 at the end.
func (d *mp3Decoder) skipTags() error {
	const id3v1 = 128
	if b, _ := d.in.Peek(3); string(b) == "TAG" {
		if err := d.in.skip(id3v1); err != nil && !ended(err) {
			return err
		}
	}
	return d.in.skipID3()
}

// seekFrame moves to the next frame that another one follows.
func (d *mp3Decoder) seekFrame() (mp3Header, error) {
	for {
		b, err := d.in.Peek(mp3Search)
		if len(b) < mp3HeaderLen {
			d.in.Discard(len(b))
			return mp3Header{}, err
		}
		i := bytes.IndexByte(b, 0xFF)
		if i < 0 {
			d.in.Discard(len(b))
			continue
		}
		d.in.Discard(i)
		head, _ := d.in.Peek(mp3HeaderLen)
		if h, ok := parseMP3(head); ok && h.follows(d.ref) && confirmMP3(d.in, 0, h) {
			return h, nil
		}
		d.in.Discard(1)
	}
}

// end is the end of the stream, with bytes from start on that are no frames.
func (d *mp3Decoder) end(start int64) error {
	switch extra := d.in.pos() - start; {
	case d.count < d.tag.frames:
		d.notes.addf("it ends after %d of %d frames", d.count, d.tag.frames)
	case extra > 0 && d.tag.frames == 0:
		d.notes.addf("the last %d bytes, from byte %d on, are not MP3", extra, start)
	}
	return io.EOF
}
