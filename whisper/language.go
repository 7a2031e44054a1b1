package whisper

import "context"

// A language change needs evidence: that much voiced sound, that probability, and
// that the language before is as good as ruled out (cases.md, C67 and C68). Short
// utterances in a language that the model knows less well are else written as English.
const (
	switchSeconds     = 2.5
	switchProbability = 0.8
	ruledOut          = 0.1
)

// languageIn says in what language a piece is spoken, asking in the session in which it
// will be decoded. Where another language begins inside, it also returns the sample at
// which it does. The first language that is
// well heard is the recording's, until another one is; before that each piece has
// its own.
func (l *Listener) languageIn(ctx context.Context, w *window) (language string, change int, err error) {
	if !l.Engine.Tokenizer.Multilingual() {
		return "en", 0, nil
	}
	voiced := voicedMap(w.samples)
	if err := w.open(ctx); err != nil {
		return "", 0, err
	}
	whole, err := l.Engine.hearLanguage(ctx, w.session, l.Options.Languages)
	if err != nil {
		return "", 0, err
	}
	chunks := languageChunks(voiced)
	if l.language == "" && (whole.probability < switchProbability || voicedSeconds(voiced) < switchSeconds) {
		return whole.code, 0, nil
	}
	if l.language == "" || len(chunks) == 1 && l.switches(whole, voicedSeconds(voiced)) {
		l.language = whole.code
	}
	if len(chunks) == 1 {
		return l.language, 0, nil
	}
	for i, c := range chunks {
		heard, err := l.hear(ctx, w.encoded.part(c.Start, c.End))
		if err != nil {
			return "", 0, err
		}
		if !l.switches(heard, voicedSeconds(voiced[frameOf(c.Start, voiced):frameOf(c.End, voiced)])) {
			continue
		}
		before := l.language
		l.language = heard.code
		if i > 0 {
			return before, int(c.Start * SampleRate), nil
		}
	}
	return l.language, 0, nil
}

// switches says whether what was heard is reason enough to leave the language.
func (l *Listener) switches(heard spoken, voiced float64) bool {
	return heard.code != l.language && heard.probability >= switchProbability && voiced >= switchSeconds &&
		heard.share(l.Engine.Tokenizer, l.language) <= ruledOut
}

// hear is what is spoken in a part of a window.
func (l *Listener) hear(ctx context.Context, enc Encoded) (spoken, error) {
	session, err := l.Engine.Decoder.Begin(ctx, []Encoded{enc}, SessionOptions{})
	if err != nil {
		return spoken{}, err
	}
	defer session.Close()
	return l.Engine.hearLanguage(ctx, session, l.Options.Languages)
}

// part is the encoder's states for a stretch of the window.
func (e Encoded) part(start, end float64) Encoded {
	width := len(e.Data) / e.Positions
	from := min(int(start/secondsPerPosition), e.Positions-1)
	to := min(max(from+1, int(end/secondsPerPosition)), e.Positions)
	return Encoded{Positions: to - from, Data: e.Data[from*width : to*width]}
}

// chunkSeconds is the least length over which a language is told, and chunkPause
// the pause, in 10 ms, at which a chunk may end.
const (
	chunkSeconds = 4.0
	chunkPause   = 25
)

// languageChunks cuts a piece at pauses into stretches that are long enough to hear
// a language in. They tile the piece.
func languageChunks(voiced []bool) []Span {
	var chunks []Span
	start, quiet := 0.0, 0
	for i, v := range voiced {
		if !v {
			quiet++
			continue
		}
		if at := seconds(i) - seconds(quiet)/2; quiet >= chunkPause && at-start >= chunkSeconds && seconds(len(voiced))-at >= chunkSeconds {
			chunks = append(chunks, Span{start, at})
			start = at
		}
		quiet = 0
	}
	return append(chunks, Span{start, seconds(len(voiced))})
}
