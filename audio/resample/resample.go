// Package resample converts sound of any rate and channel count to what Whisper's
// features are defined for: 16 kHz, one channel.
//
// The filter is a windowed sinc (Kaiser), evaluated as a polyphase bank: output
// sample m stands at input position m·rate/16000, kept as an exact fraction, so the
// time base never drifts. With h(t) the filter,
//
//	y[m] = Σ_k x[k] · h(m·rate/16000 - k)
//
// (J. O. Smith, "Digital Audio Resampling"; J. F. Kaiser, "Nonrecursive digital
// filter design using the I0-sinh window function", 1974). Output sample 0 is aligned with
// input sample 0; the input counts as zero before its start and behind its end. Of n
// input frames come exactly ⌈n·16000/rate⌉ output samples: those that stand inside
// the input.
//
// With B the smaller Nyquist frequency of the two rates (8 kHz when the rate goes
// down), the response is flat within 0.01 dB up to 0.9·B and below -80 dB from B on.
//
// Where the phases of m·rate/16000 repeat soon, as they do for all common rates, the
// sums are matrix multiplies of package cpu; else they are taken one by one.
//
// Memory is bounded by the filter (at most 4 MB, for odd rates near 192 kHz) and a
// block of input. The package starts no threads.
package resample

import (
	"errors"
	"fmt"
	"io"

	"earshot/audio"
)

// Rates that To16k accepts, in Hz.
const (
	MinRate = 4000
	MaxRate = 192000
)

// To16k returns src as 16 kHz mono; several channels are mixed by audio.Mono. A
// source that is 16 kHz mono already is returned as it is.
func To16k(src audio.Source) (audio.Source, error) {
	format := src.Format()
	if format.Rate < MinRate || format.Rate > MaxRate {
		return nil, fmt.Errorf("resample from %d Hz: accepted are %d to %d Hz", format.Rate, MinRate, MaxRate)
	}
	mono, err := audio.Mono(src, audio.Mix)
	if err != nil {
		return nil, err
	}
	if format.Rate == audio.SampleRate {
		return mono, nil
	}
	return newConverter(mono), nil
}

// Length is how many samples To16k makes of n frames at rate.
func Length(n int64, rate int) int64 {
	return (n*audio.SampleRate + int64(rate) - 1) / int64(rate)
}

// converter resamples one channel.
type converter struct {
	src       audio.Source
	bank      bank
	polyphase *polyphase // nil where samples are computed one by one
	step      fraction   // input frames per output sample

	// in holds the input around the next output sample: in[0] is frame
	// base - bank.before. What is in front of the first frame is zeros.
	in    []float32
	room  []float32 // the array under in
	block int       // frames to read at once
	at    fraction  // input position of the next output sample, or of its cycle, relative to base
	group int       // of the next output sample in its cycle

	out       []float32 // computed and not yet handed out
	made      []float32 // the array under out
	frames    int64     // read so far
	converted int64     // samples computed so far
	end       bool      // the source has ended, zeros were appended
	err       error
}

// fraction is a number of input frames: whole + num/den.
type fraction struct{ whole, num int }

func (a fraction) plus(b fraction, den int) fraction {
	sum := fraction{a.whole + b.whole, a.num + b.num}
	if sum.num >= den {
		sum.num -= den
		sum.whole++
	}
	return sum
}

func newConverter(src audio.Source) *converter {
	rate := src.Format().Rate
	den := audio.SampleRate / gcd(rate, audio.SampleRate)
	c := &converter{
		src:   src,
		bank:  newBank(rate, den),
		step:  fraction{rate / audio.SampleRate, rate % audio.SampleRate * den / audio.SampleRate},
		block: max(1024, rate/10), // ten cycles of 44.1 kHz in a matrix multiply
	}
	c.polyphase = newPolyphase(&c.bank, c.step)
	c.room = make([]float32, 4*(c.bank.taps()+c.block))
	c.in = c.room[:c.bank.before] // zeros
	c.made = make([]float32, Length(int64(c.block), rate)+groupSamples)
	return c
}

func (c *converter) Format() audio.Format {
	return audio.Format{Rate: audio.SampleRate, Channels: 1}
}

// Read implements audio.Source.
func (c *converter) Read(dst []float32) (int, error) {
	if len(dst) == 0 {
		return 0, io.ErrShortBuffer
	}
	n := 0
	for n < len(dst) {
		if len(c.out) == 0 {
			c.convert()
		}
		switch {
		case len(c.out) > 0:
			k := copy(dst[n:], c.out)
			c.out = c.out[k:]
			n += k
		case c.end:
			return n, io.EOF
		case n > 0:
			return n, nil // hand out what is there before waiting for more
		case c.err != nil:
			return n, c.err
		default:
			c.fill()
		}
	}
	return n, nil
}

// convert computes what the input at hand allows. Behind the end that may be more
// samples than stand inside the input.
func (c *converter) convert() {
	n := 0
	if c.polyphase != nil {
		n = c.convertGroups()
	} else {
		for n < len(c.made) && len(c.in) >= c.at.whole+c.bank.taps() {
			c.made[n] = c.bank.at(c.in[c.at.whole:], c.at.num)
			c.at = c.at.plus(c.step, c.bank.den)
			n++
		}
	}
	if c.end {
		n = int(min(int64(n), Length(c.frames, c.src.Format().Rate)-c.converted))
	}
	c.converted += int64(n)
	c.out = c.made[:n]
}

func (c *converter) convertGroups() int {
	p, in := c.polyphase, c.in[c.at.whole:]
	n := p.available(c.made, in, c.group)
	p.run(c.made, in, c.group, n)
	c.group += n
	c.at.whole += c.group / len(p.groups) * p.frames
	c.group %= len(p.groups)
	return n * groupSamples
}

// fill drops the input that is no longer needed and reads more.
func (c *converter) fill() {
	used := min(c.at.whole, len(c.in))
	c.in = c.in[used:]
	c.at.whole -= used
	c.reserve(c.block)
	old := len(c.in)
	n, err := c.src.Read(c.in[old : old+c.block])
	c.in = c.in[:old+n]
	c.frames += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		c.finish()
	case err != nil:
		c.err = err
	}
}

// finish appends the zeros behind the last frame, up to those that the last group of
// samples looks at.
func (c *converter) finish() {
	c.end = true
	zeros := c.bank.after + groupSamples*(c.step.whole+1)
	c.reserve(zeros)
	old := len(c.in)
	c.in = c.in[:old+zeros]
	clear(c.in[old:])
}

// reserve makes room for n frames behind in.
func (c *converter) reserve(n int) {
	if cap(c.in) < len(c.in)+n {
		c.in = c.room[:copy(c.room, c.in)]
	}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
