package token_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"earshot/whisper/backendtest"
	"earshot/whisper/token"
	"earshot/whisper/weights"
)

// The tests in this file use the vocabularies of published models.

// onRealModels runs a test on an English-only and on a multilingual vocabulary.
func onRealModels(t *testing.T, test func(t *testing.T, m *weights.Model, tok *token.Tokenizer)) {
	t.Helper()
	for _, name := range []string{"tiny.en", "base"} {
		t.Run(name, func(t *testing.T) {
			m := backendtest.Model(t, name)
			tok, err := m.Tokenizer()
			if err != nil {
				t.Fatal(err)
			}
			test(t, m, tok)
		})
	}
}

func TestRealEncode(t *testing.T) {
	var rows []struct {
		Text   string
		TinyEn []int `json:"tiny.en"`
		Base   []int
	}
	readJSON(t, "testdata/encode.json", &rows)
	if len(rows) < 100 {
		t.Fatalf("only %d texts", len(rows))
	}
	onRealModels(t, func(t *testing.T, _ *weights.Model, tok *token.Tokenizer) {
		for _, row := range rows {
			want := row.Base
			if !tok.Multilingual() {
				want = row.TinyEn
			}
			got := tok.Encode(row.Text)
			if !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", row.Text, got, want)
			}
			if text := tok.Decode(got); text != row.Text {
				t.Errorf("%q came back as %q", row.Text, text)
			}
		}
	})
}

// TestRealNonSpeech compares with the list that comes with the model: the tokens
// that are no speech, and special ones.
func TestRealNonSpeech(t *testing.T) {
	onRealModels(t, func(t *testing.T, m *weights.Model, tok *token.Tokenizer) {
		specials := []int{tok.StartOfTranscript, tok.Translate, tok.Transcribe, tok.StartOfLM, tok.StartOfPrev, tok.NoSpeech}
		if got, want := append(tok.NonSpeech(), specials...), m.Header.Suppress; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

type golden struct {
	Clips map[string]struct {
		Language                 string
		Prompt                   []int
		Plain, Timestamps, Beam5 struct {
			Tokens []int
			Text   string
		}
	}
}

func readGolden(t *testing.T, tok *token.Tokenizer) golden {
	t.Helper()
	name := "base"
	if !tok.Multilingual() {
		name = "tiny.en"
	}
	var g golden
	readJSON(t, backendtest.Shared(t, "golden/"+name+".json"), &g)
	if len(g.Clips) < 60 {
		t.Fatalf("%d clips of %s", len(g.Clips), name)
	}
	return g
}

// TestRealNumbering compares the special tokens with another engine's prompts, in
// about twenty languages.
func TestRealNumbering(t *testing.T) {
	onRealModels(t, func(t *testing.T, _ *weights.Model, tok *token.Tokenizer) {
		for clip, c := range readGolden(t, tok).Clips {
			want := []int{tok.StartOfTranscript, tok.NoTimestamps}
			if tok.Multilingual() {
				language, _ := tok.Language(c.Language)
				want = []int{tok.StartOfTranscript, language, tok.Transcribe, tok.NoTimestamps}
			}
			if !slices.Equal(c.Prompt, want) {
				t.Errorf("%s, %s: prompt %v, want %v", clip, c.Language, want, c.Prompt)
			}
		}
	})
}

// TestRealGolden decodes the tokens that another engine wrote for whole clips, and
// encodes their text again.
func TestRealGolden(t *testing.T) {
	onRealModels(t, func(t *testing.T, _ *weights.Model, tok *token.Tokenizer) {
		for clip, c := range readGolden(t, tok).Clips {
			for _, want := range []struct {
				Tokens []int
				Text   string
			}{c.Plain, c.Timestamps, c.Beam5} {
				if got := tok.Decode(want.Tokens); got != want.Text {
					t.Errorf("%s: %q, want %q", clip, got, want.Text)
				}
				if got := tok.Decode(tok.Encode(want.Text)); got != want.Text {
					t.Errorf("%s: encoded and decoded %q, want %q", clip, got, want.Text)
				}
			}
		}
	})
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
