package cli

import (
	"strings"
	"testing"

	"earshot/audio"
)

// TestChangeOfLanguage is case C67: French, then German, and the other way round, each
// in its own words.
func TestChangeOfLanguage(t *testing.T) {
	l := ear(t, "base", "auto")
	french, german := load(t, "azure-customspeech/fr-FR_training_audio2.flac"), load(t, "azure-customspeech/de-DE_training_audio1.flac")
	for _, c := range []struct {
		name, first, second string
		x                   []float32
		seam                int
	}{
		{"French, German", "fr", "de", join(french, german), len(french)},
		{"German, French", "de", "fr", join(german, french), len(german)},
	} {
		h := l.hearSamples(t, c.name, c.x)
		text := map[string]string{}
		change := 0.0
		for _, s := range h.segments {
			text[s.Language] += " " + s.Text
			if s.Language == c.second && change == 0 {
				change = s.Start
			}
			if s.Language == c.first && change > 0 {
				t.Errorf("%s: %s again at %.2f s: %q", c.name, c.first, s.Start, s.Text)
			}
		}
		for language, words := range map[string][]string{"de": {"Registerkarten", "Bereitstellung"}, "fr": {"audio chargé"}} {
			for _, w := range words {
				if !strings.Contains(text[language], w) {
					t.Errorf("%s: no %q in %q", c.name, w, text[language])
				}
			}
		}
		if seam := float64(c.seam) / audio.SampleRate; change < seam-1.5 || change > seam+1.5 || len(text) != 2 {
			t.Errorf("%s: the language changes at %.2f s, want %.2f; languages of %d", c.name, change, seam, len(text))
		}
	}
}

// TestChosenLanguages is case C68: short utterances, with the languages restricted.
func TestChosenLanguages(t *testing.T) {
	l := ear(t, "base", "fa,mn,sw,th")
	for language, file := range map[string]string{"fa": "fa_3", "mn": "mn_3", "sw": "sw_3", "th": "th_1"} {
		h := l.hearSamples(t, file, load(t, "speech-to-phrase-tts/"+file+".flac"))
		if !strings.Contains("fa mn sw th", h.language) || h.language == "" {
			t.Errorf("%s: heard %q: %q", file, h.language, h.text())
		}
		t.Logf("%s: %s %q, spoken is %s", file, h.language, h.text(), language)
	}
}

// TestLanguagesAreKept restricts a stub, which knows no language at all: the first of
// the list is as good as any other, English is not.
func TestLanguagesAreKept(t *testing.T) {
	r := newRig(t, say(said{text: "x", until: 0.5, logProb: -0.2}), transcribeFlags{noVAD: true, outputFlags: outputFlags{jsonLines: true}})
	r.listener.options.Languages = []string{"Thai", "fa"}
	h := r.hearSamples(t, "noise", noise(3, -20, 1))
	if len(h.segments) != 1 || h.language != "th" && h.language != "fa" {
		t.Errorf("heard %q in %+v", h.language, h.segments)
	}
}
