package whisper

import (
	"bytes"
	"compress/zlib"
)

// The usual thresholds of the reference (transcribe.py): a text that compresses
// better than this repeats itself, a mean log-probability below this is a guess,
// and above this probability of "no speech" a guess counts as silence.
const (
	maxCompressionRatio = 2.4
	minLogProb          = -1.0
	maxNoSpeech         = 0.6
)

// Temperatures are the temperatures tried in turn until a text is good enough.
var Temperatures = []float64{0, 0.2, 0.4, 0.6, 0.8, 1}

// candidates is how many texts are drawn at a temperature above 0; the likeliest
// counts (best_of in transcribe.py).
const candidates = 5

// compressionRatio is how many times smaller a text becomes by zlib's deflate
// (utils.py). Text without repeats gives about 1.5, loops far more.
func compressionRatio(text string) float64 {
	if text == "" {
		return 0
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write([]byte(text))
	w.Close()
	return float64(len(text)) / float64(packed.Len())
}

// good says whether a text needs no other try.
func (r *Result) good() bool {
	if r.silent() {
		return true // and no temperature makes it speech
	}
	return r.Stop == EndOfText && r.CompressionRatio <= maxCompressionRatio && r.LogProb >= minLogProb
}

// silent says whether the model itself doubts that anybody speaks.
func (r *Result) silent() bool { return r.NoSpeech > maxNoSpeech && r.LogProb < minLogProb }

// better says whether a is to be preferred when none is good: one that is speech, then
// one that does not repeat itself, then the likelier one.
func better(a, b *Result) bool {
	loops := func(r *Result) bool { return r.Stop == Looped || r.CompressionRatio > maxCompressionRatio }
	switch {
	case a.silent() != b.silent():
		return b.silent()
	case loops(a) != loops(b):
		return loops(b)
	}
	return a.LogProb > b.LogProb
}
