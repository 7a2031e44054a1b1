package wave

import (
	"errors"
	"fmt"
	"io"

	"github.com/jfreymuth/vorbis"
)

// vorbisDecoder decodes Ogg Vorbis, page by page: the pages here (ogg.go), the packets
// by jfreymuth/vorbis. That author's own Ogg reader, oggvorbis, ends at the first
// damage and lets a packet grow without bound.
type vorbisDecoder struct {
	ogg   oggReader
	notes *notes
	info  Info
	lib   *vorbis.Decoder

	pos   int64 // of the stream: frames delivered, silence included
	begun bool  // a page with sound has been read
	hole  hole
	held  []float32 // decoded, comes behind the hole
	buf   []float32 // of one packet
	out   []float32
	last  bool // the last page has been read
}

func openVorbis(in *input, notes *notes, serial uint32) (decoder, Info, error) {
	d := &vorbisDecoder{ogg: oggReader{in: in, serial: serial}, notes: notes}
	if err := d.headers(); err != nil {
		return nil, Info{}, err
	}
	d.buf = make([]float32, d.lib.BufferSize())
	d.hole.channels = d.info.Channels
	return d, d.info, nil
}

// headers reads the three header packets: identification, comments, setup.
func (d *vorbisDecoder) headers() error {
	d.lib = new(vorbis.Decoder)
	for !d.lib.HeadersRead() {
		page, err := d.ogg.read()
		switch {
		case errors.Is(err, io.EOF):
			return damagedf("Vorbis: it ends inside the headers")
		case err != nil:
			return err
		}
		for _, packet := range page.packets {
			if err := d.header(packet); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *vorbisDecoder) header(packet []byte) (err error) {
	if !vorbis.IsHeader(packet) {
		return damagedf("Vorbis: a header packet is missing")
	}
	body := packet[7:]
	const identification, setup = 1, 5
	switch packet[0] {
	case identification:
		if d.info, err = checkVorbisID(body); err != nil {
			return err
		}
	case setup:
		if d.info.Channels == 0 {
			return damagedf("Vorbis: the identification header is missing")
		}
		if err := checkVorbisSetup(body); err != nil {
			return damagedf("Vorbis setup header: %w", err)
		}
	default: // comments: the library would allocate as many as the header says
		return nil
	}
	// The library indexes slices by what the headers say, and panics where that is wrong.
	defer recoverLibrary("jfreymuth/vorbis", &err)
	if err := d.lib.ReadHeader(packet); err != nil {
		return damagedf("Vorbis header: %w", err)
	}
	return nil
}

func (d *vorbisDecoder) next() ([]float32, error) {
	for {
		switch {
		case d.hole.left > 0:
			block := d.hole.next()
			d.pos += int64(len(block) / d.info.Channels)
			return block, nil
		case len(d.held) > 0:
			block := d.held
			d.held = nil
			d.pos += int64(len(block) / d.info.Channels)
			return block, nil
		case d.last:
			return nil, d.end()
		}
		page, err := d.ogg.read()
		if errors.Is(err, io.EOF) {
			d.notes.addf("it ends after %d frames without its last page", d.pos)
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		d.decode(page)
	}
}

// decode turns a page into d.held and d.hole. The position on the page says which
// of its frames to leave out at the start and the end, and how long a hole is.
func (d *vorbisDecoder) decode(page oggPackets) {
	if page.broken {
		d.lib.Clear()
	}
	d.out = d.out[:0]
	for _, packet := range page.packets {
		samples, err := d.packet(packet)
		if err != nil {
			d.notes.addf("the page that ends at byte %d is damaged: %v", d.ogg.in.pos(), err)
			page.broken = true
			d.lib.Clear()
			continue
		}
		d.out = append(d.out, samples...)
	}
	d.held = d.out
	d.last = page.flags&oggLast != 0
	frames := int64(len(d.out) / d.info.Channels)
	if page.position < 0 || frames == 0 && !d.last {
		return
	}
	d.place(page, frames)
	d.begun = true
}

// place compares the page's position, behind its last frame, with the frames that
// came out of it.
func (d *vorbisDecoder) place(page oggPackets, frames int64) {
	missing := page.position - (d.pos + frames)
	channels := int64(d.info.Channels)
	switch {
	case d.last && missing < 0: // the last packet is longer than the sound (Vorbis I, appendix A.2)
		d.held = d.held[:max(0, frames+missing)*channels]
	case !d.begun && missing < 0: // so is the first one
		d.held = d.held[min(frames, -missing)*channels:]
	case page.broken && missing > 0:
		d.hole.set(missing, d.info.Rate)
		d.notes.addf("pages are missing before byte %d: %.2f s of silence in their place",
			d.ogg.in.pos(), float64(d.hole.left)/float64(d.info.Rate))
	default: // a cut from a longer stream does not start at 0
		d.pos += missing
	}
}

// packet decodes one packet of sound.
func (d *vorbisDecoder) packet(b []byte) (samples []float32, err error) {
	// The library checks little of what it indexes by; a panic of it is damage. What
	// it keeps between packets is the overlap, which Clear drops.
	defer recoverLibrary("jfreymuth/vorbis", &err)
	if len(b) == 0 {
		return nil, nil
	}
	return d.lib.DecodeInto(b, d.buf)
}

// end is the end of the stream: io.EOF, unless another one is chained to it.
func (d *vorbisDecoder) end() error {
	if _, _, ok := peekPage(d.ogg.in); ok {
		d.notes.addf("another stream follows the first at byte %d; it is not read", d.ogg.in.pos())
	}
	return io.EOF
}

// checkVorbisID checks the identification header (Vorbis I, section 4.2.2), which
// decides on the sizes of the decoder's buffers.
func checkVorbisID(b []byte) (Info, error) {
	if len(b) < 23 {
		return Info{}, damagedf("Vorbis: the identification header has %d bytes", len(b))
	}
	info := Info{
		Container: "Ogg", Codec: "Vorbis",
		Rate:     int(b[5]) | int(b[6])<<8 | int(b[7])<<16 | int(b[8])<<24,
		Channels: int(b[4]),
		Frames:   -1,
	}
	if err := checkLayout(info); err != nil {
		return Info{}, err
	}
	const maxVorbisChannels = 8 // that the specification gives an order to
	if info.Channels > maxVorbisChannels {
		return Info{}, fmt.Errorf("%w: Vorbis with %d", ErrChannels, info.Channels)
	}
	if short, long := b[21]&15, b[21]>>4; short < 6 || long > 13 || short > long {
		return Info{}, damagedf("Vorbis: blocks of 2^%d and 2^%d samples", short, long)
	}
	return info, nil
}
