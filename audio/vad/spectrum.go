package vad

import (
	"math"
	"slices"

	"github.com/mjibson/go-dsp/window"

	"earshot/audio"
	"earshot/cpu"
)

const (
	welchWindow  = 256 // samples; a bin is 62.5 Hz wide
	welchHop     = welchWindow / 2
	welchBins    = welchWindow/2 + 1
	welchWindows = (ChunkSamples-welchWindow)/welchHop + 1 // 3

	toneBins   = ChunkSamples/2 + 1
	toneChunks = 4 // looked at together: the kernel's rows
)

// The windows are go-dsp's; its transforms, which take 100 µs and as many kilobytes of
// garbage for a chunk, are the reference in the tests.
var (
	welchSpectrum = cpu.NewSpectrum(densityWindow())
	chunkSpectrum = cpu.NewSpectrum(window.Hann(ChunkSamples))
)

// densityWindow is a Hann window under which the sum of a chunk's three spectra is its
// one-sided density per Hz.
func densityWindow() []float64 {
	w := window.Hann(welchWindow)
	var squares float64
	for _, v := range w {
		squares += v * v
	}
	scale := math.Sqrt(2 / (welchWindows * audio.SampleRate * squares))
	for i := range w {
		w[i] *= scale
	}
	return w
}

// analyser looks at the spectra of chunks. It holds them.
type analyser struct {
	spectra [welchWindows * welchBins]float32
	tones   [toneChunks * toneBins]float32
}

// telephoneBand returns, for the band from 160 to 3530 Hz, the level of a chunk in dB
// against full scale and the flatness of its spectrum: the geometric over the
// arithmetic mean of the power in the bins. It is 0.84 ± 0.02 for white noise, 0.3 to
// 0.6 in quiet rooms, below 0.2 in three of four chunks of speech and above 0.6 in
// one of 25 (../shared/audio, 2026-11-30).
//
// (P. Welch, "The use of fast Fourier transform for the estimation of power spectra",
// 1967; J. D. Johnston, "Transform coding of audio signals using perceptual noise
// criteria", 1988.)
func (a *analyser) telephoneBand(chunk []float32) (levelDB, flatness float64) {
	welchSpectrum.PowerF32(a.spectra[:], welchBins, chunk, welchHop, welchWindows)
	const from, to, hz = 3, 57, audio.SampleRate / 256.0
	var sum, logs float64
	for k := from; k < to; k++ {
		p := 1e-15 // 16 bits have a quantisation noise of 1e-14
		for at := k; at < len(a.spectra); at += welchBins {
			p += float64(a.spectra[at])
		}
		sum += p
		logs += math.Log(p)
	}
	mean := sum / (to - from)
	return 10 * math.Log10(sum*hz), math.Exp(logs/(to-from)) / mean
}

// silenceTones sets the probability of chunks to 0 that are tones.
func (a *analyser) silenceTones(probs, samples []float32) {
	for len(probs) > 0 {
		n := min(len(probs), toneChunks)
		if slices.Max(probs[:n]) > 0.1 {
			chunkSpectrum.PowerF32(a.tones[:], toneBins, samples, ChunkSamples, n)
			for i := range n {
				if probs[i] > 0.1 && isTone(a.tones[i*toneBins:][:toneBins]) {
					probs[i] = 0
				}
			}
		}
		probs, samples = probs[n:], samples[n*ChunkSamples:]
	}
}

// isTone says of the power spectrum of a chunk whether it is a single tone: all its
// power but 0.6 % lies within 94 Hz of the strongest frequency. Silero takes the first
// quarter of a second of a beep below 500 Hz for a vowel. Of what it rightly takes for
// speech, 0.8 % is as bare in librispeech-test-other, at most seven chunks in a row,
// which make no pause, and nothing in ljspeech (2026-11-30).
func isTone(spectrum []float32) bool {
	power := spectrum[1 : len(spectrum)-1]
	var all float64
	peak := 0
	for i, p := range power {
		all += float64(p)
		if p > power[peak] {
			peak = i
		}
	}
	const around = 3 // bins of 31 Hz
	rest := all
	for _, p := range power[max(0, peak-around):min(len(power), peak+around+1)] {
		rest -= float64(p)
	}
	return rest < 0.006*all
}
