package audio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Channel says which channel of a Source to take. Numbers count from 1, as on a
// recorder's front panel.
type Channel int

const (
	// Mix takes the mean of all channels that carry sound; see Mono.
	Mix Channel = 0
	// Each asks for every channel by itself. Whoever opens the Source does that: it
	// opens it once for each channel.
	Each Channel = -1
)

// ParseChannel reads "mix", "each", or a number from 1 on.
func ParseChannel(s string) (Channel, error) {
	switch s {
	case "mix":
		return Mix, nil
	case "each":
		return Each, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("channel %q: want mix, each, or a number from 1 on", s)
	}
	return Channel(n), nil
}

// Mono returns one channel of src, or the mix of all.
//
// The mix is the mean of the channels that carry sound, so that full scale is never
// passed. Left out are channels more than 40 dB below the loudest, which would only
// make it quieter, and of two channels that cancel each other (correlation below
// -0.5, one of them wired with the wrong polarity) the quieter one; where they are
// within 1 dB, the louder one, since what it has more is noise. What a channel
// carries is judged over about the last 30 s and the quarter of a second to come,
// weighted by energy so that pauses do not count; a change of mind is faded over
// 20 ms. That quarter of a second is the delay of a live source; it does not shift
// the samples.
//
// A Source of one channel is returned as it is. A channel that src does not have,
// and Each, are errors.
func Mono(src Source, ch Channel) (Source, error) { return mono(src, ch, mixBlock) }

// LiveMono is what Mono returns, but its mix has a delay of 20 ms: it decides on each
// channel as it comes, without a look at what is next. A channel that begins to carry
// sound may lose its first 20 ms.
func LiveMono(src Source, ch Channel) (Source, error) { return mono(src, ch, mixFade) }

// mono mixes in blocks of so many seconds.
func mono(src Source, ch Channel, seconds float64) (Source, error) {
	format := src.Format()
	switch {
	case ch == Each:
		return nil, errors.New("take each channel: open the source once for each of them")
	case ch < 0 || int(ch) > format.Channels:
		return nil, fmt.Errorf("take channel %d of %d: there is no such channel", ch, format.Channels)
	case format.Channels == 1:
		return src, nil
	case ch == Mix:
		return newMixer(src, seconds), nil
	}
	return &picker{src: src, channels: format.Channels, index: int(ch) - 1}, nil
}

// picker passes one channel on.
type picker struct {
	src             Source
	channels, index int
	buf             []float32
}

func (p *picker) Format() Format { return Format{Rate: p.src.Format().Rate, Channels: 1} }

func (p *picker) Read(dst []float32) (int, error) {
	if len(dst) == 0 {
		return 0, io.ErrShortBuffer
	}
	if p.buf == nil {
		p.buf = make([]float32, 1024*p.channels)
	}
	n, err := p.src.Read(p.buf[:min(len(p.buf), len(dst)*p.channels)])
	n /= p.channels
	for i := range n {
		dst[i] = p.buf[i*p.channels+p.index]
	}
	return n, err
}

const (
	silentRatio = 1e-4 // energy against the loudest channel: -40 dB
	cancelling  = -0.5 // correlation
	nearlyEqual = 0.8  // energy against the louder of two: -1 dB
	settled     = 1e-4 // energies that are this near change no decision
	mixBlock    = 0.25 // seconds between decisions, where there is time
	mixMemory   = 30   // seconds until what a channel carried counts 1/e
	mixFade     = 0.02 // seconds, and between decisions on live sound
)

// mixer mixes all channels, one block after the other.
type mixer struct {
	src    Source
	rate   int
	ch     int
	decay  float64   // of energy, from block to block
	energy []float64 // [ch·ch] Σ x_i·x_j, weighted by age; the upper triangle with diagonal
	gain   []float32 // [ch] of the block before
	target []float32 // [ch] of this block
	block  []float32 // interleaved input
	mixed  []float32 // output
	out    []float32 // the part of mixed not yet handed out
	err    error     // how src ended
}

