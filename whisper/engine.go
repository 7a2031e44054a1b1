package whisper

import (
	"slices"
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
	// LogSumExp is log Σ exp(x) over the logits of a token, −Inf where all are; nil
	// stands for plain Go, which takes as long as a small decoder.
	LogSumExp func(x []float32) float32
	// Suppress are tokens that never come out; SuppressBegin may not come first
	// (SuppressTokens and SuppressBlank in decoding.py).
	Suppress, SuppressBegin []int
	// AlignmentHeads are the cross-attention heads that word times come from.
	AlignmentHeads []Head

	turn *turn // of one of several goroutines; nil for a single one
}

// Options say how a window is decoded. The zero value detects the language and
// decodes greedily, without timestamps or word times, with all guards.
type Options struct {
	// Language is a code such as "en"; empty asks the model, for each window.
	// English-only models take "" and "en".
	Language string
	// Languages are those that detection may choose from; none means all.
	Languages []string
	Translate bool // into English, instead of writing down what is said

	Timestamps bool // decode with timestamp tokens
	Words      bool // find the times of words; without Timestamps segments follow from them
	RawWords   bool // leave word times as alignment gives them, marks apart

	// Breaks are the seconds at which the window was put together from stretches that
	// lie apart in the recording; no segment goes over one.
	Breaks []float64

	Beam         int       // texts kept at a time at temperature 0; 0 and 1 are greedy
	Temperatures []float64 // tried in turn; nil means Temperatures

	Prompt   string // text that the window is to be understood to follow
	Hotwords string // words that are likely
	Prefix   string // what the text begins with; not part of the result
	context  string // text of the piece before; stands behind Prompt

	// FullWindow encodes the model's own window of 30 s, whatever the length of the
	// samples; otherwise a window is as long as they are and a little silence.
	FullWindow bool
	// Draft stays in the shortest window, however doubtful the text: it costs a tenth where
	// little has been said. For text that is shown until there is more.
	Draft bool

	// MaxTokens is how many tokens a segment may have; the text goes on in the next.
	// 0 means any number.
	MaxTokens int
	// NoGuards decodes as the bare model does: no cap but the last position, no end
	// of loops, no text thrown away.
	NoGuards bool
	// Partial, if set, is called with the whole text so far after each token. A text
	// that has to be decoded again starts over.
	Partial func(text string)
}

// Stop says what ended a text.
type Stop string

const (
	EndOfText Stop = "end-of-text" // the model said it was done
	Capped    Stop = "cap"         // the token cap or the last position was reached
	Looped    Stop = "loop"        // the model repeated itself; the repeats are cut
)

// Result is what was heard in one window. Times are seconds from its start.
type Result struct {
	Language            string // code
	LanguageProbability float64
	Segments            []Segment
	Text                string  // of all segments, valid UTF-8
	Dropped             string  // why the text was thrown away; then there are no segments
	Done                float64 // up to where the audio is decoded; less than its length where the last segment is cut off

	aligned float64 // where alignment ends the last word, before it is refined; 0 without words

	Tokens           []int // with timestamps, without prompt and end-of-text; also of a text thrown away
	Stop             Stop
	Temperature      float64
	LogProb          float64 // mean natural log-probability of the tokens and end-of-text
	NoSpeech         float64 // probability that the model gave to "no speech"
	CompressionRatio float64 // of the text, by zlib

	EncodeTime time.Duration // features and encoder
	DecodeTime time.Duration // cross-attention caches, language and text
}

// capFor is how many tokens so many samples may become: 12 a second and 24 on top,
// and never more than 224 (half the context, sample_len in decoding.py). The
// densest text of the golden clips, Japanese, has 6.6 tokens a second; a decoder
// that runs on past that is inventing (cases.md, C96).
func capFor(samples int) int {
	return min(224, 24+12*samples/SampleRate)
}

// spare is how many positions of silence the shortened windows have behind the
// samples, in the order in which they are tried: 2 s, and 5 s where the text of the
// first is not to be believed. On 50 clips of LibriSpeech test-other in float32, 2 s
// gave tiny.en the 149 errors of the full window with 0.42 of its encoder work, 6
// windows encoded again; 1.3 s 150, 0.6 s 152; 2 s and then the full window 149 at 0.43.
var spare = [...]int{100, 256}

// Window is the length, in encoder positions, of the window in which so many samples are
// encoded first.
func (e *Engine) Window(samples int, opts Options) int { return e.windows(samples, opts)[0] }

// windows are the lengths of window, in encoder positions, in which a text for so many
// samples is looked for in turn, the last one, but for drafts, the model's own. The model's
// timestamps are not to be had in shorter ones.
func (e *Engine) windows(samples int, opts Options) (all []int) {
	full := e.Dims.AudioCtx
	if !opts.FullWindow && !opts.Timestamps && !opts.NoGuards {
		used := (samples + samplesPerPosition - 1) / samplesPerPosition
		for _, s := range spare {
			n := e.ready((used + s + windowStep - 1) / windowStep * windowStep)
			if n < full && !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	all = append(all, full)
	if opts.Draft {
		return all[:1]
	}
	return all
}

// ready is the shortest window of at least so many positions that the encoder has ready,
// or these where it has none.
func (e *Engine) ready(positions int) int {
	if w, ok := e.Encoder.(Windower); ok {
		for _, n := range w.Windows() {
			if n >= positions {
				return n
			}
		}
	}
	return positions
}

// windowStep is what windows are rounded up to: 0.32 s, the width of a panel of the
// matrix kernels.
const windowStep = 16
