package whisper

import (
	"context"
	"math"
	"slices"
	"testing"

	"earshot/whisper/token"
)

// said is what a stub decoder says in one window.
type said struct {
	text     string  // spoken byte by byte, or
	tokens   []int   // token by token
	logProb  float64 // of every token
	noSpeech float64
}

// stub is a decoder that follows a script: it is told the window's number and the
// text in its prompt, and answers byte by byte (its words are the 256 bytes). It
// stands in for a model where cases.md asks for one that misbehaves on purpose.
type stub struct {
	tok    *token.Tokenizer
	script func(window int, prompt string) said
	window int
	short  bool  // windows are as long as asked for, and not always whole
	asked  []int // positions of every window encoded
}

func newStub(t testing.TB, script func(window int, prompt string) said) *Engine {
	t.Helper()
	words := make([][]byte, 256)
	for b := range words {
		words[b] = []byte{byte(b)}
	}
	const vocab = 256 + 1509 + 2
	tok, err := token.New(words, vocab)
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{tok: tok, script: script, window: -1}
	return &Engine{
		Dims:      Dims{Mels: 80, AudioCtx: 1500, AudioState: 1, AudioHeads: 1, Vocab: vocab, TextCtx: 448, TextState: 1, TextHeads: 1, TextLayers: 1},
		Tokenizer: tok, Features: noFeatures{}, Encoder: s, Decoder: s,
	}
}

type noFeatures struct{}

func (noFeatures) LogMel([]float32, int) []float32 { return nil }

func (s *stub) Encode(_ context.Context, mel Mel) (Encoded, error) {
	s.window++
	positions := mel.Frames / 2
	s.asked = append(s.asked, positions)
	if !s.short {
		positions = 1500
	}
	return Encoded{Positions: positions, Data: slices.Repeat([]float32{float32(s.window)}, positions)}, nil
}

func (s *stub) Begin(_ context.Context, audios []Encoded, opts SessionOptions) (Session, error) {
	return &stubSession{stub: s, window: int(audios[0].Data[0]), sequences: [][]int{nil}}, nil
}

type stubSession struct {
	*stub
	window    int
	sequences [][]int
}

func (s *stubSession) Step(_ context.Context, in []Input) (Output, error) {
	var out Output
	for _, x := range in {
		tokens := append(slices.Clone(s.sequences[x.Sequence][:x.At]), x.Tokens...)
		s.sequences[x.Sequence] = tokens
		for r := len(tokens) - x.Rows; r < len(tokens); r++ {
			out.Logits = append(out.Logits, s.logits(tokens[:r+1]))
		}
	}
	return out, nil
}

// logits makes the next token of the script as likely as the script says.
func (s *stubSession) logits(tokens []int) []float32 {
	row := make([]float32, s.tok.Vocab())
	sot := slices.Index(tokens, s.tok.StartOfTranscript)
	answer := s.script(s.window, s.tok.Decode(tokens[:sot]))
	if len(tokens) == sot+1 {
		row[s.tok.NoSpeech] = logit(answer.noSpeech, len(row)-1)
		return row
	}
	text := answer.tokens
	for _, b := range []byte(answer.text) {
		text = append(text, int(b))
	}
	next, begin := s.tok.EndOfText, slices.Index(tokens, s.tok.NoTimestamps)
	if begin < 0 {
		begin = slices.Index(tokens, s.tok.Transcribe)
	}
	if at := len(tokens) - 1 - begin; at < len(text) {
		next = text[at]
	}
	others := 256
	if answer.tokens != nil {
		others = 4 * len(row) // likelier than all timestamps together
	}
	row[next] = logit(math.Exp(answer.logProb), others)
	return row
}

// logit is the value whose softmax among n zeros is p.
func logit(p float64, n int) float32 {
	return float32(math.Log(p * float64(n) / (1 - p)))
}

func (s *stubSession) Select(from []int) error {
	var chosen [][]int
	for _, f := range from {
		chosen = append(chosen, slices.Clone(s.sequences[f]))
	}
	s.sequences = chosen
	return nil
}

func (s *stubSession) Close() error { return nil }

// voice is so many seconds of sound at −20 dB, quiet the same of zeros.
func voice(seconds float64) []float32 {
	x := make([]float32, int(seconds*SampleRate))
	for i := range x {
		x[i] = 0.14 * float32(math.Sin(float64(i)*0.11))
	}
	return x
}

func quiet(seconds float64) []float32 { return make([]float32, int(seconds*SampleRate)) }
