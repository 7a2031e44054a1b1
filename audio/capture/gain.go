package capture

import (
	"math"
	"math/bits"
	"sync/atomic"

	"earshot/audio"
)

// gain lifts the voice of someone far away, slowly, and nothing else: it never goes
// below 1, so that sound that is loud enough passes unchanged, bit for bit.
//
// Frames of 20 ms are measured. The quietest ones of the last 4 s are the noise; those
// well above the noise, if there are enough of them, are a voice. Only while there is
// one does the gain rise, towards a voice at -26 dBFS. The noise is never lifted above
// -55 dBFS: that keeps a hissing or humming room as quiet as it is, whatever is said in
// it. (Whisper takes -52 dBFS of noise for speech now and then: cases.md, C27.)
//
// A peak that would pass full scale takes the gain down at once. What comes out does
// not depend on how the samples are cut into blocks.
type gain struct {
	sum  float64    // squares of the frame
	n    int        // samples in the frame
	low  [8]float64 // the quietest frames of half seconds, the newest first
	at   int        // frames in low[0] so far
	seen int        // of low, in use

	voice   float64 // level of the voice's louder frames, dBFS
	voiced  uint64  // the last 64 frames, a bit each: well above the noise
	target  float64 // gain in dB that is approached
	current float64 // gain in dB
	factor  float64 // the same as a factor
	shown   atomic.Uint64
}

const (
	voiceTarget  = -23.0 // dBFS of the louder frames: speech at -26, as in recordings (ITU-T P.56 practice)
	leastGain    = 3.0   // dB: less is not worth changing the sound for
	noiseCeiling = -55.0 // dBFS
	mostGain     = 30.0  // dB
	aboveNoise   = 10.0  // dB, of a voice
	voiceLeast   = -70.0 // dBFS: below, there is no voice but rounding
	voicedFrames = 16    // of the last 64
	voiceRises   = 4     // voiced frames until a louder voice is known
	voiceFalls   = 50    // voiced frames until a quieter one is: a second
	rise         = 3.0   // dB per second
	fall         = 12.0  // dB per second
	peakMost     = 0.9
	nothing      = -90.0 // dBFS: less than a step of 16 bits

	bucketFrames = 25 // half a second
)

func (g *gain) db() float64 { return math.Float64frombits(g.shown.Load()) }

func (g *gain) apply(samples []float32) {
	for i, s := range samples {
		x := float64(s)
		g.sum += x * x
		if g.n++; g.n == chunk {
			g.frame(decibels(g.sum / chunk))
			g.sum, g.n = 0, 0
		}
		if g.current == 0 && g.target == 0 {
			continue
		}
		g.step()
		if y := math.Abs(x) * g.factor; y > peakMost {
			g.limit(math.Abs(x))
		}
		samples[i] = float32(max(-1, min(1, x*g.factor)))
	}
}

// step moves the gain by one sample towards its target.
func (g *gain) step() {
	const up, down = rise / audio.SampleRate, fall / audio.SampleRate
	switch {
	case g.current < g.target:
		g.current = min(g.target, g.current+up)
	case g.current > g.target:
		g.current = max(g.target, g.current-down)
	default:
		return
	}
	g.factor = math.Pow(10, g.current/20)
}

// limit takes the gain down for a sample of magnitude x.
func (g *gain) limit(x float64) {
	g.current = max(0, 20*math.Log10(peakMost/x))
	g.target = min(g.target, g.current)
	g.factor = math.Pow(10, g.current/20)
}

// frame decides on the target, once a frame.
func (g *gain) frame(db float64) {
	noise := g.noise(db)
	g.voiced <<= 1
	if db > max(noise+aboveNoise, voiceLeast) {
		if g.voiced == 0 {
			g.voice = db
		}
		g.voiced |= 1
		if db > g.voice {
			g.voice += (db - g.voice) / voiceRises
		} else {
			g.voice += (db - g.voice) / voiceFalls
		}
	}
	// The ceiling holds at all times; more gain is for a voice only.
	most := max(0, min(mostGain, noiseCeiling-noise))
	g.target = min(g.current, most)
	if bits.OnesCount64(g.voiced) >= voicedFrames {
		g.target = min(most, voiceTarget-g.voice)
		if g.target < leastGain {
			g.target = 0
		}
	}
	g.shown.Store(math.Float64bits(g.current))
}

// noise is the level of the quietest frame of the last 4 s, this one included. Frames
// without any sound are not counted: a microphone that cuts its noise off in pauses
// would have us take the noise that comes back for a voice.
func (g *gain) noise(db float64) float64 {
	least := db
	if db > nothing {
		if g.at == 0 {
			copy(g.low[1:], g.low[:])
			g.low[0] = db
			g.seen = min(g.seen+1, len(g.low))
		}
		g.at = (g.at + 1) % bucketFrames
		g.low[0] = min(g.low[0], db)
	}
	for _, l := range g.low[:g.seen] {
		least = min(least, l)
	}
	return least
}
