package capture

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"earshot/audio"
)

// The messages of the capture process, one behind the other. Each has a header of 8
// bytes and a body, all little-endian:
//
//	0  2  "ES"
//	2  1  version, 1
//	3  1  type: 'f' 'o' 's' 'v' 'e'
//	4  4  length of the body in bytes
//
// Bodies:
//
//	'f' found: the device is there and is being opened. JSON of Device, at most 4 KiB.
//	'o' opened. JSON of audio.Format, at most 4 KiB. Rate 4000 to 192000, 1 to 32
//	    channels. It comes once, before any of the next two.
//	's' samples: float32, interleaved, whole frames, 1 frame to 1 MiB.
//	'v' overflow: uint64, frames that were lost in front of what follows. 0 when the
//	    process can't say. At most a day of them.
//	'e' the reason why the process ends. JSON of failure, at most 64 KiB.
//
// Anything else is garbage, and the reader's only error but those of the pipe.
const (
	wireVersion = 1
	headerBytes = 8

	maxSampleBytes = 1 << 20 // 40 ms of 192 kHz on 32 channels fit
	maxJSONBytes   = 4 << 10
	maxErrorBytes  = 64 << 10
)

// errGarbage is wrapped by what wireReader.next says about bytes that are no message.
var errGarbage = errors.New("the capture process sent garbage")

type messageType byte

const (
	msgFound    messageType = 'f'
	msgOpened   messageType = 'o'
	msgSamples  messageType = 's'
	msgOverflow messageType = 'v'
	msgError    messageType = 'e'
)

// message is one message, read.
type message struct {
	kind    messageType
	device  Device       // msgFound
	format  audio.Format // msgOpened
	samples []float32    // msgSamples: interleaved, valid until the next message
	frames  uint64       // msgOverflow
	failure failure      // msgError
}

// failure is why a capture process could not go on.
type failure struct {
	Text string `json:"text"`
}

// wireReader reads messages.
type wireReader struct {
	in      *bufio.Reader
	header  [headerBytes]byte
	body    []byte
	samples []float32
	format  audio.Format // 0 before msgOpened
}

func newWireReader(r io.Reader) *wireReader {
	return &wireReader{in: bufio.NewReaderSize(r, 32<<10)}
}

func garbage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errGarbage}, args...)...)
}

// next reads one message. The end between two messages is io.EOF.
func (r *wireReader) next() (message, error) {
	var m message
	if _, err := io.ReadFull(r.in, r.header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = garbage("it ends within a header")
		}
		return m, err
	}
	h := r.header
	if h[0] != 'E' || h[1] != 'S' || h[2] != wireVersion {
		return m, garbage("no message begins with %q", h)
	}
	m.kind = messageType(h[3])
	size := binary.LittleEndian.Uint32(h[4:])
	if err := r.checkSize(m.kind, size); err != nil {
		return m, err
	}
	if int(size) > cap(r.body) {
		r.body = make([]byte, size)
	}
	r.body = r.body[:size]
	if _, err := io.ReadFull(r.in, r.body); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = garbage("it ends within a message of type %q", m.kind)
		}
		return m, err
	}
	return m, r.parse(&m)
}

func (r *wireReader) checkSize(kind messageType, size uint32) error {
	low, high, step := uint32(1), uint32(maxJSONBytes), uint32(1)
	switch kind {
	case msgFound, msgOpened:
	case msgError:
		high = maxErrorBytes
	case msgOverflow:
		low, high = 8, 8
	case msgSamples:
		step = uint32(4 * r.format.Channels)
		low, high = 4, maxSampleBytes
	default:
		return garbage("message of type %q", kind)
	}
	if (kind == msgSamples || kind == msgOverflow) == (r.format.Channels == 0) && kind != msgFound && kind != msgError {
		return garbage("message of type %q out of order", kind)
	}
	if size < low || size > high || size%step != 0 {
		return garbage("message of type %q with %d bytes", kind, size)
	}
	return nil
}

// longestGap bounds what an overflow may say: a day at the highest rate.
const longestGap = 24 * 3600 * maxRate

func (r *wireReader) parse(m *message) error {
	var err error
	switch m.kind {
	case msgFound:
		err = json.Unmarshal(r.body, &m.device)
	case msgOpened:
		err = json.Unmarshal(r.body, &m.format)
		if f := m.format; err == nil && (f.Rate < minRate || f.Rate > maxRate || f.Channels < 1 || f.Channels > maxChannels) {
			return garbage("a format of %d Hz and %d channels", f.Rate, f.Channels)
		}
		r.format = m.format
	case msgError:
		err = json.Unmarshal(r.body, &m.failure)
	case msgOverflow:
		if m.frames = binary.LittleEndian.Uint64(r.body); m.frames > longestGap {
			return garbage("an overflow of %d frames", m.frames)
		}
	case msgSamples:
		r.decode()
		m.samples = r.samples
	}
	if err != nil {
		return garbage("message of type %q: %v", m.kind, err)
	}
	return nil
}

func (r *wireReader) decode() {
	n := len(r.body) / 4
	if n > cap(r.samples) {
		r.samples = make([]float32, n)
	}
	r.samples = r.samples[:n]
	for i := range r.samples {
		r.samples[i] = sample(binary.LittleEndian.Uint32(r.body[4*i:]))
	}
}

// wireWriter writes messages, each with one call of Write.
type wireWriter struct {
	out io.Writer
	buf []byte
}

// begin starts a message; send fills in its length and writes it.
func (w *wireWriter) begin(kind messageType) {
	w.buf = append(w.buf[:0], 'E', 'S', wireVersion, byte(kind), 0, 0, 0, 0)
}

func (w *wireWriter) send() error {
	binary.LittleEndian.PutUint32(w.buf[4:], uint32(len(w.buf)-headerBytes))
	_, err := w.out.Write(w.buf)
	return err
}

func (w *wireWriter) json(kind messageType, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	w.begin(kind)
	w.buf = append(w.buf, body...)
	return w.send()
}

// sound sends whole frames, no more than fit into one message.
func (w *wireWriter) sound(samples []float32) error {
	w.begin(msgSamples)
	for _, s := range samples {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(s))
	}
	return w.send()
}

func (w *wireWriter) overflow(frames uint64) error {
	w.begin(msgOverflow)
	w.buf = binary.LittleEndian.AppendUint64(w.buf, frames)
	return w.send()
}

// failed sends the last message. A long text is cut: its JSON may have six bytes for
// one.
func (w *wireWriter) failed(f failure) error {
	f.Text = f.Text[:min(len(f.Text), maxErrorBytes/8)]
	return w.json(msgError, f)
}
