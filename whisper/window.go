package whisper

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"earshot/whisper/token"
)

// Transcribe decodes up to 30 s of 16 kHz samples: Encode, then Decode.
func (e *Engine) Transcribe(ctx context.Context, samples []float32, opts Options) (Result, error) {
	if err := e.Check(opts); err != nil {
		return Result{}, fmt.Errorf("transcribe: %w", err)
	}
	start := time.Now()
	enc, err := e.Encode(ctx, samples, opts)
	if err != nil {
		return Result{}, err
	}
	encodeTime := time.Since(start)
	result, err := e.Decode(ctx, enc, samples, opts)
	result.EncodeTime += encodeTime
	return result, err
}

// Encode computes what Decode listens to, in the shortest window that opts allow. The
// two may be used apart, so that one window is encoded while the one before is
// decoded.
func (e *Engine) Encode(ctx context.Context, samples []float32, opts Options) (Encoded, error) {
	if len(samples) > WindowSeconds*SampleRate {
		return Encoded{}, fmt.Errorf("encode: %d samples do not fit a window of %d s", len(samples), WindowSeconds)
	}
	return e.encode(ctx, samples, e.Window(len(samples), opts))
}

// encode is Encode in a window of so many positions; the samples are padded with
// zeros.
func (e *Engine) encode(ctx context.Context, samples []float32, positions int) (Encoded, error) {
	if e.turn != nil {
		e.turn.begin(positions)
		defer e.turn.encoded()
	}
	mel := Mel{Bands: e.Dims.Mels, Frames: 2 * positions, Data: e.Features.LogMel(samples, 2*positions)}
	return e.Encoder.Encode(ctx, mel)
}

// Decode turns an encoded window into text; samples are those that were encoded.
// Where a text fails the usual thresholds the window is encoded again with more
// silence behind the samples, and the last one is decoded again at the next
// temperature (decode_with_fallback in transcribe.py).
func (e *Engine) Decode(ctx context.Context, enc Encoded, samples []float32, opts Options) (Result, error) {
	w := window{engine: e, opts: opts, samples: samples, encoded: enc}
	return w.result(ctx)
}

// window is one window on its way through the decoder.
type window struct {
	engine     *Engine
	opts       Options
	samples    []float32
	encoded    Encoded       // without data once it is listened to
	session    Session       // nil when closed
	encodeTime time.Duration // of what had to be encoded again
}

// result is Engine.Decode. It leaves no session open.
func (w *window) result(ctx context.Context) (Result, error) {
	defer w.close()
	if err := w.engine.Check(w.opts); err != nil {
		return Result{}, fmt.Errorf("decode: %w", err)
	}
	start := time.Now()
	best, err := w.decode(ctx)
	if err != nil {
		return Result{}, err
	}
	best.EncodeTime = w.encodeTime
	best.DecodeTime = time.Since(start) - w.encodeTime
	return *best, nil
}

// decode looks for a good text in longer and longer windows.
func (w *window) decode(ctx context.Context) (*Result, error) {
	temperatures := w.opts.Temperatures
	if len(temperatures) == 0 {
		temperatures = Temperatures
	}
	longer := w.engine.windows(len(w.samples), w.opts)
	longer = slices.DeleteFunc(longer, func(n int) bool { return n <= w.encoded.Positions })
	var best, before *Result
	for {
		tries := temperatures
		if len(longer) > 0 {
			tries = tries[:1] // a longer window is a better remedy than chance
		}
		r, err := w.listen(ctx, tries)
		if err != nil {
			return nil, err
		}
		good := r.good() && (len(longer) == 0 || r.LogProb >= minShortLogProb || r.says(before))
		before = r
		if best == nil || good && !r.silent() || better(r, best) {
			best = r
		}
		if good || len(longer) == 0 {
			break
		}
		start := time.Now()
		if w.encoded, err = w.engine.encode(ctx, w.samples, longer[0]); err != nil {
			return nil, err
		}
		longer = longer[1:]
		w.encodeTime += time.Since(start)
	}
	if best.Dropped = w.doubt(best); best.Dropped != "" {
		best.Segments = nil
	}
	best.Text = joinSegments(best.Segments, best.Language)
	return best, nil
}

