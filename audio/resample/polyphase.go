package resample

import "earshot/cpu"

// groupSamples output samples are computed together: a panel of a PackedF32.
const groupSamples = 16

// polyphase is a bank whose phases are all tabulated, as matrices. The phases of
// output samples repeat, and with them groups of 16 samples: a cycle. Each group of a
// cycle is a matrix over the input frames that its samples look at, and its products
// with the windows of many cycles, which lie a whole number of frames apart, are one
// matrix multiply.
type polyphase struct {
	groups []group
	frames int // input frames per cycle
}

type group struct {
	first   int            // input frame of the cycle at which its weights begin
	width   int            // how many there are
	weights *cpu.PackedF32 // [16, width]
}

// mostWeights (2 MB) is what a polyphase may take: five times what 176.4 kHz does, the
// common rate that needs most.
const mostWeights = 1 << 19

// newPolyphase arranges the phases of b for samples that stand step frames apart. It is
// nil where phases must be interpolated or cycles are too long to be tabulated.
func newPolyphase(b *bank, step fraction) *polyphase {
	cycle := b.den / gcd(b.den, groupSamples) * groupSamples
	taps := b.taps()
	if b.phases != b.den || cycle*(taps+groupSamples*(step.whole+1)) > mostWeights {
		return nil
	}
	p := &polyphase{frames: cycle*step.whole + cycle*step.num/b.den}
	at := fraction{}
	for range cycle / groupSamples {
		g := group{first: at.whole}
		places := make([]fraction, groupSamples)
		for i := range places {
			places[i] = at
			at = at.plus(step, b.den)
		}
		g.width = places[groupSamples-1].whole - g.first + taps
		dense := make([]float32, groupSamples*g.width)
		for i, place := range places {
			copy(dense[i*g.width+place.whole-g.first:], b.weights[place.num*taps:][:taps])
		}
		g.weights = cpu.PackF32(dense, groupSamples, g.width, g.width, 1)
		p.groups = append(p.groups, g)
	}
	return p
}

// available is how many groups, from group from of a cycle that begins at in[0] on, can
// be computed from in and have room in dst.
func (p *polyphase) available(dst, in []float32, from int) int {
	n := 0
	for (n+1)*groupSamples <= len(dst) {
		g := p.groups[(from+n)%len(p.groups)]
		if (from+n)/len(p.groups)*p.frames+g.first+g.width > len(in) {
			break
		}
		n++
	}
	return n
}

// run computes n groups from group from of a cycle on, which begins at in[0]. What a
// group gets does not depend on how many there are.
func (p *polyphase) run(dst, in []float32, from, n int) {
	cycle := len(p.groups)
	for i := range min(n, cycle) {
		g := p.groups[(from+i)%cycle]
		start := (from+i)/cycle*p.frames + g.first
		rows := (n - i + cycle - 1) / cycle
		cpu.GemmF32(dst[i*groupSamples:], cycle*groupSamples, in[start:], p.frames, rows, g.weights, groupSamples, g.width, nil)
	}
}
