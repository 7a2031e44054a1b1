package vad

import (
	"math"
	"slices"
)

const (
	backgroundChunks = 250 // 8 s, in which a speaker pauses and what is behind him is heard
	loudnessChunks   = 7   // 0.2 s: longer than a gap between words, shorter than a pause
	aboveFloorDB     = 4.5 // what babble of six people varies by in its pauses
)

// background tells a speaker's pauses from people who talk behind him. A detector takes
// them for speech like his: with babble 10 dB below the voice Silero's probability is
// above 0.7 in nine of ten chunks of his pauses (2026-11-30). A chunk is background when
// the last loudnessChunks are as quiet as the quietest moments of the last seconds, and
// dropDB or more below the loud ones.
//
// It has a say only where the detector has hardly heard a pause in these seconds. Where it
// does, in quiet and in steady noise, level knows less: it would split more sentences in
// pink noise.
type background struct {
	dropDB   float64 // 0: nothing is background
	powers   [loudnessChunks]float64
	levels   [backgroundChunks]float64 // dB, means of loudnessChunks
	pauses   [backgroundChunks]bool    // as the detector hears them
	n        int                       // chunks so far
	paused   int                       // how many of pauses are true
	sortedDB [backgroundChunks]float64
}

// follow takes in the next chunk, and whether the detector hears a pause in it, and says
// whether it is background.
func (b *background) follow(chunk []float32, pause bool) bool {
	if b.dropDB == 0 {
		return false
	}
	b.powers[b.n%loudnessChunks] = math.Pow(10, levelDB(chunk)/10)
	var sum float64
	for _, p := range b.powers {
		sum += p
	}
	level := 10 * math.Log10(sum/loudnessChunks)
	at := b.n % backgroundChunks
	b.levels[at] = level
	b.paused += count(pause) - count(b.pauses[at])
	b.pauses[at] = pause
	b.n++
	known := min(b.n, backgroundChunks)
	if known < backgroundChunks/8 || b.paused > known/10 {
		return false
	}
	sorted := b.sortedDB[:copy(b.sortedDB[:], b.levels[:known])]
	slices.Sort(sorted)
	return level <= sorted[known/10]+aboveFloorDB && level <= sorted[known*9/10]-b.dropDB
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
