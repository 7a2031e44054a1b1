package eval

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, ref, hyp string
		want           Edit
	}{
		{"equal", "a b c", "a b c", Edit{}},
		{"empty", "", "", Edit{}},
		{"no reference", "", "a b", Edit{Insertions: 2}},
		{"no hypothesis", "a b", "", Edit{Deletions: 2}},
		{"substitution", "a b c", "a x c", Edit{Substitutions: 1}},
		{"insertion", "a c", "a b c", Edit{Insertions: 1}},
		{"deletion", "a b c", "a c", Edit{Deletions: 1}},
		{"all three", "a b c d e", "x b y c e", Edit{Substitutions: 1, Insertions: 1, Deletions: 1}},
		{"most words right", "a b", "b c", Edit{Insertions: 1, Deletions: 1}},
		{"repeat", "tear down the fence", "tear down the fence tear down the fence", Edit{Insertions: 4}},
	} {
		got := Errors(strings.Fields(c.ref), strings.Fields(c.hyp))
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// slowEdit is the definition: the best of all alignments, by errors, then by words right.
func slowEdit(ref, hyp []string) Edit {
	switch {
	case len(ref) == 0:
		return Edit{Insertions: len(hyp)}
	case len(hyp) == 0:
		return Edit{Deletions: len(ref)}
	}
	both := slowEdit(ref[1:], hyp[1:])
	if ref[0] != hyp[0] {
		both.Substitutions++
	}
	deleted, inserted := slowEdit(ref[1:], hyp), slowEdit(ref, hyp[1:])
	deleted.Deletions++
	inserted.Insertions++
	best := both
	for _, e := range []Edit{deleted, inserted} {
		if e.Total() < best.Total() || e.Total() == best.Total() && e.Substitutions < best.Substitutions {
			best = e
		}
	}
	return best
}

func TestErrorsEqualsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := func() []string {
		w := make([]string, rng.IntN(7))
		for i := range w {
			w[i] = string(rune('a' + rng.IntN(3)))
		}
		return w
	}
	for range 1500 {
		ref, hyp := words(), words()
		got, want := Errors(ref, hyp), slowEdit(ref, hyp)
		if got != want {
			t.Fatalf("%q %q: got %+v, want %+v", ref, hyp, got, want)
		}
		var aligned Edit
		for _, p := range align(ref, hyp) {
			switch p.mark() {
			case "S":
				aligned.Substitutions++
			case "I":
				aligned.Insertions++
			case "D":
				aligned.Deletions++
			}
		}
		if aligned != want {
			t.Fatalf("%q %q: alignment has %+v, want %+v", ref, hyp, aligned, want)
		}
	}
}

func TestScore(t *testing.T) {
	var s Score
	if s.WER() != nil || s.CER() != nil {
		t.Errorf("empty set: got WER %v, CER %v, want none", s.WER(), s.CER())
	}
	s.Add(Compare("", "one two three four", "en")) // the form is 1234
	s.Add(Compare("", "thank you", "en"))
	if s.Words != 0 || s.WordEdit != (Edit{Insertions: 3}) || s.WER() != nil {
		t.Errorf("no reference: got %+v, WER %v", s, s.WER())
	}
	s.Add(Compare("The cat sat.", "the bat sat", "en"))
	if s.Clips != 3 || s.Words != 3 || *s.WER() != 4.0/3 || s.Characters != 9 || *s.CER() != 13.0/9 {
		t.Errorf("got %+v, WER %v, CER %v", s, *s.WER(), *s.CER())
	}
	if c := Compare("日本語 です。", "日本 語で", "ja"); c.Words != 5 || c.WordEdit != (Edit{Deletions: 1}) || c.CharEdit != c.WordEdit {
		t.Errorf("Japanese: got %+v", c)
	}
	if c := Compare("안녕 하세요", "안녕하세요", "ko"); c.WordEdit.Total() != 2 || c.CharEdit.Total() != 0 {
		t.Errorf("Korean spacing: got %+v", c)
	}
}

// The texts of ../shared/golden score within 0.15 points of what the reference
// normaliser of the Whisper paper gives: Python package whisper-normalizer 0.1.15
// (EnglishTextNormalizer), 2026-11-30, "plain" texts, errors and words as below.
func TestGoldenTextsScoreLikeReferenceNormaliser(t *testing.T) {
	shared := sharedDir(t)
	for _, c := range []struct {
		model, set    string
		errors, words int
	}{
		{"tiny.en", "jfk", 0, 22},
		{"tiny.en", "librispeech-test-other", 149, 1050},
		{"tiny.en", "ljspeech", 7, 203},
		{"tiny.en", "librispeech-misc", 23, 164},
		{"base", "jfk", 0, 22},
		{"base", "librispeech-test-other", 125, 1050},
		{"base", "ljspeech", 5, 203},
		{"base", "librispeech-misc", 18, 164},
	} {
		texts := goldenTexts(t, filepath.Join(shared, "golden", c.model+".json"))
		var s Score
		for _, row := range readManifestFile(t, filepath.Join(shared, "audio", c.set, "manifest.tsv")) {
			if text, ok := texts[c.set+"/"+row.Path]; ok {
				s.Add(Compare(row.Reference, text, row.Language))
			}
		}
		got, want := 100**s.WER(), 100*float64(c.errors)/float64(c.words)
		t.Logf("%s %s: %d clips, WER %.2f (%d of %d), reference normaliser %.2f", c.model, c.set, s.Clips, got, s.WordEdit.Total(), s.Words, want)
		if diff := got - want; diff < -0.15 || diff > 0.15 {
			t.Errorf("%s %s: WER %.2f, reference normaliser %.2f", c.model, c.set, got, want)
		}
	}
}

func goldenTexts(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Clips map[string]struct{ Plain struct{ Text string } }
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for path, clip := range golden.Clips {
		texts[path] = clip.Plain.Text
	}
	return texts
}

func BenchmarkCompare(b *testing.B) {
	ref := strings.Repeat("the colour of twenty one travellers' coats was grey ", 100)
	hyp := strings.Repeat("The color of 21 traveler's coats were gray. ", 100)
	for b.Loop() {
		Compare(ref, hyp, "en")
	}
}
