package whisper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"earshot/whisper/token"
)

// prompt is what stands in front of the text (section 2.3 of the paper): the text
// before, if any, start-of-transcript, language and task where the model has them,
// no-timestamps, and a prefix. It also says where start-of-transcript stands.
func (e *Engine) prompt(language string, opts Options) (prompt []int, sot int) {
	tok := e.Tokenizer
	if before := e.before(opts); len(before) > 0 {
		prompt = append([]int{tok.StartOfPrev}, before...)
	}
	sot = len(prompt)
	prompt = append(prompt, tok.StartOfTranscript)
	if id, ok := tok.Language(language); ok {
		task := tok.Transcribe
		if opts.Translate {
			task = tok.Translate
		}
		prompt = append(prompt, id, task)
	}
	if !opts.Timestamps {
		prompt = append(prompt, tok.NoTimestamps)
	}
	if opts.Prefix != "" { // at most what leaves room for a text (decoding.py)
		prefix := tok.Encode(" " + opts.Prefix)
		prompt = append(prompt, prefix[max(0, len(prefix)-e.Dims.TextCtx/4):]...)
	}
	return prompt, sot
}

// before is the hotwords and the end of the initial prompt, at most half the
// context less one token together (decoding.py, _get_initial_tokens).
func (e *Engine) before(opts Options) []int {
	room := max(0, e.Dims.TextCtx/2-1)
	var hot []int
	if opts.Hotwords != "" {
		hot = e.Tokenizer.Encode(" " + opts.Hotwords)
		hot = hot[:min(len(hot), room)]
	}
	text := append(e.Tokenizer.Encode(leadingSpace(opts.Prompt)), e.Tokenizer.Encode(leadingSpace(opts.context))...)
	text = text[max(0, len(text)-(room-len(hot))):]
	return append(hot, text...)
}

func leadingSpace(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// language returns the code of the language wanted, or of what the model hears in
// the window, with its probability among the languages allowed. A model that knows
// one language only has no language tokens.
func (w *window) language(ctx context.Context) (string, float64, error) {
	if known, ok := token.FindLanguage(w.opts.Language); ok {
		return known.Code, 1, nil
	}
	if !w.engine.Tokenizer.Multilingual() {
		return "en", 1, nil
	}
	heard, err := w.engine.hearLanguage(ctx, w.session, w.opts.Languages)
	return heard.code, heard.probability, err
}

// spoken is what a model says about the language of a stretch of speech.
type spoken struct {
	code        string // the likeliest
	probability float64
	logits      []float32 // of all languages, in the order of their tokens
}

// hearLanguage asks for the token behind start-of-transcript (detect_language in
// decoding.py), on the first sequence of a session. Of the languages allowed, all
// for none, the likeliest is returned.
func (e *Engine) hearLanguage(ctx context.Context, session Session, allowed []string) (spoken, error) {
	tok := e.Tokenizer
	out, err := session.Step(ctx, []Input{{Tokens: []int{tok.StartOfTranscript}, Rows: 1}})
	if err != nil {
		return spoken{}, err
	}
	languages := tok.Languages()
	logits := slices.Clone(out.Logits[0][tok.FirstLanguage : tok.FirstLanguage+len(languages)])
	var ids []int
	for _, a := range allowed {
		if id, ok := tok.Language(a); ok {
			ids = append(ids, id-tok.FirstLanguage)
		}
	}
	if len(ids) > 0 {
		for i := range logits {
			if !slices.Contains(ids, i) {
				logits[i] = never
			}
		}
	}
	best := argmax(logits)
	return spoken{languages[best].Code, softmaxAt(logits, best), logits}, nil
}

// share is the probability of one language.
func (s spoken) share(tok *token.Tokenizer, code string) float64 {
	id, ok := tok.Language(code)
	if !ok {
		return 0
	}
	return softmaxAt(s.logits, id-tok.FirstLanguage)
}

// Check refuses options that the model can't serve.
func (e *Engine) Check(opts Options) error {
	for _, l := range append([]string{opts.Language}, opts.Languages...) {
		if err := e.CheckLanguage(l); err != nil {
			return err
		}
	}
	if opts.Translate && !e.Tokenizer.Multilingual() {
		return fmt.Errorf("the model knows English only and can't translate")
	}
	for _, t := range opts.Temperatures {
		if t < 0 || math.IsNaN(t) || math.IsInf(t, 0) {
			return fmt.Errorf("temperature %g: 0 or more", t)
		}
	}
	return nil
}

// CheckLanguage says whether the model can be asked for a language, given as for
// token.FindLanguage. Empty means that the model finds out.
func (e *Engine) CheckLanguage(language string) error {
	if language == "" {
		return nil
	}
	known, ok := token.FindLanguage(language)
	if !ok {
		return fmt.Errorf("unknown language %q", language)
	}
	if _, ok := e.Tokenizer.Language(known.Code); ok {
		return nil
	}
	if e.Tokenizer.Multilingual() {
		return fmt.Errorf("the model does not know %s (%s)", known.Name, known.Code)
	}
	if known.Code != "en" {
		return fmt.Errorf("the model knows English only, not %s (%s)", known.Name, known.Code)
	}
	return nil
}
