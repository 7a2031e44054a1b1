package vad

import (
	"math"

	"github.com/mjibson/go-dsp/fft"
	"github.com/mjibson/go-dsp/spectral"
	"github.com/mjibson/go-dsp/window"

	"earshot/audio"
)

// welch averages three windows over a chunk; a bin is 62.5 Hz wide.
var welch = spectral.PwelchOptions{NFFT: 256, Noverlap: 128, Window: window.Hann}

// telephoneBand returns, for the band from 160 to 3530 Hz, the level of a chunk in dB
// against full scale and the flatness of its spectrum: the geometric over the
// arithmetic mean of the power in the bins. It is 0.84 ± 0.02 for white noise, 0.3 to
// 0.6 in quiet rooms, below 0.2 in three of four chunks of speech and above 0.6 in
// one of 25 (../shared/audio, 2026-11-30).
//
// (P. Welch, "The use of fast Fourier transform for the estimation of power spectra",
// 1967; J. D. Johnston, "Transform coding of audio signals using perceptual noise
// criteria", 1988.)
func telephoneBand(chunk []float32) (levelDB, flatness float64) {
	x := make([]float64, len(chunk))
	for i, v := range chunk {
		x[i] = float64(v)
	}
	density, _ := spectral.Pwelch(x, audio.SampleRate, &welch)
	const from, to, hz = 3, 57, audio.SampleRate / 256.0
	var sum, logs float64
	for _, p := range density[from:to] {
		p += 1e-15 // 16 bits have a quantisation noise of 1e-14
		sum += p
		logs += math.Log(p)
	}
	mean := sum / (to - from)
	return 10 * math.Log10(sum*hz), math.Exp(logs/(to-from)) / mean
}

// hann is the window of a whole chunk.
var hann = window.Hann(ChunkSamples)

// isTone says whether a chunk is a single tone: all its power but 0.6 % lies within
// 94 Hz of the strongest frequency. Silero takes the first quarter of a second of a
// beep below 500 Hz for a vowel. Of what it rightly takes for speech, 0.8 % is as bare
// in librispeech-test-other, at most seven chunks in a row, which make no pause, and
// nothing in ljspeech (2026-11-30).
func isTone(chunk []float32) bool {
	x := make([]float64, len(chunk))
	for i, v := range chunk {
		x[i] = float64(v) * hann[i]
	}
	power := make([]float64, 0, ChunkSamples/2)
	var all float64
	peak := 0
	for i, c := range fft.FFTReal(x)[1 : ChunkSamples/2] {
		power = append(power, real(c)*real(c)+imag(c)*imag(c))
		all += power[i]
		if power[i] > power[peak] {
			peak = i
		}
	}
	const around = 3 // bins of 31 Hz
	rest := all
	for _, p := range power[max(0, peak-around):min(len(power), peak+around+1)] {
		rest -= p
	}
	return rest < 0.006*all
}
