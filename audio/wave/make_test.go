package wave

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mewkiz/flac"
	"github.com/mewkiz/flac/frame"
	"github.com/mewkiz/flac/meta"
)

// This file makes audio files of every container, for tests and as seeds for fuzzing.

var le = binary.LittleEndian

// chunk is a RIFF chunk with its pad byte.
func chunk(id string, body []byte) []byte {
	c := le.AppendUint32([]byte(id), uint32(len(body)))
	c = append(c, body...)
	if len(body)%2 == 1 {
		c = append(c, 0)
	}
	return c
}

func fmtChunk(tag, channels, rate, bits int) []byte {
	frame := channels * bits / 8
	b := le.AppendUint16(nil, uint16(tag))
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*frame))
	b = le.AppendUint16(b, uint16(frame))
	b = le.AppendUint16(b, uint16(bits))
	return chunk("fmt ", b)
}

// extensible is a fmt chunk of 40 bytes with the sub-format of tag.
func extensible(tag, channels, rate, bits, valid int) []byte {
	b := fmtChunk(tagExtensible, channels, rate, bits)[chunkHeader:]
	b = le.AppendUint16(b, 22)
	b = le.AppendUint16(b, uint16(valid))
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, uint16(tag))
	b = append(b, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"...)
	return chunk("fmt ", b)
}

