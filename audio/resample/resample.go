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
// Memory is bounded by the filter (at most 2 MB, for odd rates near 192 kHz) and a
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
	src  audio.Source
	bank bank
	step fraction // input frames per output sample
	at   fraction // input position of the next output sample, relative to base

	// in holds the input around the next output sample: in[0] is frame
	// base - bank.before. What is in front of the first frame is zeros.
	in    []float32
	room  []float32 // the array under in
	block int       // frames to read at once
	end   bool      // the source has ended, zeros were appended
	tail  int       // after the end: frames of in, counted from base, that are real
	err   error
}

// fraction is a number of input frames: whole + num/den.
type fraction struct{ whole, num int }

func newConverter(src audio.Source) *converter {
	rate := src.Format().Rate
	den := audio.SampleRate / gcd(rate, audio.SampleRate)
	c := &converter{
		src:   src,
		bank:  newBank(rate, den),
		step:  fraction{rate / audio.SampleRate, rate % audio.SampleRate * den / audio.SampleRate},
		block: max(1024, rate/50),
	}
	c.room = make([]float32, 4*(c.bank.taps()+c.block))
	c.in = c.room[:c.bank.before] // zeros
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
		switch {
		case c.end && c.at.whole >= c.tail:
			return n, io.EOF
		case len(c.in) >= c.at.whole+c.bank.taps():
			dst[n] = c.bank.at(c.in[c.at.whole:], c.at.num)
			c.advance()
			n++
		case n > 0 && !c.end:
			return n, nil // hand out what is there before waiting for more
		case c.err != nil:
			return n, c.err
		default:
			c.fill()
		}
	}
	return n, nil
}

// advance moves on by one output sample.
func (c *converter) advance() {
	c.at.whole += c.step.whole
	c.at.num += c.step.num
	if c.at.num >= c.bank.den {
		c.at.num -= c.bank.den
		c.at.whole++
	}
}

// fill drops the input that is no longer needed and reads more.
func (c *converter) fill() {
	used := min(c.at.whole, len(c.in))
	c.in = c.in[used:]
	c.at.whole -= used
	if cap(c.in) < len(c.in)+c.block {
		c.in = c.room[:copy(c.room, c.in)]
	}
	old := len(c.in)
	n, err := c.src.Read(c.in[old : old+c.block])
	c.in = c.in[:old+n]
	switch {
	case errors.Is(err, io.EOF):
		c.finish()
	case err != nil:
		c.err = err
	}
}

// finish appends the zeros behind the last frame.
func (c *converter) finish() {
	c.end = true
	c.tail = len(c.in) - c.bank.before
	old := len(c.in)
	if cap(c.in) < old+c.bank.after {
		c.in = c.room[:copy(c.room, c.in)]
	}
	c.in = c.in[:old+c.bank.after]
	clear(c.in[old:])
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
