// Package mel computes the log-mel spectrograms that Whisper's encoder takes
// (Radford et al. 2022, section 2.2; log_mel_spectrogram in whisper/audio.py of the
// reference implementation): 25 ms windows every 10 ms, 80 or 128 mel bands.
//
// There are two forms, equal to the last bit. LogMel takes a whole recording.
// Stream takes samples as they arrive and yields frames of unclamped log-mel, of
// which Normalise makes what the encoder takes, once the window to decode is
// known: the clamp depends on the window's maximum.
//
// Transforms are in float64, sums of powers and results in float32. The package owns
// no threads and no files.
package mel

import (
	"fmt"

	"earshot/audio"
	"earshot/cpu"
)

const (
	// Hop is the distance of two frames in samples: 10 ms (HOP_LENGTH in
	// whisper/audio.py).
	Hop = audio.SampleRate / 100

	// window is the length of a frame in samples: 25 ms (N_FFT). Frame t covers
	// samples t·Hop − reach to t·Hop + reach of the waveform, the last excluded.
	window = audio.SampleRate / 40
	reach  = window / 2

	// bins is the number of frequencies of the spectrum, 40 Hz apart.
	bins = window/2 + 1
)

// The last steps of log_mel_spectrogram in whisper/audio.py.
const (
	powerFloor = 1e-10 // of a mel band, before the logarithm
	silence    = -10   // its logarithm: the value of every band where there is no sound
	dynamics   = 8     // how far below the maximum a window is clamped, in powers of ten
)

// Extractor computes log-mel frames. It holds the tables and the buffers for one
// frame: it is not safe for concurrent use, and neither are the Streams made from
// it.
type Extractor struct {
	bands    int
	groups   []group
	spectrum *cpu.Spectrum
	samples  [window]float32             // of a frame at an end of the waveform
	power    [blockFrames * bins]float32 // [frames, bins]
	logMel   []float32                   // of LogMel, [frames, M]
}

// New makes an extractor for M mel bands: 80, or 128 for large-v3 and
// large-v3-turbo.
func New(bands int) (*Extractor, error) {
	if bands != 80 && bands != 128 {
		return nil, fmt.Errorf("log-mel with %d bands: want 80 or 128", bands)
	}
	return &Extractor{
		bands:    bands,
		groups:   groups(filterBank(bands)),
		spectrum: cpu.NewSpectrum(hann()),
	}, nil
}

// Bands is the number of mel bands, M.
func (e *Extractor) Bands() int { return e.bands }

// Frames is the number of frames of a recording: one per 160 samples begun, ⌈n/160⌉.
func Frames(samples int) int { return (samples + Hop - 1) / Hop }

// LogMel returns the features of a window of frames frames, [M, frames] row-major,
// clamped and scaled as the encoder takes them. samples is the waveform from the
// start of the window, 16 kHz mono, any number from 0 on; it is padded with zeros
// or cut to 160·frames samples. Frames(len(samples)) frames hold it all.
//
// Every result is finite: a frame that holds NaN or Inf counts as silence.
func (e *Extractor) LogMel(samples []float32, frames int) []float32 {
	total := frames * Hop
	samples = samples[:min(len(samples), total)]
	w := waveform{samples: samples, total: total}
	// Frames that see only the zeros behind the samples are left to Normalise.
	sounding := min(frames, Frames(len(samples)+reach))
	e.logMel = e.appendFrames(e.logMel[:0], w, 0, sounding)
	return e.Normalise(e.logMel, frames)
}

// Normalise makes the features of a window of frames frames, [M, frames] row-major,
// out of unclamped log-mel, [frames, M] row-major. Missing frames are silence, as if
// zeros had followed; frames too many are left out. With m the maximum of the
// window,
//
//	y = (max(x, m − 8) + 4) / 4
func (e *Extractor) Normalise(logMel []float32, frames int) []float32 {
	bands := e.Bands()
	have := min(frames, len(logMel)/bands)
	logMel = logMel[:have*bands]
	loudest := float32(silence)
	for _, x := range logMel {
		if x > loudest {
			loudest = x
		}
	}
	floor := loudest - dynamics
	scale := func(x float32) float32 {
		if x < floor { // max, which orders NaN and zeros too, is slower
			x = floor
		}
		return (x + 4) / 4
	}
	out := make([]float32, bands*frames)
	// Few frames at a time: their values stay in the cache from one band to the next.
	for from := 0; from < have; from += blockFrames {
		n := min(blockFrames, have-from)
		for b := range bands {
			row, at := out[b*frames+from:][:n], from*bands+b
			for t := range row {
				row[t] = scale(logMel[at])
				at += bands
			}
		}
	}
	if quiet := scale(silence); have < frames {
		for b := range bands {
			row := out[b*frames+have : (b+1)*frames]
			for t := range row {
				row[t] = quiet
			}
		}
	}
	return out
}
