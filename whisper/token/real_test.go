package token

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// realModels are the folders of published models to test with, separated like
// PATH; each holds a tokenizer.json, and a config.json where its suppress list is
// to be compared.
const realModels = "EARSHOT_TEST_TOKENIZER"

// onRealModels runs a test on the vocabulary of every folder named by realModels.
func onRealModels(t *testing.T, test func(t *testing.T, folder string, tok *Tokenizer)) {
	t.Helper()
	folders := filepath.SplitList(os.Getenv(realModels))
	if len(folders) == 0 {
		t.Skipf("%s names no model folder with a published vocabulary", realModels)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(folder, "tokenizer.json"))
			if err != nil {
				t.Fatal(err)
			}
			words, err := ParseJSON(data)
			if err != nil {
				t.Fatal(err)
			}
			vocab := 51865
			if len(words) == 50256 {
				vocab = englishVocab
			}
			tok, err := New(words, vocab)
			if err != nil {
				t.Fatal(err)
			}
			test(t, folder, tok)
		})
	}
}

func TestRealEncode(t *testing.T) {
	rows := readEncoded(t)
	onRealModels(t, func(t *testing.T, _ string, tok *Tokenizer) {
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

func TestRealNonSpeech(t *testing.T) {
	onRealModels(t, func(t *testing.T, folder string, tok *Tokenizer) {
		data, err := os.ReadFile(filepath.Join(folder, "config.json"))
		if err != nil {
			t.Skipf("no suppress list to compare with: %v", err)
		}
		var config struct {
			Suppress []int `json:"suppress_ids"`
		}
		if err := json.Unmarshal(data, &config); err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(config.Suppress, func(id int) bool { return id >= tok.EndOfText })
		if got := tok.NonSpeech(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestRealNumbering compares the special tokens with the names in tokenizer.json.
func TestRealNumbering(t *testing.T) {
	onRealModels(t, func(t *testing.T, folder string, tok *Tokenizer) {
		data, err := os.ReadFile(filepath.Join(folder, "tokenizer.json"))
		if err != nil {
			t.Fatal(err)
		}
		var f tokenizerFile
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{
			"<|endoftext|>": tok.EndOfText, "<|startoftranscript|>": tok.StartOfTranscript,
			"<|translate|>": tok.Translate, "<|transcribe|>": tok.Transcribe,
			"<|startoflm|>": tok.StartOfLM, "<|startofprev|>": tok.StartOfPrev,
			"<|nocaptions|>": tok.NoSpeech, "<|nospeech|>": tok.NoSpeech,
			"<|notimestamps|>": tok.NoTimestamps,
			"<|0.00|>":         tok.FirstTimestamp, "<|30.00|>": tok.Vocab() - 1,
		}
		for i, l := range languageTable[:tok.languages] {
			want["<|"+l.Code+"|>"] = tok.FirstLanguage + i
		}
		want["<|iw|>"] = want["<|he|>"] // what early releases call Hebrew
		found := 0
		for _, a := range f.AddedTokens {
			id, ok := want[a.Content]
			if ok && id != a.ID {
				t.Errorf("%s is %d, want %d", a.Content, id, a.ID)
			}
			if ok {
				found++
			}
		}
		if found < 107 {
			t.Errorf("%d special tokens compared, want 107 or more", found)
		}
	})
}

// TestRealGolden decodes the tokens that another engine wrote for whole clips, and
// encodes their text again.
func TestRealGolden(t *testing.T) {
	shared := sharedFolder(t)
	onRealModels(t, func(t *testing.T, _ string, tok *Tokenizer) {
		name := "base.json"
		if !tok.Multilingual() {
			name = "tiny.en.json"
		}
		data, err := os.ReadFile(filepath.Join(shared, "golden", name))
		if err != nil {
			t.Fatal(err)
		}
		type row struct {
			Tokens []int
			Text   string
		}
		var golden struct {
			Clips map[string]struct {
				Plain, Timestamps, Beam5 row
			}
		}
		if err := json.Unmarshal(data, &golden); err != nil {
			t.Fatal(err)
		}
		if len(golden.Clips) < 60 {
			t.Fatalf("%d clips in %s", len(golden.Clips), name)
		}
		for clip, c := range golden.Clips {
			for _, r := range []row{c.Plain, c.Timestamps, c.Beam5} {
				if got := tok.Decode(r.Tokens); got != r.Text {
					t.Errorf("%s: %q, want %q", clip, got, r.Text)
				}
				if got := tok.Decode(tok.Encode(r.Text)); got != r.Text {
					t.Errorf("%s: encoded and decoded %q, want %q", clip, got, r.Text)
				}
			}
		}
	})
}

// sharedFolder is the folder with recordings and reference values beside the
// repository.
func sharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	shared := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(shared); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("reference values are missing: %v", err)
		}
		t.Skipf("reference values are missing: %v", err)
	}
	return shared
}
