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

// judge fills dst with the probabilities of the next chunks, which lie one behind the
// other in samples. A detector that is faster with many chunks has Probabilities.
func judge(d Detector, dst, samples []float32) {
	checkChunks(dst, samples)
	if many, ok := d.(interface{ Probabilities(dst, samples []float32) }); ok {
		many.Probabilities(dst, samples)
		return
	}
	for i := range dst {
		dst[i] = d.Probability(chunkAt(samples, i))
	}
}

// chunkAt is chunk i of samples.
func chunkAt(samples []float32, i int) []float32 { return samples[i*ChunkSamples:][:ChunkSamples] }

func checkChunks(dst, samples []float32) {
	if len(samples) != len(dst)*ChunkSamples {
		panic(fmt.Sprintf("BUG: %d chunks of %d samples, want %d each (%d Hz)", len(dst), len(samples), ChunkSamples, audio.SampleRate))
	}
}
