package wave

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	goaudio "github.com/go-audio/audio"
	"github.com/go-audio/wav"
)

// blockFrames is how many frames a block of WAV samples has at most.
const blockFrames = 1024

// dataChunk hands out the bytes of the data chunk, whole frames only.
type dataChunk struct {
	in       *input
	declared dataSize
	found    int64 // bytes handed out
	frame    int   // bytes per frame
	notes    *notes
	done     bool
}

func newDataChunk(in *input, size dataSize, frame int, notes *notes) *dataChunk {
	return &dataChunk{in: in, declared: size, frame: frame, notes: notes}
}

// frames is the length to expect, -1 when it cannot be told.
func (d *dataChunk) frames() int64 {
	n := int64(d.declared)
	if d.in.size >= 0 {
		there := max(0, d.in.size-d.in.pos())
		if d.declared == unknownSize || there < n {
			n = there
		}
	}
	if n < 0 {
		return -1
	}
	return n / int64(d.frame)
}

// Read fills p, a multiple of the frame size, with what is there now: it waits for
// one frame, not for all of p, so that live input is not held back.
func (d *dataChunk) Read(p []byte) (int, error) {
	if d.done {
		return 0, io.EOF
	}
	if d.declared != unknownSize {
		left := int64(d.declared) - d.found
		left -= left % int64(d.frame)
		p = p[:min(int64(len(p)), left)]
		if len(p) == 0 {
			d.done = true
			return 0, io.EOF
		}
	}
	n, err := io.ReadAtLeast(d.in, p, d.frame)
	if part := n % d.frame; part > 0 && err == nil {
		var more int
		more, err = io.ReadFull(d.in, p[n:n+d.frame-part])
		n += more
	}
	if ended(err) {
		d.end(n)
		err = nil
	}
	n -= n % d.frame
	d.found += int64(n)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// end notes that the stream ended, with n more bytes than found says.
func (d *dataChunk) end(n int) {
	d.done = true
	if found := d.found + int64(n); d.declared != unknownSize {
		d.notes.addf("the data chunk declares %d bytes, found %d", d.declared, found)
	}
}

// wavCodec is a way to decode the data chunk.
type wavCodec struct {
	name  string
	bytes int // per sample
	open  func(*dataChunk, Info) (decoder, error)
}

// pcmDecoder decodes integer PCM through go-audio/wav. That package is given a
// 44-byte header of our own and then the data chunk, so that its chunk walk has
// nothing to walk over, and its limit of 4 GiB on a chunk does not count.
type pcmDecoder struct {
	dec   *wav.Decoder
	buf   goaudio.IntBuffer
	out   []float32
	zero  int     // the integer that means silence
	scale float32 // full scale is 1/scale
}

func openPCM(data *dataChunk, info Info) (decoder, error) {
	dec := wav.NewDecoder(bytes.NewReader(plainHeader(info)))
	if err := dec.FwdToPCM(); err != nil || dec.PCMChunk == nil {
		panic("BUG: go-audio/wav cannot read the header made for it")
	}
	dec.PCMChunk.R = data
	n := blockFrames * info.Channels
	p := &pcmDecoder{
		dec:   dec,
		buf:   goaudio.IntBuffer{Data: make([]int, n)},
		out:   make([]float32, n),
		scale: float32(math.Ldexp(1, 1-info.Bits)),
	}
	if info.Bits == 8 { // WAV stores 8 bits unsigned
		p.zero = 128
	}
	return p, nil
}

// plainHeader is a WAV header for info's samples with an empty data chunk.
func plainHeader(info Info) []byte {
	le := binary.LittleEndian
	frame := info.Channels * info.Bits / 8
	h := le.AppendUint32([]byte("RIFF"), 36)
	h = le.AppendUint32(append(h, "WAVEfmt "...), plainFormatLen)
	h = le.AppendUint16(h, tagPCM)
	h = le.AppendUint16(h, uint16(info.Channels))
	h = le.AppendUint32(h, uint32(info.Rate))
	h = le.AppendUint32(h, uint32(info.Rate*frame))
	h = le.AppendUint16(h, uint16(frame))
	h = le.AppendUint16(h, uint16(info.Bits))
	return le.AppendUint32(append(h, "data"...), 0)
}

func (p *pcmDecoder) next() ([]float32, error) {
	n, err := p.dec.PCMBuffer(&p.buf)
	if n == 0 && err == nil {
		err = io.EOF // this is how PCMBuffer says so
	}
	if err != nil {
		return nil, err
	}
	out := p.out[:n]
	for i, v := range p.buf.Data[:n] {
		out[i] = float32(v-p.zero) * p.scale
	}
	return out, nil
}

// byteDecoder decodes what go-audio/wav has no decoder for: version 1.1.0 reads
// 32-bit floats as integers, and knows neither 64-bit floats nor A-law or mu-law.
type byteDecoder struct {
	data   *dataChunk
	raw    []byte
	out    []float32
	decode func(dst []float32, src []byte) // as many samples as dst has
}

func decodeWith(decode func(dst []float32, src []byte)) func(*dataChunk, Info) (decoder, error) {
	return func(data *dataChunk, info Info) (decoder, error) {
		n := blockFrames * info.Channels
		return &byteDecoder{data, make([]byte, n*info.Bits/8), make([]float32, n), decode}, nil
	}
}

func (d *byteDecoder) next() ([]float32, error) {
	n, err := d.data.Read(d.raw)
	if err != nil {
		return nil, err
	}
	out := d.out[:n*len(d.out)/len(d.raw)]
	d.decode(out, d.raw)
	return out, nil
}

func decodeFloat32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func decodeFloat64(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
	}
}
