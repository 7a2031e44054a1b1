package wave

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"
)

// oggPage is one page of an Ogg stream (RFC 3533 section 6).
type oggPage struct {
	flags    byte
	position int64 // of the stream behind the last packet that ends here; -1 when none does
	serial   uint32
	sequence uint32
	lacing   []byte
	body     []byte
}

const (
	oggContinued = 1 // the first packet began on the page before
	oggFirst     = 2
	oggLast      = 4

	oggHeaderLen = 27
	oggMagic     = "OggS"
)

// parseOgg reads the page at the start of b, which it shares. size is how many bytes
// the page takes, as far as b tells; ok that it is whole and sound.
func parseOgg(b []byte) (p oggPage, size int, ok bool) {
	if len(b) < oggHeaderLen || string(b[:4]) != oggMagic || b[4] != 0 {
		return p, oggHeaderLen, false
	}
	segments := int(b[26])
	size = oggHeaderLen + segments
	if len(b) < size {
		return p, size, false
	}
	p.lacing = b[oggHeaderLen:size]
	for _, n := range p.lacing {
		size += int(n)
	}
	if len(b) < size {
		return p, size, false
	}
	le := binary.LittleEndian
	p.flags = b[5]
	p.position = int64(le.Uint64(b[6:]))
	p.serial = le.Uint32(b[14:])
	p.sequence = le.Uint32(b[18:])
	p.body = b[oggHeaderLen+segments : size]
	return p, size, oggSum(b[:size]) == le.Uint32(b[22:])
}

// oggSum is the checksum of a page, with zeros in the place where it is stored: a CRC
// of polynomial 0x04C11DB7, most significant bit first, without inversions.
func oggSum(page []byte) uint32 {
	var crc uint32
	for i, b := range page {
		if i >= 22 && i < 26 {
			b = 0
		}
		crc = crc<<8 ^ oggTable[byte(crc>>24)^b]
	}
	return crc
}

// oggTable is the table of that CRC, made from the mirrored one that the standard
// library has.
var oggTable = func() (t [256]uint32) {
	for i := range t {
		t[i] = bits.Reverse32(crc32.IEEETable[bits.Reverse8(byte(i))])
	}
	return t
}()

// openOgg looks at the first pages, one for each logical stream, and opens the first
// stream that is sound.
func openOgg(in *input, notes *notes) (decoder, Info, error) {
	b, _ := in.Peek(4096)
	found := ""
	for {
		p, size, ok := parseOgg(b)
		if !ok || p.flags&oggFirst == 0 {
			break
		}
		switch codec := oggCodec(p.body); codec {
		case "Vorbis":
			return openVorbis(in, notes, p.serial)
		case "Opus":
			return openOpus(in, notes)
		default:
			found = codec
		}
		b = b[size:]
	}
	switch {
	case in.failed() != nil:
		return nil, Info{}, in.failed()
	case found == "":
		return nil, Info{}, damagedf("Ogg: the first page is cut off or damaged")
	}
	return nil, Info{}, &FormatError{Found: "Ogg with " + found}
}

// oggCodec names the codec whose first packet starts with b.
func oggCodec(b []byte) string {
	for _, c := range []struct{ magic, name string }{
		{"\x01vorbis", "Vorbis"},
		{"OpusHead", "Opus"},
		{"\x7fFLAC", "FLAC"},
		{"Speex   ", "Speex"},
		{"\x80theora", "Theora"},
		{"fishead", "Skeleton"},
	} {
		if bytes.HasPrefix(b, []byte(c.magic)) {
			return c.name
		}
	}
	return "an unknown codec"
}

// oggReader reads the pages of one logical stream.
type oggReader struct {
	in     *input
	serial uint32
	next   uint32 // expected sequence number
	begun  bool
	part   []byte // a packet that goes on on the next page
	whole  bool   // part holds it from its start, and is not too long
}

// maxOggPacket bounds a packet that goes over several pages, in bytes. Sound packets
// have some hundred, setup headers about 4000; comment headers with pictures, which
// nobody here reads, are dropped.
const maxOggPacket = 1 << 18

// oggPackets is what ends on one page.
type oggPackets struct {
	oggPage
	packets [][]byte
	broken  bool // pages are missing in front of this one
}

// read returns the next page's packets, valid until the next call.
func (r *oggReader) read() (oggPackets, error) {
	for {
		page, err := r.page()
		if err != nil {
			return oggPackets{}, err
		}
		if page.serial != r.serial {
			continue
		}
		broken := r.begun && page.sequence != r.next
		if broken {
			r.part, r.whole = nil, false
		}
		r.begun, r.next = true, page.sequence+1
		return oggPackets{page, r.split(page), broken}, nil
	}
}

// page returns the next sound page. What is between is passed over: if it was a page,
// the sequence numbers tell.
func (r *oggReader) page() (oggPage, error) {
	for {
		page, size, ok := peekPage(r.in)
		if ok {
			r.in.Discard(size)
			return page, nil
		}
		if r.in.failed() != nil {
			return oggPage{}, r.in.failed()
		}
		if err := r.seekPage(); err != nil {
			return oggPage{}, io.EOF
		}
	}
}

// peekPage looks at the page that starts here. It asks for no more bytes than the
// page has, so that live input is not held back.
func peekPage(in *input) (p oggPage, size int, ok bool) {
	for want := oggHeaderLen; ; want = size {
		b, _ := in.Peek(want)
		p, size, ok = parseOgg(b)
		if ok || size <= want {
			return p, size, ok
		}
		if len(b) < want {
			return p, size, false
		}
	}
}

// seekPage moves forward by at least one byte, to what may be a page.
func (r *oggReader) seekPage() error {
	r.in.Discard(1)
	for {
		b, err := r.in.Peek(4096)
		if len(b) < len(oggMagic) {
			r.in.Discard(len(b))
			return err
		}
		i := bytes.Index(b, []byte(oggMagic))
		if i >= 0 {
			r.in.Discard(i)
			return nil
		}
		r.in.Discard(len(b) - len(oggMagic) + 1) // the magic may begin at the end of b
	}
}

// split cuts the page into packets; the last one may go on on the next page.
func (r *oggReader) split(p oggPage) (packets [][]byte) {
	if p.flags&oggContinued == 0 {
		r.part, r.whole = nil, true
	}
	at, start := 0, 0
	for _, n := range p.lacing {
		at += int(n)
		if n == 255 {
			continue
		}
		if packet := p.body[start:at]; r.whole {
			packets = append(packets, r.join(packet))
		}
		r.part, r.whole = nil, true
		start = at
	}
	if rest := p.body[start:]; r.whole && len(r.part)+len(rest) <= maxOggPacket {
		r.part = append(r.part, rest...)
	} else {
		r.part, r.whole = nil, false
	}
	return packets
}

func (r *oggReader) join(end []byte) []byte {
	if len(r.part) == 0 {
		return end
	}
	return append(r.part, end...)
}
