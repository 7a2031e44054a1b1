package wave

import (
	"fmt"
	"io"
	"math"

	goaudio "github.com/go-audio/audio"
	"github.com/go-audio/wav"
)

// WriteMono16 writes samples as a WAV file, 16-bit PCM, one channel. Samples are
// rounded to the nearest of 32768 steps to full scale and clipped; NaN becomes 0.
// It is for clips: the samples are in memory, and at most 4 GiB.
func WriteMono16(w io.WriteSeeker, rate int, samples []float32) error {
	const bits, channels, blockLen = 16, 1, 4096
	enc := wav.NewEncoder(w, rate, bits, channels, tagPCM)
	buf := goaudio.IntBuffer{Format: &goaudio.Format{NumChannels: channels, SampleRate: rate}, SourceBitDepth: bits}
	buf.Data = make([]int, 0, blockLen)
	for first := true; first || len(samples) > 0; first = false { // an empty clip needs its header too
		n := min(len(samples), blockLen)
		buf.Data = buf.Data[:0]
		for _, s := range samples[:n] {
			buf.Data = append(buf.Data, toInt16(s))
		}
		if err := enc.Write(&buf); err != nil {
			return fmt.Errorf("write WAV: %w", err)
		}
		samples = samples[n:]
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("write WAV: %w", err)
	}
	return nil
}

func toInt16(s float32) int {
	if s != s {
		return 0
	}
	return int(max(-32768, min(32767, math.Round(float64(s)*32768))))
}
