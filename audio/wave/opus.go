//go:build cgo

package wave

// #cgo LDFLAGS: -ldl
// #include "opusfile.h"
import "C"

import (
	"errors"
	"io"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// opusDecoder decodes Ogg Opus (RFC 7845) through libopusfile, which is loaded when the
// first such stream is opened: it is not needed to build or to run the program.
type opusDecoder struct {
	notes  *notes
	info   Info
	source *opusSource
	handle cgo.Handle
	file   unsafe.Pointer
	pcm    []float32

	pos  int64 // of the stream, in frames
	hole hole
}

const (
	opusRate  = 48000 // of everything that libopusfile decodes
	opusBlock = 5760  // frames of the longest packet, 120 ms

	opusErrorHole   = -3   // OP_HOLE: pages are missing
	opusErrorPacket = -136 // OP_EBADPACKET
)

var loadOpusfile = sync.OnceValue(func() error {
	if text := C.opusfile_load(); text != nil {
		return errors.New(C.GoString(text))
	}
	return nil
})

func openOpus(in *input, notes *notes) (decoder, Info, error) {
	if err := loadOpusfile(); err != nil {
		return nil, Info{}, noOpus(err.Error())
	}
	d := &opusDecoder{notes: notes, source: &opusSource{in: in}}
	d.handle = cgo.NewHandle(d.source)
	var code C.int
	d.file = C.opusfile_open(C.uintptr_t(d.handle), &code)
	if d.file == nil {
		d.close()
		if in.failed() != nil {
			return nil, Info{}, in.failed()
		}
		return nil, Info{}, damagedf("Ogg Opus: the headers are cut off or damaged (libopusfile: error %d)", code)
	}
	d.info = Info{
		Container: "Ogg", Codec: "Opus",
		Rate: opusRate, Channels: int(C.opusfile_channels(d.file)),
		Frames: -1,
	}
	if err := checkLayout(d.info); err != nil {
		d.close()
		return nil, Info{}, err
	}
	d.hole.channels = d.info.Channels
	d.pcm = make([]float32, opusBlock*d.info.Channels)
	return d, d.info, nil
}

func (d *opusDecoder) next() ([]float32, error) {
	for {
		if d.hole.left > 0 {
			return d.hole.next(), nil
		}
		n := int(C.opusfile_read(d.file, (*C.float)(&d.pcm[0]), C.int(len(d.pcm))))
		switch {
		case d.source.in.failed() != nil:
			return nil, d.source.in.failed()
		case n == opusErrorHole || n == opusErrorPacket:
			d.bridge()
		case n > 0 && int(C.opusfile_channels(d.file)) == d.info.Channels:
			d.pos = int64(C.opusfile_tell(d.file))
			return d.pcm[:n*d.info.Channels], nil
		default:
			return nil, d.end(n)
		}
	}
}

// bridge makes the hole as long as libopusfile's position says. What it decodes next
// begins 80 ms behind the damage, which the decoder needs to converge (RFC 7845
// section 4.6); they are part of the hole.
func (d *opusDecoder) bridge() {
	d.hole.set(int64(C.opusfile_tell(d.file))-d.pos, opusRate)
	d.notes.addf("pages are missing or damaged before byte %d: %.2f s of silence in their place",
		d.source.in.pos(), float64(d.hole.left)/opusRate)
}

// end is the end of the stream; n is what libopusfile said.
func (d *opusDecoder) end(n int) error {
	switch {
	case n > 0:
		d.notes.addf("a stream of another channel count follows; it is not read")
	case n < 0:
		d.notes.addf("it is damaged at byte %d (libopusfile: error %d); the rest is not read", d.source.in.pos(), n)
	case !d.source.last:
		d.notes.addf("it ends after %d frames without its last page", d.pos)
	}
	return io.EOF
}

// close implements closer.
func (d *opusDecoder) close() {
	if d.file != nil {
		C.opusfile_close(d.file)
		d.file = nil
	}
	if d.handle != 0 {
		d.handle.Delete()
		d.handle = 0
	}
}

// opusSource is what libopusfile reads from. It looks at the pages that pass through.
type opusSource struct {
	in   *input
	left int  // bytes of the page that is passing
	last bool // the page that passed last says that it is the last one
}

func (s *opusSource) read(p []byte) int {
	if s.left == 0 {
		s.left = 1 // of what is no sound page, which libopusfile passes over
		if page, size, ok := peekPage(s.in); ok {
			s.left, s.last = size, page.flags&oggLast != 0
		}
	}
	n, _ := s.in.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n
}

//export goOpusRead
func goOpusRead(handle C.uintptr_t, p *C.uchar, n C.int) C.int {
	s := cgo.Handle(handle).Value().(*opusSource)
	got := s.read(unsafe.Slice((*byte)(p), n))
	if got == 0 && s.in.failed() != nil {
		return -1
	}
	return C.int(got)
}
