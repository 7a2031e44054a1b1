package wave

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// The chunk walk follows Microsoft's "Multimedia Programming Interface and Data
// Specifications 1.0" (RIFF), EBU Tech 3306 (RF64) and ITU-R BS.2088 (BW64), and
// believes no size: what counts is the bytes that are there.
//
// go-audio/wav has a walk of its own, which is not used: it loses the data chunk
// behind chunks of odd size (go-audio/wav issue 32) and allocates what a header
// asks for.

const chunkHeader = 8 // four letters and a 32-bit size

// dataSize is the length of the data chunk as its header declares it, in bytes.
type dataSize int64

// unknownSize stands for "until the end of the stream".
const unknownSize dataSize = -1

// openWAV walks to the data chunk and returns a decoder for it.
func openWAV(in *input, notes *notes) (decoder, Info, error) {
	var head [12]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, Info{}, cutHeader(in, err)
	}
	walk := riffWalk{in: in, is64: string(head[:4]) != "RIFF"}
	size, err := walk.toData()
	if err != nil {
		return nil, Info{}, err
	}
	codec, err := walk.format.codec()
	if err != nil {
		return nil, Info{}, err
	}
	info := Info{
		Container: string(head[:4]),
		Codec:     codec.name,
		Bits:      8 * codec.bytes,
		Rate:      int(walk.format.rate),
		Channels:  int(walk.format.channels),
		Frames:    -1,
	}
	if info.Container == "RIFF" {
		info.Container = "WAV"
	}
	if err := checkLayout(info); err != nil {
		return nil, Info{}, err
	}
	data := newDataChunk(in, size, codec.bytes*info.Channels, notes)
	info.Frames = data.frames()
	dec, err := codec.open(data, info)
	return dec, info, err
}

// riffWalk is the state of the walk over the chunks in front of the samples.
type riffWalk struct {
	in       *input
	is64     bool     // RF64 or BW64: a ds64 chunk may hold the size
	size64   dataSize // from ds64
	format   waveFormat
	hasFmt   bool
	hasDS64  bool
	lastID   string // the chunk read before, for messages
	lastSize uint32
}

// toData stops at the first byte of the samples and returns how many the header
// declares.
func (w *riffWalk) toData() (dataSize, error) {
	for {
		id, size, err := w.header()
		if err != nil {
			return 0, err
		}
		switch {
		case id == "fmt " && !w.hasFmt:
			err = w.readFormat(size)
		case id == "ds64" && w.is64 && !w.hasDS64:
			err = w.readDS64(size)
		case id == "data":
			if !w.hasFmt {
				return 0, damagedf("the data chunk at byte %d comes before any fmt chunk", w.in.pos()-chunkHeader)
			}
			return w.declared(size), nil
		default:
			err = w.skip(int64(size))
		}
		if err == nil {
			err = w.skipPad(size)
		}
		if err != nil {
			return 0, err
		}
		w.lastID, w.lastSize = id, size
	}
}

// header reads the next chunk header.
func (w *riffWalk) header() (id string, size uint32, err error) {
	var b [chunkHeader]byte
	if _, err := io.ReadFull(w.in, b[:]); err != nil {
		if !ended(err) {
			return "", 0, err
		}
		return "", 0, damagedf("it ends after %d bytes without a data chunk%s", w.in.pos(), w.last())
	}
	return string(b[:4]), binary.LittleEndian.Uint32(b[4:]), nil
}

// last tells of the chunk before, which often is the one with the wrong size.
func (w *riffWalk) last() string {
	if w.lastID == "" {
		return ""
	}
	return fmt.Sprintf(" (the last chunk, %q, declares %d bytes)", w.lastID, w.lastSize)
}

// skip passes over n bytes of a chunk. A chunk that is cut off leaves no data chunk
// to come, which header then reports.
func (w *riffWalk) skip(n int64) error {
	if err := w.in.skip(n); !ended(err) {
		return err
	}
	return nil
}

// skipPad passes over the byte that follows a chunk of odd size. Some writers leave
// it out: then the next chunk's name stands in its place.
func (w *riffWalk) skipPad(size uint32) error {
	if size%2 == 0 {
		return nil
	}
	if next, err := w.in.Peek(4); err == nil && knownChunk(string(next)) {
		return nil
	}
	return w.skip(1)
}

// readDS64 reads the 64-bit sizes: RIFF size, data size, sample count.
func (w *riffWalk) readDS64(size uint32) error {
	var b [16]byte
	if size < uint32(len(b)) {
		return w.skip(int64(size))
	}
	if _, err := io.ReadFull(w.in, b[:]); err != nil {
		return cutHeader(w.in, err)
	}
	w.hasDS64 = true
	w.size64 = unknownSize
	if n := binary.LittleEndian.Uint64(b[8:]); n > 0 && n < 1<<62 {
		w.size64 = dataSize(n)
	}
	return w.skip(int64(size) - int64(len(b)))
}

// declared interprets the size of the data chunk.
func (w *riffWalk) declared(size uint32) dataSize {
	switch {
	case size == 0xFFFFFFFF && w.hasDS64:
		return w.size64
	case size == 0 && !w.emptyData():
		return unknownSize
	case size >= 0xFFFFFF00 || slices.Contains(pipeSizes, size):
		return unknownSize
	}
	return dataSize(size)
}

// pipeSizes are what programs leave in the header when they write to a pipe and
// cannot come back to it: SoX and eSpeak NG 0x7FFFF000, arecord 0x7FFFFFFF or
// 0x80000000; FFmpeg 0xFFFFFFFF, which declared catches with its neighbours.
var pipeSizes = []uint32{0x7FFFF000, 0x7FFFFFFF, 0x80000000}

// emptyData reports whether a data chunk of size 0 is what it says: nothing follows,
// or another chunk does. Otherwise it is a header that was never completed, with
// samples behind it.
func (w *riffWalk) emptyData() bool {
	next, _ := w.in.Peek(4)
	return len(next) == 0 || knownChunk(string(next))
}

// knownChunk reports whether id names a chunk that really occurs in WAV files.
func knownChunk(id string) bool {
	switch id {
	case "fmt ", "data", "fact", "LIST", "PEAK", "bext", "iXML", "cue ", "smpl", "inst", "plst", "ltxt", "note", "labl",
		"JUNK", "junk", "PAD ", "FLLR", "id3 ", "ID3 ", "ds64", "axml", "chna", "aXML", "_PMX", "afsp", "DISP", "levl":
		return true
	}
	return false
}

func cutHeader(in *input, err error) error {
	if !ended(err) {
		return err
	}
	return damagedf("it ends inside the header, after %d bytes", in.pos())
}