// open begins a session for the window as it is encoded.
func (w *window) open(ctx context.Context) error {
	var heads SessionOptions
	if w.words() {
		heads.Alignment = w.engine.AlignmentHeads
	}
	session, err := w.engine.Decoder.Begin(ctx, []Encoded{w.encoded}, heads)
	if err != nil {
		return err
	}
	w.session = session
	return nil
}

func (w *window) close() {
	if w.session != nil {
		w.session.Close()
		w.session = nil
	}
}

// listen decodes the window as it is encoded, at one temperature after the other, and
// closes the session.
func (w *window) listen(ctx context.Context, temperatures []float64) (*Result, error) {
	if w.session == nil {
		if err := w.open(ctx); err != nil {
			return nil, err
		}
	}
	defer w.close()
	w.encoded.Data = nil // megabytes, and the session has what it needs of them
	language, probability, err := w.language(ctx)
	if err != nil {
		return nil, err
	}
	var best *Result
	for _, t := range temperatures {
		r, err := w.try(ctx, language, t)
		if err != nil {
			return nil, err
		}
		r.Language, r.LanguageProbability = language, probability
		for i := range r.Segments {
			r.Segments[i].Language = language
		}
		if r.good() {
			return r, nil
		}
		if best == nil || better(r, best) {
			best = r
		}
	}
	return best, nil
}

// says says whether another window, of another length, gave the same text, and that the
// model was done with it in both: then it is believed, where the usual thresholds are met,
// without the stricter one for short windows.
func (r *Result) says(other *Result) bool {
	return other != nil && r.Stop == EndOfText && other.Stop == EndOfText && slices.Equal(r.Tokens, other.Tokens)
}

// minShortLogProb is the mean log-probability below which a text of a shortened window
// is not believed. It lies between what base gave to one sentence in a window with 2 s of
// silence (made-up syllables, 15 errors in 13 words more than in 30 s, −0.94) and in the
// full one (−0.74): test-other, 2609-156975-0008.
const minShortLogProb = -0.75

// used is how many encoder positions hold audio; 0 where no words are to be placed.
func (w *window) used() int {
	if !w.words() {
		return 0
	}
	return min((len(w.samples)+samplesPerPosition-1)/samplesPerPosition, w.encoded.Positions)
}

// words says whether words are to be placed; a model may have no heads for it.
func (w *window) words() bool { return w.opts.Words && len(w.engine.AlignmentHeads) > 0 }

// try decodes the window once.
func (w *window) try(ctx context.Context, language string, temperature float64) (*Result, error) {
	e := w.engine
	if err := w.session.Select([]int{0}); err != nil { // what is left of the try before
		return nil, err
	}
	prompt, sot := e.prompt(language, w.opts)
	out, err := w.session.Step(ctx, []Input{{Tokens: prompt, Rows: len(prompt) - sot}})
	if err != nil {
		return nil, err
	}
	last := len(out.Logits) - 1
	// The reference reads "no speech" beside the start-of-transcript token.
	r := &Result{NoSpeech: math.Exp(float64(out.Logits[0][e.Tokenizer.NoSpeech]) - e.logSumExp(out.Logits[0])), Temperature: temperature}
	from := start{logits: out.Logits[last]}
	if out.Alignment != nil {
		from.attention = out.Alignment[last]
	}
	h, err := w.search(len(prompt)).run(ctx, from, w.opts.Beam, temperature)
	if err != nil {
		return nil, err
	}
	w.fill(r, h, language)
	return r, nil
}