// newMixer decides anew after each block of so many seconds.
func newMixer(src Source, seconds float64) *mixer {
	f := src.Format()
	frames := int(seconds * float64(f.Rate))
	return &mixer{
		src: src, rate: f.Rate, ch: f.Channels,
		decay:  math.Exp(-seconds / mixMemory),
		energy: make([]float64, f.Channels*f.Channels),
		target: make([]float32, f.Channels),
		block:  make([]float32, frames*f.Channels),
		mixed:  make([]float32, frames),
	}
}

func (m *mixer) Format() Format { return Format{Rate: m.rate, Channels: 1} }

// Read implements Source.
func (m *mixer) Read(dst []float32) (int, error) {
	if len(dst) == 0 {
		return 0, io.ErrShortBuffer
	}
	for len(m.out) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		m.fill()
	}
	n := copy(dst, m.out)
	m.out = m.out[n:]
	return n, nil
}

// fill reads and mixes the next block.
func (m *mixer) fill() {
	n := 0
	for n < len(m.block) && m.err == nil {
		var k int
		k, m.err = m.src.Read(m.block[n:])
		n += k
	}
	block := m.block[:n]
	if n == 0 {
		return
	}
	m.measure(block)
	m.decide()
	m.out = m.mix(block)
}

// measure adds the block's energies and products to what the blocks before left.
func (m *mixer) measure(block []float32) {
	for i := range m.ch {
		for j := i; j < m.ch; j++ {
			sum := 0.0
			for k := 0; k < len(block); k += m.ch {
				sum += float64(block[k+i]) * float64(block[k+j])
			}
			m.energy[i*m.ch+j] = m.energy[i*m.ch+j]*m.decay + sum
		}
	}
}

// decide sets the target gains: the loudest channel is kept, then each next one
// unless it is silent or cancels one that is kept, whose place it may take.
func (m *mixer) decide() {
	order := make([]int, m.ch)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.product(b, b), m.product(a, a)) })
	var kept []int
	loudest := m.product(order[0], order[0])
	for _, c := range order {
		if m.product(c, c) < silentRatio*loudest {
			break
		}
		switch k := m.cancels(c, kept); {
		case k < 0:
			kept = append(kept, c)
		case m.cleaner(c, kept[k]):
			kept[k] = c
		}
	}
	clear(m.target)
	for _, c := range kept {
		m.target[c] = 1 / float32(len(kept))
	}
}

func (m *mixer) product(i, j int) float64 { return m.energy[min(i, j)*m.ch+max(i, j)] }

// cancels returns which of kept has the opposite sign of c, -1 for none.
func (m *mixer) cancels(c int, kept []int) int {
	return slices.IndexFunc(kept, func(k int) bool {
		return m.product(c, k) < cancelling*math.Sqrt(m.product(c, c)*m.product(k, k))
	})
}

// cleaner reports whether c, which is no louder than k, holds the same with less
// noise. A channel that is in use needs no reason to stay.
func (m *mixer) cleaner(c, k int) bool {
	most := m.product(k, k)
	if m.target[c] == 0 {
		most *= 1 - settled
	}
	return m.product(c, c) < most && m.product(c, c) >= nearlyEqual*m.product(k, k)
}

// mix applies the gains: those of the block before fade into the new ones.
func (m *mixer) mix(block []float32) []float32 {
	frames := len(block) / m.ch
	if m.gain == nil {
		m.gain = slices.Clone(m.target)
	}
	fade := int(mixFade * float64(m.rate))
	out := m.mixed[:frames]
	for k := range out {
		frame := block[k*m.ch:][:m.ch]
		part := min(1, float32(k+1)/float32(fade))
		sum := float32(0)
		for c, s := range frame {
			sum += s * (m.gain[c] + (m.target[c]-m.gain[c])*part)
		}
		out[k] = max(-1, min(1, sum)) // thirds of full scale add up to a rounding error more
	}
	copy(m.gain, m.target)
	return out
}
