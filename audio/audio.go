// Package audio defines what the audio packages hand to each other: streams of
// float32 samples at a stated rate and channel count.
//
// Samples are amplitudes in [-1, 1] against full scale, interleaved by channel.
// A frame is one sample of every channel. The package owns no files and no
// threads; reading files is audio/wave, rate conversion audio/resample, features
// audio/mel.
package audio

import (
	"errors"
	"io"
)

// SampleRate is the rate that Whisper's features are defined for, in Hz
// (Radford et al. 2022, section 2.2).
const SampleRate = 16000

// Format says how the samples of a Source are laid out.
type Format struct {
	Rate     int `json:"rate"`     // frames per second, Hz
	Channels int `json:"channels"` // interleaved channels, 1 or more
}

// Source is a stream of samples.
type Source interface {
	// Format does not change during the life of a Source.
	Format() Format
	// Read fills dst with interleaved samples and returns how many it wrote, always
	// whole frames. It blocks until there is at least one frame. At the end it
	// returns 0, io.EOF; it may return samples together with an error.
	Read(dst []float32) (int, error)
}

// ReadAll reads src to its end. It is for sources known to be short: the result
// is held in memory.
func ReadAll(src Source) ([]float32, error) {
	var all []float32
	buf := make([]float32, 4096*max(1, src.Format().Channels))
	for {
		n, err := src.Read(buf)
		all = append(all, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}
