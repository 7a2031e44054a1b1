package vad

import (
	"math"
	"slices"
)

const (
	silentDB      = -75 // below this nothing is speech, whatever it is like
	quietDB       = -50 // below this flat noise is not worth a look
	quietFlatness = 0.6

	// holdChunks (0.5 s) of quiet close the gate. The detector behind it has then
	// heard a pause and is ready for the next word.
	holdChunks = 16
)

// Gate is an energy and spectral-flatness gate in front of a slower Detector, which
// it spares digital silence and low noise and corrects on single tones. Alone it is a
// Detector that needs no weights: speech is what stands out of the noise floor, is not
// flat and is no tone. Alone it takes music, birds and bangs for speech, and loses
// speech in loud noise.
type Gate struct {
	behind Detector // nil: alone
	quiet  int      // chunks since the last one that was not quiet
	floor  noiseFloor
	one    [1]float32
	analyser
}

// NewGate returns a gate in front of a Detector, or one that works alone when behind
// is nil. The detector behind belongs to the gate from then on.
func NewGate(behind Detector) *Gate { return &Gate{behind: behind} }

// Reset makes the next chunk the first one of another recording.
func (g *Gate) Reset() {
	if g.behind != nil {
		g.behind.Reset()
	}
	*g = Gate{behind: g.behind}
}

// Probability returns how likely it is that someone speaks in the next chunk; 0 where
// the gate is closed.
func (g *Gate) Probability(chunk []float32) float32 {
	g.Probabilities(g.one[:], chunk)
	return g.one[0]
}

// Probabilities judges the next chunks, len(dst) of them one behind the other in
// samples, as Probability does.
func (g *Gate) Probabilities(dst, samples []float32) {
	checkChunks(dst, samples)
	if g.behind == nil {
		for i := range dst {
			dst[i] = g.alone(chunkAt(samples, i))
		}
		g.silenceTones(dst, samples)
		return
	}
	from := 0 // the gate has been open since this chunk
	for i := range dst {
		if !g.open(chunkAt(samples, i)) {
			g.pass(dst[from:i], samples[from*ChunkSamples:i*ChunkSamples])
			dst[i] = 0
			from = i + 1
		}
	}
	g.pass(dst[from:], samples[from*ChunkSamples:])
}

// open says whether the detector behind is to hear the next chunk.
func (g *Gate) open(chunk []float32) bool {
	if level := levelDB(chunk); level >= quietDB || level >= silentDB && !g.flat(chunk) {
		g.quiet = 0
	} else {
		g.quiet++
	}
	return g.quiet <= holdChunks
}

// pass hands chunks on to the detector behind.
func (g *Gate) pass(dst, samples []float32) {
	judge(g.behind, dst, samples)
	g.silenceTones(dst, samples)
}

func (g *Gate) flat(chunk []float32) bool {
	_, flatness := g.telephoneBand(chunk)
	return flatness > quietFlatness
}

// alone judges a chunk by its level over the noise floor, in dB, and by its flatness.
// The limits were set on ../shared/audio, for what Silero says of clean speech.
func (g *Gate) alone(chunk []float32) float32 {
	if levelDB(chunk) < silentDB {
		return 0
	}
	level, flatness := g.telephoneBand(chunk)
	over := level - g.floor.follow(level)
	return sigmoid(float32(over-8)/2) * sigmoid(float32(0.45-flatness)/0.05)
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// noiseFloor is the lowest level of the last 1.5 s: no speaker goes on for so long
// without a gap (R. Martin, "Noise power spectral density estimation based on optimal
// smoothing and minimum statistics", 2001).
type noiseFloor struct {
	levels [48]float64 // above lowestFloorDB
	next   int
}

// lowestFloorDB is also the floor as long as there is nothing to know it by.
const lowestFloorDB = -64

// follow takes in the level of a chunk and returns the floor.
func (f *noiseFloor) follow(level float64) float64 {
	f.levels[f.next%len(f.levels)] = max(0, level-lowestFloorDB)
	f.next++
	return lowestFloorDB + slices.Min(f.levels[:])
}

// levelDB is the RMS level of x without its mean, in dB against full scale; -200 for
// digital silence.
func levelDB(x []float32) float64 {
	n := float64(len(x))
	// Four sums each: one alone waits for its last addition.
	var sum, squares [4]float64
	for ; len(x) >= 4; x = x[4:] {
		for i := range 4 {
			v := float64(x[i])
			sum[i] += v
			squares[i] += v * v
		}
	}
	for i, v := range x {
		sum[i] += float64(v)
		squares[i] += float64(v) * float64(v)
	}
	mean := (sum[0] + sum[1] + sum[2] + sum[3]) / n
	return 10 * math.Log10(max(1e-20, (squares[0]+squares[1]+squares[2]+squares[3])/n-mean*mean))
}
