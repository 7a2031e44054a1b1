package whisper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// stamps makes a text with timestamps: numbers are seconds, strings words.
func stamps(e *Engine, parts ...any) []int {
	var tokens []int
	for _, p := range parts {
		switch p := p.(type) {
		case float64:
			tokens = append(tokens, e.Tokenizer.FirstTimestamp+int(math.Round(p*50)))
		case string:
			for _, b := range []byte(p) {
				tokens = append(tokens, int(b))
			}
		}
	}
	return tokens
}

// TestStampedSegments holds the reference's seek rule.
func TestStampedSegments(t *testing.T) {
	e := newStub(t, nil)
	for _, c := range []struct {
		name   string
		tokens []any
		want   string // start-end of each segment
		done   float64
	}{
		{"nothing", nil, "0-30", 30},
		{"no stamps", []any{"a"}, "0-30", 30},
		{"one segment, ended", []any{0.0, "a", 4.0}, "0-4", 30},
		{"pairs, and an end", []any{0.0, "a", 2.0, 2.0, "b", 5.0}, "0-2 2-5", 30},
		{"pairs, and an open end", []any{0.0, "a", 2.0, 2.0, "b"}, "0-2", 2},
		{"pairs at the end", []any{0.0, "a", 2.0, 2.5, "b", 5.0, 5.0}, "0-2 2.5-5", 5},
		{"a late start", []any{1.5, "a"}, "1.5-30", 30},
	} {
		got, done := stampedSegments(e.Tokenizer, stamps(e, c.tokens...), 30)
		var spans []string
		for _, s := range got {
			spans = append(spans, strings.TrimSuffix(time.Duration(s.start*float64(time.Second)).String(), "s")+"-"+strings.TrimSuffix(time.Duration(s.end*float64(time.Second)).String(), "s"))
		}
		if strings.Join(spans, " ") != c.want || done != c.done {
			t.Errorf("%s: %v, done %g; want %s, %g", c.name, spans, done, c.want, c.done)
		}
	}
}

// TestEndedEarly is case C41: the text ends at 21.56 s, the voice at 29.4 s.
func TestEndedEarly(t *testing.T) {
	for _, rest := range []string{"and the rest", ""} {
		var e *Engine
		e = newStub(t, func(window int, _ string) said {
			if window == 0 {
				return said{tokens: stamps(e, 0.0, "the beginning", 21.56), logProb: -0.2}
			}
			return said{tokens: stamps(e, 0.0, rest, 7.5), logProb: -0.2}
		})
		l := &Listener{Engine: e, Options: Options{Language: "en", Timestamps: true}}
		h, err := l.Piece(context.Background(), voice(29.4))
		if err != nil {
			t.Fatal(err)
		}
		if rest != "" {
			last := h.Segments[len(h.Segments)-1]
			if h.Text != "the beginning and the rest" || h.Coverage != 1 || len(h.Uncovered) != 0 || math.Abs(last.End-29.06) > 0.5 {
				t.Errorf("got %q to %.2f, coverage %.2f, uncovered %v", h.Text, last.End, h.Coverage, h.Uncovered)
			}
			continue
		}
		if h.Text != "the beginning" || h.Coverage > 0.8 || len(h.Uncovered) != 1 ||
			math.Abs(h.Uncovered[0].Start-21.86) > 0.5 || math.Abs(h.Uncovered[0].End-29.1) > 0.5 {
			t.Errorf("nothing behind: %q, coverage %.2f, uncovered %v", h.Text, h.Coverage, h.Uncovered)
		}
	}
}

// blocks is a Stream of samples in memory that ends with err.
type blocks struct {
	left []float32
	err  error
}

func (b *blocks) Read(dst []float32) (int, error) {
	if len(b.left) == 0 {
		return 0, b.err
	}
	n := copy(dst[:min(len(dst), 4000)], b.left)
	b.left = b.left[n:]
	return n, nil
}

