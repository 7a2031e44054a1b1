package vad

import (
	"math"
	"slices"
)

const (
	backgroundChunks = 250 // 8 s, in which a speaker pauses and what is behind him is heard
	presenceChunks   = 6   // 0.2 s: longer than a gap between words, shorter than a pause
	aboveFloorDB     = 4.5 // what babble of six people varies by in its pauses
	stayDB           = 1.5 // by which a pause may be louder that has begun
	oddsDB           = 0.75
)

// background tells a speaker's pauses from people who talk behind him. A detector takes
// them for speech like his: with babble 10 dB below the voice Silero's probability is
// above 0.7 in nine of ten chunks of his pauses (2026-11-30). It is a little lower than
// for him, though, so that both count: the presence of a voice is its level in dB and
// oddsDB for each unit of the log-odds that it is speech, over presenceChunks. A chunk is
// background when the presence is as low as the lowest of the last seconds, and dropDB or
// more below the high ones.
//
// It has a say only where the detector has hardly heard a pause in these seconds. Where it
// does, in quiet and in steady noise, level knows less: it would split more sentences in
// pink noise.
type background struct {
	dropDB   float64 // 0: nothing is background
	powers   [presenceChunks]float64
	odds     [presenceChunks]float64
	presence [backgroundChunks]float64 // dB
	pauses   [backgroundChunks]bool    // as the detector hears them
	n        int                       // chunks so far
	paused   int                       // how many of pauses are true
	sorted   [backgroundChunks]float64
}

// heard is what is known of a chunk: its probability, and whether the detector, and
// whether the segmenter takes it for a pause so far.
type heard struct {
	p             float32
	pause, within bool
}

// follow takes in the next chunk and says whether it, and with it the presenceChunks
// that end with it, is background.
func (b *background) follow(chunk []float32, h heard) bool {
	if b.dropDB == 0 {
		return false
	}
	b.powers[b.n%presenceChunks] = math.Pow(10, levelDB(chunk)/10)
	p := min(max(float64(h.p), 0.001), 0.999)
	b.odds[b.n%presenceChunks] = math.Log(p / (1 - p))
	presence := 10*math.Log10(mean(b.powers[:])) + oddsDB*mean(b.odds[:])
	at := b.n % backgroundChunks
	b.presence[at] = presence
	b.paused += count(h.pause) - count(b.pauses[at])
	b.pauses[at] = h.pause
	b.n++
	known := min(b.n, backgroundChunks)
	if known < backgroundChunks/8 || b.paused > known/10 {
		return false
	}
	if h.within {
		presence -= stayDB
	}
	sorted := b.sorted[:copy(b.sorted[:], b.presence[:known])]
	slices.Sort(sorted)
	return presence <= sorted[known/10]+aboveFloorDB && presence <= sorted[known*9/10]-b.dropDB
}

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
