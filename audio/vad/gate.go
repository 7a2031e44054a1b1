package vad

import (
	"math"
	"slices"

	"github.com/mjibson/go-dsp/spectral"
	"github.com/mjibson/go-dsp/window"

	"earshot/audio"
)

// Levels are RMS over a chunk without its mean, in dB against full scale. Flatness
// is the geometric over the arithmetic mean of the power spectrum between 190 and
// 3500 Hz, the band that a telephone passes: 0.84 ± 0.02 for white noise, 0.3 to 0.6
// in quiet rooms, below 0.2 in three quarters of all chunks of speech and above 0.6
// in one of 25 (all of ../shared/audio, 2026-11-30).
const (
	silentDB      = -75 // below this nothing is speech, whatever it is like
	quietDB       = -50 // below this flat noise is not worth a look
	quietFlatness = 0.6

	// holdChunks (0.5 s) of quiet close the gate. The detector behind it has then
	// heard a pause and is ready for the next word.
	holdChunks = 16
)

// Gate is an energy and spectral-flatness gate in front of a slower Detector, which
// it spares digital silence and low noise; alone it is a Detector that needs no
// weights: speech is what stands out of the noise floor and is not flat. Alone it
// takes music and bangs for speech, and loses speech in loud noise.
type Gate struct {
	behind Detector // nil: alone
	quiet  int      // chunks since the last one that was not quiet
	floor  noiseFloor
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
	checkChunk(chunk)
	level := levelDB(chunk)
	if g.behind == nil {
		return g.alone(level, chunk)
	}
	g.quiet++
	if level >= quietDB || level >= silentDB && flatness(chunk) < quietFlatness {
		g.quiet = 0
	}
	if g.quiet > holdChunks {
		return 0
	}
	return g.behind.Probability(chunk)
}

// alone judges a chunk by its level over the noise floor and by its flatness. Both
// limits were set on ../shared/audio against Silero's judgement of clean speech.
func (g *Gate) alone(level float64, chunk []float32) float32 {
	if level < silentDB {
		return 0
	}
	over := sigmoid(float32(level-g.floor.follow(level)-8) / 2)
	if over < 0.01 {
		return over
	}
	return over * sigmoid(float32(0.45-flatness(chunk))/0.05)
}

// noiseFloor is the lowest level of the last 1.5 s: no speaker goes on for so long
// without a gap (R. Martin, "Noise power spectral density estimation based on optimal
// smoothing and minimum statistics", 2001).
type noiseFloor struct {
	levels [48]float64 // above lowestFloorDB
	next   int
}

// lowestFloorDB is also the floor as long as there is nothing to know it by.
const lowestFloorDB = -60

// follow takes in the level of a chunk and returns the floor.
func (f *noiseFloor) follow(level float64) float64 {
	f.levels[f.next%len(f.levels)] = max(0, level-lowestFloorDB)
	f.next++
	return lowestFloorDB + slices.Min(f.levels[:])
}

// levelDB is the chunk's RMS level without its mean; -200 for digital silence.
func levelDB(chunk []float32) float64 {
	var sum, squares float64
	for _, v := range chunk {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	mean := sum / float64(len(chunk))
	return 10 * math.Log10(max(1e-20, squares/float64(len(chunk))-mean*mean))
}

// welch averages three windows over a chunk, 62.5 Hz a bin.
var welch = spectral.PwelchOptions{NFFT: 256, Noverlap: 128, Window: window.Hann}

// flatness is 0 for a tone and 1 for an even spectrum.
func flatness(chunk []float32) float64 {
	x := make([]float64, len(chunk))
	for i, v := range chunk {
		x[i] = float64(v)
	}
	power, _ := spectral.Pwelch(x, audio.SampleRate, &welch)
	const from, to = 3, 57 // bins
	var sum, logs float64
	for _, p := range power[from:to] {
		p += 1e-15 // the quantisation noise of 16 bits has 1e-14
		sum += p
		logs += math.Log(p)
	}
	return math.Exp(logs/(to-from)) / (sum / (to - from))
}