// TestSequential sees that windows follow the timestamps, and nothing is said twice
// or lost.
func TestSequential(t *testing.T) {
	broken := errors.New("broken")
	for _, end := range []error{io.EOF, broken} {
		var e *Engine
		script := [][]any{
			{0.0, "one", 24.0, 24.0, "tw"}, // "two" is cut off by the window
			{0.0, "two", 6.0, 6.0, "three", 20.0, 20.0},
			{0.0, "four", 5.0},
		}
		e = newStub(t, func(window int, _ string) said {
			return said{tokens: stamps(e, script[window]...), logProb: -0.2}
		})
		l := &Listener{Engine: e, Options: Options{Language: "en"}}
		var texts []string
		var starts []float64
		err := l.Sequential(context.Background(), &blocks{voice(50), end}, func(h Heard, start float64) error {
			for _, s := range h.Segments {
				texts, starts = append(texts, s.Text), append(starts, start+s.Start)
			}
			return nil
		})
		if end == broken != errors.Is(err, broken) {
			t.Errorf("ended by %v: %v", end, err)
		}
		if !slices.Equal(texts, []string{"one", "two", "three", "four"}) || !slices.Equal(starts, []float64{0, 24, 30, 44}) {
			t.Errorf("got %q at %v", texts, starts)
		}
	}
}

// TestSequentialMovesOn is case C48: a model that never finishes a segment.
func TestSequentialMovesOn(t *testing.T) {
	var e *Engine
	windows := 0
	e = newStub(t, func(window int, _ string) said {
		windows = window
		return said{tokens: stamps(e, 0.0, "a", 0.02, 0.02), logProb: -0.2}
	})
	l := &Listener{Engine: e, Options: Options{Language: "en"}}
	if err := l.Sequential(context.Background(), &blocks{voice(3), io.EOF}, func(Heard, float64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if windows > 30 {
		t.Errorf("%d windows for 3 s", windows+1)
	}
}

func TestTorn(t *testing.T) {
	word := func(text string, start float64) Word { return Word{Text: text, Start: start, End: start + 0.3} }
	for _, c := range []struct {
		words []Word
		want  string
	}{
		{[]Word{word(" I", 0), word(" don", 1), word("'t", 3), word(" know.", 4), word(" Yes.", 4.4)}, "I don't know.|Yes."},
		{[]Word{word(" Mr.", 0), word(" Quilter", 0.3), word(" is", 0.6), word(" here.", 0.9), word(" So", 1.2)}, "Mr. Quilter is here.|So"},
		{[]Word{word(" 3", 0), word(".5", 0.3), word(" well", 0.6), word("-known", 2)}, "3.5 well-known"},
		{[]Word{word("地震。", 0), word("はい", 0.3)}, "地震。|はい"},
	} {
		var got []string
		for _, s := range wordSegments(c.words, nil) {
			got = append(got, s.Text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestOddOptions sees that no options make the engine panic.
func TestOddOptions(t *testing.T) {
	long := string(bytes.Repeat([]byte("word "), 600))
	e := newStub(t, func(int, string) said { return said{text: "hello", logProb: -0.2} })
	for name, opts := range map[string]Options{
		"long prompt":        {Prompt: long},
		"long hotwords":      {Hotwords: long, Prompt: long},
		"long prefix":        {Prefix: long},
		"all of them":        {Prompt: long, Hotwords: long, Prefix: long},
		"words, no heads":    {Words: true},
		"beam":               {Beam: 4},
		"sampled":            {Temperatures: []float64{0.7}},
		"no temperature":     {Temperatures: []float64{}},
		"languages":          {Languages: []string{"zh"}},
		"a token a segment":  {MaxTokens: 1},
		"stamps without any": {Timestamps: true},
	} {
		for _, sound := range [][]float32{nil, {0}, {float32(math.NaN())}, voice(1)} {
			if _, err := e.Transcribe(context.Background(), sound, opts); err != nil {
				t.Errorf("%s, %d samples: %v", name, len(sound), err)
			}
		}
	}
	e.Suppress = make([]int, e.Dims.Vocab)
	for i := range e.Suppress {
		e.Suppress[i] = i
	}
	for _, beam := range []int{1, 3} {
		if _, err := e.Transcribe(context.Background(), voice(1), Options{Beam: beam}); err != nil && !strings.Contains(err.Error(), "suppressed") {
			t.Errorf("all suppressed, beam %d: %v", beam, err)
		}
	}
}
