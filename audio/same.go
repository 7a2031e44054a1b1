package audio

import (
	"errors"
	"io"
	"math"
)

const (
	// sameLag is the largest delay between copies of one signal, in frames: cables,
	// converters and stereo codecs stay below it.
	sameLag = 16
	// sameCorrelation is what two copies reach at least. Copies that went through an
	// MP3 encoder have 0.99; one signal with independent noise 15 dB below it on each
	// side has 0.97; two microphones in one room stay below 0.9.
	sameCorrelation = 0.96
)

// SameChannels tells which channels of src carry the same signal, whatever their
// level, polarity and delay of up to 16 frames: a mono call that was copied to both
// channels is one speaker line. For each channel it returns the first one that it is
// a copy of, which is the channel itself where there is none; indices from 0. Silent
// channels are copies of nothing. It reads src to its end and holds a block of it.
//
// Two channels are the same when the magnitude of their correlation
//
//	Σ x[k]·y[k-lag] / √(Σ x² · Σ y²)
//
// reaches 0.96 at one lag for the whole of src.
func SameChannels(src Source) ([]int, error) {
	ch := src.Format().Channels
	m := newMatcher(ch)
	buf := make([]float32, 4096*ch)
	for {
		n, err := src.Read(buf)
		m.add(buf[:n])
		if errors.Is(err, io.EOF) {
			return m.copies(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// matcher accumulates products of channel pairs at all lags.
type matcher struct {
	ch       int
	energy   []float64                // [ch]
	products [][2*sameLag + 1]float64 // [ch·ch], lag -sameLag … sameLag
	past     [][]float32              // [ch], the last 2·sameLag frames and then the block
}

func newMatcher(ch int) *matcher {
	m := &matcher{
		ch:       ch,
		energy:   make([]float64, ch),
		products: make([][2*sameLag + 1]float64, ch*ch),
		past:     make([][]float32, ch),
	}
	for c := range m.past {
		m.past[c] = make([]float32, 2*sameLag)
	}
	return m
}

// add takes in a block of interleaved samples. Products are formed around frames
// sameLag behind the newest, so that both signs of the lag are there.
func (m *matcher) add(block []float32) {
	frames := len(block) / m.ch
	for c := range m.ch {
		keep := m.past[c][len(m.past[c])-2*sameLag:]
		m.past[c] = append(m.past[c][:0], keep...)
		for k := range frames {
			s := block[k*m.ch+c]
			m.past[c] = append(m.past[c], s)
			m.energy[c] += float64(s) * float64(s)
		}
	}
	for i := range m.ch {
		for j := i + 1; j < m.ch; j++ {
			m.multiply(i, j, frames)
		}
	}
}

func (m *matcher) multiply(i, j, frames int) {
	sums := &m.products[i*m.ch+j]
	x := m.past[i][sameLag:][:frames]
	for lag := range sums {
		y := m.past[j][lag:][:frames]
		sum := 0.0
		for k, s := range x {
			sum += float64(s) * float64(y[k])
		}
		sums[lag] += sum
	}
}

// copies compares every channel with those before it that are no copies themselves.
func (m *matcher) copies() []int {
	first := make([]int, m.ch)
	for j := range first {
		first[j] = j
		for i := range j {
			if first[i] == i && m.same(i, j) {
				first[j] = i
				break
			}
		}
	}
	return first
}

func (m *matcher) same(i, j int) bool {
	limit := sameCorrelation * math.Sqrt(m.energy[i]*m.energy[j])
	if limit == 0 {
		return false
	}
	for _, sum := range m.products[i*m.ch+j] {
		if math.Abs(sum) >= limit {
			return true
		}
	}
	return false
}