func riff(chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), bytes.Join(chunks, nil)...)
	return append(le.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// rf64 is a file whose data chunk has its size in ds64.
func rf64(id string, format []byte, data []byte) []byte {
	ds64 := le.AppendUint64(nil, uint64(len(data))+80)
	ds64 = le.AppendUint64(ds64, uint64(len(data)))
	ds64 = le.AppendUint64(ds64, 0)
	ds64 = le.AppendUint32(ds64, 0)
	f := append([]byte(id), "\xff\xff\xff\xffWAVE"...)
	f = append(f, chunk("ds64", ds64)...)
	f = append(f, format...)
	f = append(f, "data\xff\xff\xff\xff"...)
	return append(f, data...)
}

// ints makes little-endian samples of the given width.
func ints(width int, samples []int32) []byte {
	var b []byte
	for _, s := range samples {
		b = append(b, le.AppendUint32(nil, uint32(s))[:width]...)
	}
	return b
}

// sound is a sum of two sines and a little noise, in integers of the given width.
func sound(n, bits int) []int32 {
	r := rand.New(rand.NewPCG(1, 2))
	s := make([]int32, n)
	for i := range s {
		v := 0.5*math.Sin(float64(i)*0.05) + 0.2*math.Sin(float64(i)*0.31) + 0.01*r.NormFloat64()
		s[i] = int32(v * math.Ldexp(1, bits-1))
	}
	return s
}

// flacFile encodes interleaved samples in frames of 1024.
func flacFile(t testing.TB, rate, channels, bits int, samples []int32) []byte {
	t.Helper()
	const block = 1024
	var out bytes.Buffer
	info := &meta.StreamInfo{
		BlockSizeMin: block, BlockSizeMax: block, SampleRate: uint32(rate),
		NChannels: uint8(channels), BitsPerSample: uint8(bits), NSamples: uint64(len(samples) / channels),
	}
	enc, err := flac.NewEncoder(&out, info)
	if err != nil {
		t.Fatal(err)
	}
	for num := uint64(0); len(samples) > 0; num++ {
		n := min(block, len(samples)/channels)
		f := &frame.Frame{Header: frame.Header{
			HasFixedBlockSize: true, BlockSize: uint16(n), SampleRate: uint32(rate),
			Channels: frame.Channels(channels - 1), BitsPerSample: uint8(bits), Num: num,
		}}
		for c := range channels {
			sub := &frame.Subframe{SubHeader: frame.SubHeader{Pred: frame.PredVerbatim}, NSamples: n}
			for i := range n {
				sub.Samples = append(sub.Samples, samples[i*channels+c])
			}
			f.Subframes = append(f.Subframes, sub)
		}
		if err := enc.WriteFrame(f); err != nil {
			t.Fatal(err)
		}
		samples = samples[n*channels:]
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// mp3File is silence: n frames of version 1, 44.1 kHz, 128 kbit/s, with a tag frame in
// front that says delay and padding.
func mp3File(channels, n, delay, padding int) []byte {
	mode := byte(0)
	if channels == 1 {
		mode = 3 << 6
	}
	silent := make([]byte, 417)
	copy(silent, []byte{0xFF, 0xFB, 0x90, mode})
	h, ok := parseMP3(silent)
	if !ok || h.size != len(silent) {
		panic("BUG: the test's MP3 header")
	}
	tag := bytes.Clone(silent)
	_, at := h.sideInfo()
	copy(tag[at:], "Info\x00\x00\x00\x01")
	binary.BigEndian.PutUint32(tag[at+8:], uint32(n))
	copy(tag[at+12:], "LAME")
	v := delay<<12 | padding
	copy(tag[at+12+21:], []byte{byte(v >> 16), byte(v >> 8), byte(v)})
	return append(tag, bytes.Repeat(silent, n)...)
}

// oggFile puts packets on pages, perPage on each. ends holds the position behind each
// packet.
func oggFile(headers, packets [][]byte, ends []int64, perPage int) []byte {
	var out []byte
	sequence := uint32(0)
	page := func(flags byte, position int64, packets [][]byte) {
		p := append([]byte(oggMagic), 0, flags)
		p = le.AppendUint64(p, uint64(position))
		p = le.AppendUint32(p, 77)
		p = le.AppendUint32(p, sequence)
		p = le.AppendUint32(p, 0)
		var lacing []byte
		for _, packet := range packets {
			lacing = append(lacing, bytes.Repeat([]byte{255}, len(packet)/255)...)
			lacing = append(lacing, byte(len(packet)%255))
		}
		p = append(append(p, byte(len(lacing))), lacing...)
		p = append(p, bytes.Join(packets, nil)...)
		le.PutUint32(p[22:], oggSum(p))
		out = append(out, p...)
		sequence++
	}
	page(oggFirst, 0, headers[:1])
	page(0, 0, headers[1:])
	for i := 0; i < len(packets); i += perPage {
		end := min(i+perPage, len(packets))
		flags := byte(0)
		if end == len(packets) {
			flags = oggLast
		}
		page(flags, ends[end-1], packets[i:end])
	}
	return out
}

// vorbisFile is silence in n packets of 128 samples (blocks of 256): the smallest
// setup that the specification allows.
func vorbisFile(channels, rate, n int) []byte {
	id := append([]byte("\x01vorbis\x00\x00\x00\x00"), byte(channels))
	id = le.AppendUint32(id, uint32(rate))
	id = append(id, make([]byte, 12)...)
	id = append(id, 0x88, 1) // both block sizes 2^8
	comment := append([]byte("\x03vorbis"), make([]byte, 8)...)
	comment = append(comment, 1)
	headers := [][]byte{id, comment, vorbisSetup(false, 0)}
	var packets [][]byte
	var ends []int64
	for i := range n + 1 { // the first one only fills the overlap
		packets = append(packets, []byte{0}) // packet type 0, no floor in any channel
		ends = append(ends, int64(128*i))
	}
	return oggFile(headers, packets, ends, 20)
}

// vorbisSetup may be made hostile: with a codebook that has no code words, and with a
// residue that begins behind its end, which is 0.
func vorbisSetup(emptyBook bool, begin uint64) []byte {
	w := bitWriter{b: []byte("\x05vorbis")}
	w.put(8, 0) // one codebook
	w.put(24, 0x564342)
	w.put(16, 1) // dimensions
	w.put(24, 2) // entries
	if emptyBook {
		w.put(2+2, 2) // sparse, and no entry is used
	} else {
		w.put(2+5+5, 0) // two code words of one bit
	}
	w.put(4, 0) // no values
	w.put(6+16, 0)
	w.put(6, 0) // one floor
	w.put(16, 1)
	w.put(5, 1) // one partition, of class 0, which has one dimension and no book
	w.put(4+3+2+8, 0)
	w.put(2, 0)
	w.put(4, 4) // positions of 4 bits
	w.put(4, 5)
	w.put(6+16, 0) // one residue, of type 0
	w.put(24, begin)
	w.put(24+24, 0)
	w.put(6+8+4, 0)
	w.put(6+16, 0) // one mapping
	w.put(1+1+2, 0)
	w.put(8+8+8, 0)
	w.put(6, 0) // one mode
	w.put(1+16+16+8, 0)
	w.put(1, 1)
	return w.b
}

// bitWriter writes bits, the least significant of each byte first.
type bitWriter struct {
	b  []byte
	at int
}

func (w *bitWriter) put(n int, v uint64) {
	for i := range n {
		if w.at%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[len(w.b)-1] |= byte(v>>i&1) << (w.at % 8)
		w.at++
	}
}

// opusFile is silence in n packets of 20 ms. A packet of only its first byte has a
// frame that was not sent.
func opusFile(channels, n int) []byte {
	head := append([]byte("OpusHead\x01"), byte(channels))
	head = le.AppendUint16(head, 312)
	head = le.AppendUint32(head, opusFileRate)
	head = append(head, 0, 0, 0)
	tags := append([]byte("OpusTags"), make([]byte, 8)...)
	var packets [][]byte
	var ends []int64
	for i := range n {
		packets = append(packets, []byte{0x78})
		ends = append(ends, int64(960*(i+1)))
	}
	return oggFile([][]byte{head, tags}, packets, ends, 20)
}

const opusFileRate = 48000
