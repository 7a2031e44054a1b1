package token

import (
	"slices"
	"testing"
)

func TestFindLanguage(t *testing.T) {
	tests := map[string]string{
		"en": "en", "EN": "en", "English": "en", "german": "de", " pt ": "pt",
		"pt-BR": "pt", "pt_BR": "pt", "zh-Hans-CN": "zh", "haw-US": "haw", "yue": "yue",
		"Haitian Creole": "ht", "Flemish": "nl", "Mandarin": "zh", "nb-NO": "no", "iw": "he", "jv": "jw",
		"": "", "-": "", "xx": "", "xx-US": "", "klingon": "", "english-US": "", "pt BR": "",
	}
	for in, want := range tests {
		got, ok := FindLanguage(in)
		if got.Code != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", in, got.Code, ok, want)
		}
	}
	for alias := range languageAliases {
		if _, ok := FindLanguage(alias); !ok {
			t.Errorf("alias %q leads nowhere", alias)
		}
	}
}

func TestLanguageTokens(t *testing.T) {
	multilingual := testTokenizer(t)
	all := multilingual.Languages()
	if len(all) != 99 || all[98] != (Language{"su", "Sundanese"}) {
		t.Fatalf("%d languages, the last %v", len(all), all[len(all)-1])
	}
	for i, l := range all {
		id, ok := multilingual.Language(l.Name)
		code, ok2 := multilingual.LanguageCode(id)
		if !ok || !ok2 || id != multilingual.FirstLanguage+i || code != l.Code {
			t.Errorf("%v: token %d %v, back to %q %v", l, id, ok, code, ok2)
		}
	}
	for _, id := range []int{multilingual.StartOfTranscript, multilingual.Translate} {
		if code, ok := multilingual.LanguageCode(id); ok {
			t.Errorf("token %d taken for %q", id, code)
		}
	}
	if _, ok := multilingual.Language("yue"); ok {
		t.Error("Cantonese in a vocabulary without it")
	}
	newer, err := New(testWords(), 256+1509+100)
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := newer.Language("cantonese"); !ok || id != newer.Translate-1 {
		t.Errorf("Cantonese: %d %v, want %d", id, ok, newer.Translate-1)
	}
}

func TestEnglishOnlyHasNoLanguages(t *testing.T) {
	tok, err := New(fullWords(50256), englishVocab)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tok.Language("en"); ok {
		t.Error("a language token for an English-only model")
	}
	if _, ok := tok.LanguageCode(tok.FirstLanguage); ok {
		t.Error("a language for a token that the model never saw")
	}
	if n := len(tok.Languages()); n != 0 {
		t.Errorf("%d languages", n)
	}
}

func TestLanguageTable(t *testing.T) {
	codes, names := map[string]bool{}, map[string]bool{}
	for _, l := range languageTable {
		codes[l.Code], names[l.Name] = true, true
	}
	if len(codes) != 100 || len(names) != 100 {
		t.Errorf("%d codes and %d names, want 100 of each", len(codes), len(names))
	}
	at := func(code string) int {
		return slices.IndexFunc(languageTable, func(l Language) bool { return l.Code == code })
	}
	// Ids 50259 (en), 50289 (th) and 50357 (su) of base, 50358 (yue) of large-v3.
	for code, want := range map[string]int{"en": 0, "th": 30, "su": 98, "yue": 99} {
		if got := at(code); got != want {
			t.Errorf("%s at %d, want %d", code, got, want)
		}
	}
}
