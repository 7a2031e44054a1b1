package whisper

import (
	"context"
	"fmt"
	"math"

	"earshot/whisper/token"
)

// decode runs prompt and greedy loop on the first sequence of session.
func (e *Engine) decode(ctx context.Context, session Session, opts Options) (Result, error) {
	var result Result
	var err error
	if result.Language, err = e.language(ctx, session, opts.Language); err != nil {
		return result, err
	}
	prompt := e.prompt(result.Language)
	out, err := session.Step(ctx, []Input{{Tokens: prompt, Rows: len(prompt)}})
	if err != nil {
		return result, err
	}
	// The reference reads "no speech" beside the start-of-transcript token.
	result.NoSpeech = softmaxAt(out.Logits[0], e.Tokenizer.NoSpeech)
	g := greedy{engine: e, opts: opts, prompt: len(prompt)}
	if err := g.run(ctx, session, out.Logits[len(prompt)-1]); err != nil {
		return result, err
	}
	result.Tokens, result.Stop = g.tokens, g.stop
	result.Text = e.Tokenizer.Decode(g.tokens)
	result.LogProb = g.meanLogProb()
	return result, nil
}

// greedy takes the likeliest token until something ends the text.
type greedy struct {
	engine   *Engine
	opts     Options
	prompt   int // tokens in front of the text
	tokens   []int
	logProbs []float64 // of tokens, and of end-of-text where that came
	stop     Stop
}

func (g *greedy) run(ctx context.Context, session Session, logits []float32) error {
	text := g.engine.Tokenizer.Stream()
	var partial []byte
	for {
		next, logProb := g.choose(logits)
		if next == g.engine.Tokenizer.EndOfText {
			g.logProbs, g.stop = append(g.logProbs, logProb), EndOfText
			return nil
		}
		g.tokens, g.logProbs = append(g.tokens, next), append(g.logProbs, logProb)
		if keep, looped := cutLoop(g.tokens); looped && !g.opts.NoLoopGuard {
			g.tokens, g.logProbs, g.stop = g.tokens[:keep], g.logProbs[:keep], Looped
			return nil
		}
		if g.opts.Partial != nil {
			partial = append(partial, text.Push(next)...)
			g.opts.Partial(string(partial))
		}
		at := g.prompt + len(g.tokens) - 1
		if len(g.tokens) >= g.opts.MaxTokens || at >= g.engine.Dims.TextCtx {
			g.stop = Capped
			return nil
		}
		out, err := session.Step(ctx, []Input{{At: at, Tokens: []int{next}, Rows: 1}})
		if err != nil {
			return err
		}
		logits = out.Logits[0]
	}
}

// choose suppresses what may not come and returns the likeliest token with its
// natural log-probability among what is left. It changes logits.
func (g *greedy) choose(logits []float32) (best int, logProb float64) {
	tok := g.engine.Tokenizer
	suppress(logits, g.engine.Suppress)
	if len(g.tokens) == 0 {
		suppress(logits, g.engine.SuppressBegin)
	}
	suppressSpecial(logits, tok.Specials)
	best = argmax(logits)
	return best, float64(logits[best]) - logSumExp(logits)
}

func (g *greedy) meanLogProb() float64 {
	if len(g.logProbs) == 0 {
		return 0
	}
	var sum float64
	for _, p := range g.logProbs {
		sum += p
	}
	return sum / float64(len(g.logProbs))
}

// prompt is start-of-transcript, with language and task where the model has them,
// and no-timestamps (section 2.3 of the paper).
func (e *Engine) prompt(language string) []int {
	tok := e.Tokenizer
	prompt := []int{tok.StartOfTranscript}
	if id, ok := tok.Language(language); ok {
		prompt = append(prompt, id, tok.Transcribe)
	}
	return append(prompt, tok.NoTimestamps)
}

// language returns the code of the language wanted, or of what the model hears: the
// likeliest language token after start-of-transcript (detect_language in
// decoding.py). A model that knows one language only has no such tokens.
func (e *Engine) language(ctx context.Context, session Session, wanted string) (string, error) {
	tok := e.Tokenizer
	if known, ok := token.FindLanguage(wanted); ok {
		return known.Code, nil
	}
	languages := tok.Languages()
	if len(languages) == 0 {
		return "en", nil
	}
	out, err := session.Step(ctx, []Input{{Tokens: []int{tok.StartOfTranscript}, Rows: 1}})
	if err != nil {
		return "", err
	}
	heard := argmax(out.Logits[0][tok.FirstLanguage : tok.FirstLanguage+len(languages)])
	return languages[heard].Code, nil
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

func suppress(logits []float32, tokens []int) {
	for _, t := range tokens {
		logits[t] = float32(math.Inf(-1))
	}
}

// suppressSpecial leaves words and end-of-text, the token behind them.
func suppressSpecial(logits []float32, special token.Specials) {
	for t := special.EndOfText + 1; t < len(logits); t++ {
		logits[t] = float32(math.Inf(-1))
	}
}

// argmax is the index of the largest value, the first of equals.
func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// logSumExp is log Σ exp(x). Values more than 30 below the largest are left out:
// all 51 866 of them together are under 1e-8 of the sum.
func logSumExp(x []float32) float64 {
	largest := x[argmax(x)]
	var sum float64
	for _, v := range x {
		if v > largest-30 {
			sum += math.Exp(float64(v - largest))
		}
	}
	return float64(largest) + math.Log(sum)
}

// softmaxAt is the softmax of x at i.
func softmaxAt(x []float32, i int) float64 {
	return math.Exp(float64(x[i]) - logSumExp(x))
}
