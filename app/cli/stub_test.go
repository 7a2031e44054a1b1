package cli

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"earshot/app/export"
	"earshot/audio/vad"
	"earshot/whisper"
	"earshot/whisper/token"
)

// said is what a stub says in one window: a text that is spoken evenly from one second
// of the window to another.
type said struct {
	text        string
	from, until float64
	logProb     float64 // of every token
	noSpeech    float64
	language    string // code; "" is en
}

// stub stands in for a model where cases.md asks for one that follows a script. It is
// told the window's samples and the prompt, and answers byte by byte (its words are the
// 256 bytes), with attention on the place of each.
type stub struct {
	tok    *token.Tokenizer
	script func(window []float32, prompt string) said
	count  int // of windows encoded
	heard  func(window []float32)
}

// rig is `earshot transcribe` with a stub for a model.
type rig struct {
	*transcription
	stub     *stub
	out, err bytes.Buffer
}

// newRig prepares a transcription with the given flags. Speech is found by the gate
// alone, which needs no weights.
func newRig(t *testing.T, script func(window []float32, prompt string) said, f transcribeFlags) *rig {
	t.Helper()
	const languages = 100
	words := make([][]byte, 256)
	for b := range words {
		words[b] = []byte{byte(b)}
	}
	tok, err := token.New(words, len(words)+1509+languages)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{stub: &stub{tok: tok, script: script}}
	formats, err := f.outputFlags.parse()
	if err != nil {
		t.Fatal(err)
	}
	f.task = "transcribe"
	r.transcription = &transcription{
		env:   &Env{Stdout: &r.out, Stderr: &r.err},
		flags: f, formats: formats,
		listener: listener{
			engine: &whisper.Engine{
				Dims:      whisper.Dims{Mels: 80, AudioCtx: 1500, AudioState: 1, AudioHeads: 1, Vocab: tok.Vocab(), TextCtx: 448, TextState: 1, TextHeads: 1, TextLayers: 1},
				Tokenizer: tok, Features: r.stub, Encoder: r.stub, Decoder: r.stub,
				AlignmentHeads: []whisper.Head{{Layer: 0, Head: 0}},
			},
			options:    whisper.Options{Words: true, Language: f.language},
			sequential: f.sequential,
		},
	}
	r.batch = whisper.NewBatch(r.engine, room)
	if !f.noVAD && !f.sequential {
		r.detector = vad.NewGate(nil)
	}
	return r
}

// read is the transcript on standard output.
func (r *rig) read(t *testing.T, f export.Format) export.Transcript {
	t.Helper()
	got, err := export.Read(&r.out, f)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// LogMel hears the samples of the next window. They are the features, and what the
// window is encoded to, so that each session knows its own.
func (s *stub) LogMel(samples []float32, _ int) []float32 {
	s.count++
	if s.heard != nil {
		s.heard(samples)
	}
	return slices.Clone(samples)
}

func (s *stub) Encode(_ context.Context, mel whisper.Mel) (whisper.Encoded, error) {
	return whisper.Encoded{Positions: 1500, Data: mel.Data}, nil
}

func (s *stub) Begin(_ context.Context, audios []whisper.Encoded, _ whisper.SessionOptions) (whisper.Session, error) {
	return &stubSession{stub: s, window: audios[0].Data, sequences: [][]int{nil}}, nil
}

type stubSession struct {
	*stub
	window    []float32
	sequences [][]int
}

func (s *stubSession) Step(_ context.Context, in []whisper.Input) (whisper.Output, error) {
	var out whisper.Output
	for _, x := range in {
		tokens := append(slices.Clone(s.sequences[x.Sequence][:x.At]), x.Tokens...)
		s.sequences[x.Sequence] = tokens
		for r := len(tokens) - x.Rows; r < len(tokens); r++ {
			logits, attention := s.row(tokens[:r+1])
			out.Logits, out.Alignment = append(out.Logits, logits), append(out.Alignment, attention)
		}
	}
	return out, nil
}

// row makes the next token of the script as likely as the script says.
func (s *stubSession) row(tokens []int) (logits, attention []float32) {
	sot := slices.Index(tokens, s.tok.StartOfTranscript)
	answer := s.script(s.window, s.tok.Decode(tokens[:sot]))
	row := make([]float32, s.tok.Vocab())
	for i := range row[s.tok.EndOfText+1:] {
		row[s.tok.EndOfText+1+i] = -1e4
	}
	if len(tokens) == sot+1 { // the language, and whether anybody speaks
		language, _ := s.tok.Language(max(answer.language, "en"))
		row[language] = 0
		row[s.tok.NoSpeech] = logit(answer.noSpeech, s.tok.EndOfText+2)
		return row, nil
	}
	begin := slices.Index(tokens, s.tok.Transcribe) + 1
	if begin == 0 {
		return row, nil // the task is not said yet
	}
	stamped := begin == len(tokens) || tokens[begin] != s.tok.NoTimestamps
	said := tokens[begin:]
	if !stamped {
		said = said[1:]
	}
	all := s.answer(answer, stamped)
	next := all[min(len(said), len(all)-1)] // at a temperature other tokens may have been drawn
	row[next] = logit(math.Exp(answer.logProb), s.tok.EndOfText)
	if s.tok.IsTimestamp(next) {
		row[next] = 50
	}
	spoken := 0
	for _, t := range said {
		if t < s.tok.EndOfText {
			spoken++
		}
	}
	return row, answer.attention(spoken)
}

// answer is all tokens of what is said.
func (s *stub) answer(a said, stamped bool) []int {
	var tokens []int
	stamp := func(seconds float64) {
		if stamped && a.text != "" {
			tokens = append(tokens, s.tok.FirstTimestamp+int(math.Round(seconds*50)))
		}
	}
	stamp(a.from)
	for _, b := range []byte(a.text) {
		tokens = append(tokens, int(b))
	}
	stamp(a.until)
	return append(tokens, s.tok.EndOfText)
}

// attention is on the stretch in which byte n is spoken, or on what is behind the text.
func (a said) attention(n int) []float32 {
	at := func(n int) int {
		return min(1499, int((a.from+(a.until-a.from)*float64(n)/float64(max(1, len(a.text))))*50))
	}
	from, to := at(n), 1500
	if n < len(a.text) {
		to = at(n + 1)
	}
	row := make([]float32, 1500)
	for i := from; i < to; i++ {
		row[i] = 1 / float32(to-from)
	}
	return row
}

// logit is the value whose softmax among n zeros is p.
func logit(p float64, n int) float32 {
	p = min(p, 1-1e-9)
	return float32(math.Log(max(p, 1e-9) * float64(n) / (1 - p)))
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