func (w *window) search(prompt int) *search {
	e := w.engine
	s := &search{
		session: w.session,
		filter: filter{
			special:    e.Tokenizer.Specials,
			never:      e.Suppress,
			notFirst:   e.SuppressBegin,
			timestamps: w.opts.Timestamps,
			latest:     firstTimestampSteps,
		},
		end:       e.Tokenizer.EndOfText,
		prompt:    prompt,
		limit:     min(capFor(len(w.samples)), e.Dims.TextCtx-prompt),
		guard:     !w.opts.NoGuards,
		room:      loopRoom(voicedSeconds(voicedMap(w.samples))),
		short:     w.encoded.Positions < e.Dims.AudioCtx,
		alike:     e.alike,
		random:    rand.New(rand.NewPCG(1, uint64(len(w.samples)))), // the same file gives the same text
		align:     w.used(),
		positions: w.encoded.Positions,

		logSumExp: e.logSumExp,
	}
	if w.opts.NoGuards {
		s.limit = e.Dims.TextCtx - prompt
	}
	if w.opts.Partial != nil {
		s.partial = func(text []int) { w.opts.Partial(e.Tokenizer.Decode(text)) }
	}
	return s
}

// fill turns a hypothesis into a result.
func (w *window) fill(r *Result, h *hypothesis, language string) {
	tok := w.engine.Tokenizer
	r.Tokens, r.Stop, r.LogProb = h.tokens, h.stop, h.mean()
	r.CompressionRatio = compressionRatio(tok.Decode(h.tokens))
	duration := float64(len(w.samples)) / SampleRate
	var words []Word
	if w.words() {
		words = rawWords(tok, h, language, w.used())
		if n := len(words); n > 0 {
			r.aligned = words[n-1].End
		}
		if !w.opts.RawWords {
			words = w.refine(joinPunctuation(words))
		}
	}
	switch {
	case w.opts.Timestamps:
		stamps, done := stampedSegments(tok, h.tokens, duration)
		r.Done = done
		for _, s := range stamps {
			segment := Segment{Start: s.start, End: s.end, Text: strings.TrimSpace(tok.Decode(h.tokens[s.from:s.to]))}
			for len(words) > 0 && words[0].token < s.to {
				segment.Words, words = append(segment.Words, words[0]), words[1:]
			}
			if segment.Text != "" {
				r.Segments = append(r.Segments, segment)
			}
		}
	case len(words) > 0:
		r.Segments, r.Done = wordSegments(words, w.opts.Breaks), duration
	default:
		r.Segments, r.Done = w.plain(h.tokens, duration), duration
	}
}

// plain makes segments of a text of which no times are known: one, or as many as
// MaxTokens asks for, with the time shared out by the number of tokens.
func (w *window) plain(tokens []int, duration float64) []Segment {
	tok, all := w.engine.Tokenizer, len(tokens)
	size := w.opts.MaxTokens
	if size <= 0 {
		size = max(all, 1)
	}
	var segments []Segment
	for from := 0; from < all; {
		to := wordStart(tok, tokens, from, min(all, from+size))
		segments = append(segments, Segment{
			Start: duration * float64(from) / float64(all),
			End:   duration * float64(to) / float64(all),
			Text:  strings.TrimSpace(tok.Decode(tokens[from:to])),
		})
		from = to
	}
	return slices.DeleteFunc(segments, func(s Segment) bool { return s.Text == "" })
}

// wordStart moves a cut at `to` back to the start of a word, if there is one behind
// from.
func wordStart(tok *token.Tokenizer, tokens []int, from, to int) int {
	for at := to; at > from && to < len(tokens); at-- {
		if bytes.HasPrefix(tok.Bytes(tokens[at]), []byte(" ")) {
			return at
		}
	}
	return to
}

// samplesPerPosition is how many samples an encoder position stands for.
const samplesPerPosition = 320

// firstTimestampSteps is the latest first timestamp: 1 s (max_initial_timestamp in
// decoding.py).
const firstTimestampSteps = 50

// joinSegments is the text of all segments, with a space between two in languages
// that write spaces.
func joinSegments(segments []Segment, language string) string {
	texts := make([]string, len(segments))
	for i, s := range segments {
		texts[i] = s.Text
	}
	if unspaced[language] {
		return strings.Join(texts, "")
	}
	return strings.Join(texts, " ")
}
