package whisper

import "slices"

const fadeSamples = SampleRate / 50 // 20 ms

// softEnd fades out a recording that breaks off inside a word. The step from sound
// to the zeros behind it is a click in all bands, which costs the last word (cases.md,
// C33: "reciter" cut behind its last voiced 10 ms became "resider" in tiny.en; with
// a fade of 20 ms it stays). A recording that ends in its own noise is returned as it
// is: there a fade does no good and changed texts.
func softEnd(samples []float32) []float32 {
	levels := frameLevels(samples)
	n := len(levels)
	if n < 10 {
		return samples
	}
	sorted := slices.Sorted(slices.Values(levels))
	if max(levels[n-1], levels[n-2]) < sorted[n/10]+15 {
		return samples
	}
	faded := slices.Clone(samples)
	for i := range fadeSamples {
		faded[len(faded)-1-i] *= float32(i) / fadeSamples
	}
	return faded
}
