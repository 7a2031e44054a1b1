package whisper

import (
	"context"
	"fmt"
	"time"

	"earshot/whisper/token"
)

// SampleRate is the rate of the samples that an Engine takes, in Hz.
const SampleRate = 16000

// WindowSeconds is the length of Whisper's full window.
const WindowSeconds = 30

// Extractor computes log-mel features.
type Extractor interface {
	// LogMel returns [bands, frames] row-major, clamped and scaled, of samples padded
	// with zeros (or cut) to frames·160. The result is valid until the next call.
	LogMel(samples []float32, frames int) []float32
}

// Engine transcribes windows of up to 30 s. All fields are set before the first
// use. It is not safe for concurrent use, since its backends are not.
type Engine struct {
	Dims      Dims
	Tokenizer *token.Tokenizer
	Features  Extractor
	Encoder   Encoder
	Decoder   Decoder
	// Suppress are tokens that never come out; SuppressBegin may not come first
	// (SuppressTokens and SuppressBlank in decoding.py).
	Suppress, SuppressBegin []int
}

// Options say how one window is decoded. The zero value detects the language and
// uses the guards' defaults.
type Options struct {
	// Language is a code such as "en"; empty asks the model, for each window.
	// English-only models take "" and "en".
	Language string
	// MaxTokens ends the text after so many tokens; 0 means a cap that grows with
	// the length of the audio (see capFor).
	MaxTokens int
	// NoLoopGuard lets the decoder repeat itself until the cap.
	NoLoopGuard bool
	// Partial, if set, is called with the whole text so far after each token.
	Partial func(text string)
}

// Stop says what ended a text.
type Stop string

const (
	EndOfText Stop = "end-of-text" // the model said it was done
	Capped    Stop = "cap"         // the token cap or the last position was reached
	Looped    Stop = "loop"        // the model repeated itself; the repeats are cut
)

// Result is what was heard in one window.
type Result struct {
	Language string // code
	Tokens   []int  // text tokens, without prompt and end-of-text
	Text     string // valid UTF-8
	Stop     Stop
	// LogProb is the mean natural log-probability of Tokens and, where the model
	// ended by itself, of end-of-text.
	LogProb float64
	// NoSpeech is the probability that the model gave to "no speech", 0 to 1.
	NoSpeech   float64
	EncodeTime time.Duration // features and encoder
	DecodeTime time.Duration // cross-attention caches, language and text
}

// Transcribe decodes up to 30 s of 16 kHz samples, padded with zeros to a full
// window, to text without timestamps.
func (e *Engine) Transcribe(ctx context.Context, samples []float32, opts Options) (Result, error) {
	if len(samples) > WindowSeconds*SampleRate {
		return Result{}, fmt.Errorf("transcribe: %d samples do not fit a window of %d s", len(samples), WindowSeconds)
	}
	if err := e.CheckLanguage(opts.Language); err != nil {
		return Result{}, fmt.Errorf("transcribe: %w", err)
	}
	start := time.Now()
	enc, err := e.encode(ctx, samples)
	if err != nil {
		return Result{}, err
	}
	encoded := time.Now()
	session, err := e.Decoder.Begin(ctx, []Encoded{enc}, SessionOptions{})
	if err != nil {
		return Result{}, err
	}
	defer session.Close()
	if opts.MaxTokens == 0 {
		opts.MaxTokens = capFor(len(samples))
	}
	result, err := e.decode(ctx, session, opts)
	if err != nil {
		return Result{}, err
	}
	result.EncodeTime, result.DecodeTime = encoded.Sub(start), time.Since(encoded)
	return result, nil
}

func (e *Engine) encode(ctx context.Context, samples []float32) (Encoded, error) {
	frames := 2 * e.Dims.AudioCtx
	mel := Mel{Bands: e.Dims.Mels, Frames: frames, Data: e.Features.LogMel(samples, frames)}
	return e.Encoder.Encode(ctx, mel)
}

// capFor is how many tokens so many samples may become: 12 a second and 24 on top,
// and never more than 224 (half the context, sample_len in decoding.py). The
// densest text of the golden clips, Japanese, has 6.6 tokens a second; a decoder
// that runs on past that is inventing (cases.md, C96).
func capFor(samples int) int {
	return min(224, 24+12*samples/SampleRate)
}
