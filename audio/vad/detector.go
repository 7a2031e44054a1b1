package vad

import (
	"fmt"

	"earshot/audio"
)

// ChunkSamples is the length of what a Detector judges at a time: 32 ms at 16 kHz.
const ChunkSamples = 512

// Detector says for one chunk of a recording after the other how likely it is that
// someone speaks in it. It keeps what it needs of the chunks before, so that one
// Detector follows one recording at a time.
type Detector interface {
	// Probability judges the next chunk of ChunkSamples samples, 16 kHz mono, and
	// returns 0 to 1. It does not keep chunk.
	Probability(chunk []float32) float32
	// Reset makes the next chunk the first one of another recording.
	Reset()
}

func checkChunk(chunk []float32) {
	if len(chunk) != ChunkSamples {
		panic(fmt.Sprintf("BUG: chunk of %d samples, want %d (%d Hz)", len(chunk), ChunkSamples, audio.SampleRate))
	}
}
