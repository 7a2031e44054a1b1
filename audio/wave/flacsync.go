package wave

import (
	"bytes"
	"io"

	"github.com/mewkiz/flac/frame"
)

// flacBytes is a byte stream that can go back to the start of the frame being
// decoded: a decoder that meets damage has by then often read beyond it, into sound
// frames.
type flacBytes struct {
	in    *input
	back  []byte // to be read again, before what in holds
	taken []byte // read since mark
	lost  bool   // more was read since mark than taken holds
	again int64  // bytes read a second time so far
}

const (
	// maxRewind bounds what is kept, in bytes. Frames of speech have 1–20 KB.
	maxRewind = 1 << 16
	// maxFrameHeader is the length of the longest frame header: 4 bytes, a number of
	// up to 7, block size and sample rate of 2 each, CRC-8.
	maxFrameHeader = 16
)

func (b *flacBytes) pos() int64 { return b.in.pos() - int64(len(b.back)) }

// mark sets the place that rewind goes back to.
func (b *flacBytes) mark() { b.taken, b.lost = b.taken[:0], false }

// Read implements io.Reader.
func (b *flacBytes) Read(p []byte) (n int, err error) {
	if len(b.back) > 0 {
		n = copy(p, b.back)
		b.back = b.back[n:]
	} else {
		n, err = b.in.Read(p)
	}
	if len(b.taken)+n <= maxRewind {
		b.taken = append(b.taken, p[:n]...)
	} else {
		b.lost = true
	}
	return n, err
}

// rewind goes back to the mark if it still can. It gives up where that would make it
// read more bytes twice than there are, so that a hostile file can at most double
// the work.
func (b *flacBytes) rewind() {
	again := b.again + int64(len(b.taken))
	if b.lost || again > b.pos()+maxRewind {
		return
	}
	b.again = again
	b.back = append(bytes.Clone(b.taken), b.back...)
}

// peek returns the next n bytes, fewer at the end, without consuming them.
func (b *flacBytes) peek(n int) []byte {
	if short := n - len(b.back); short > 0 {
		more, _ := b.in.Peek(short)
		b.back = append(b.back, more...)
		b.in.Discard(len(more))
	}
	return b.back[:min(n, len(b.back))]
}

// seekFrame moves forward by at least one byte, to a frame header that is sound in
// itself and that fits accepts.
func (b *flacBytes) seekFrame(fits func(*frame.Frame) bool) error {
	const look = 4096
	for skip := 1; ; {
		window := b.peek(look)
		if len(window) <= skip {
			b.back = b.back[len(window):]
			return io.EOF
		}
		i := bytes.IndexByte(window[skip:], 0xFF)
		if i < 0 {
			b.back, skip = b.back[len(window):], 0
			continue
		}
		b.back, skip = b.back[skip+i:], 1
		if head := b.peek(maxFrameHeader); frameSync(head) {
			if f, err := frame.New(bytes.NewReader(head)); err == nil && fits(f) {
				return nil
			}
		}
	}
}

// frameSync reports whether head starts with 14 bits of sync code and a zero; the
// bit behind them is the blocking strategy.
func frameSync(head []byte) bool {
	return len(head) >= 2 && head[0] == 0xFF && head[1]&0xFE == 0xF8
}
