package token

import "strings"

// Language is one that Whisper was trained on.
type Language struct {
	Code string // Whisper's code, for most languages that of ISO 639-1: "en"
	Name string // in English: "English"
}

// languageTable is in the order of the token ids (whisper/tokenizer.py,
// LANGUAGES). Cantonese came with large-v3; older vocabularies end before it.
var languageTable = []Language{
	{"en", "English"},
	{"zh", "Chinese"},
	{"de", "German"},
	{"es", "Spanish"},
	{"ru", "Russian"},
	{"ko", "Korean"},
	{"fr", "French"},
	{"ja", "Japanese"},
	{"pt", "Portuguese"},
	{"tr", "Turkish"},
	{"pl", "Polish"},
	{"ca", "Catalan"},
	{"nl", "Dutch"},
	{"ar", "Arabic"},
	{"sv", "Swedish"},
	{"it", "Italian"},
	{"id", "Indonesian"},
	{"hi", "Hindi"},
	{"fi", "Finnish"},
	{"vi", "Vietnamese"},
	{"he", "Hebrew"},
	{"uk", "Ukrainian"},
	{"el", "Greek"},
	{"ms", "Malay"},
	{"cs", "Czech"},
	{"ro", "Romanian"},
	{"da", "Danish"},
	{"hu", "Hungarian"},
	{"ta", "Tamil"},
	{"no", "Norwegian"},
	{"th", "Thai"},
	{"ur", "Urdu"},
	{"hr", "Croatian"},
	{"bg", "Bulgarian"},
	{"lt", "Lithuanian"},
	{"la", "Latin"},
	{"mi", "Maori"},
	{"ml", "Malayalam"},
	{"cy", "Welsh"},
	{"sk", "Slovak"},
	{"te", "Telugu"},
	{"fa", "Persian"},
	{"lv", "Latvian"},
	{"bn", "Bengali"},
	{"sr", "Serbian"},
	{"az", "Azerbaijani"},
	{"sl", "Slovenian"},
	{"kn", "Kannada"},
	{"et", "Estonian"},
	{"mk", "Macedonian"},
	{"br", "Breton"},
	{"eu", "Basque"},
	{"is", "Icelandic"},
	{"hy", "Armenian"},
	{"ne", "Nepali"},
	{"mn", "Mongolian"},
	{"bs", "Bosnian"},
	{"kk", "Kazakh"},
	{"sq", "Albanian"},
	{"sw", "Swahili"},
	{"gl", "Galician"},
	{"mr", "Marathi"},
	{"pa", "Punjabi"},
	{"si", "Sinhala"},
	{"km", "Khmer"},
	{"sn", "Shona"},
	{"yo", "Yoruba"},
	{"so", "Somali"},
	{"af", "Afrikaans"},
	{"oc", "Occitan"},
	{"ka", "Georgian"},
	{"be", "Belarusian"},
	{"tg", "Tajik"},
	{"sd", "Sindhi"},
	{"gu", "Gujarati"},
	{"am", "Amharic"},
	{"yi", "Yiddish"},
	{"lo", "Lao"},
	{"uz", "Uzbek"},
	{"fo", "Faroese"},
	{"ht", "Haitian Creole"},
	{"ps", "Pashto"},
	{"tk", "Turkmen"},
	{"nn", "Nynorsk"},
	{"mt", "Maltese"},
	{"sa", "Sanskrit"},
	{"lb", "Luxembourgish"},
	{"my", "Myanmar"},
	{"bo", "Tibetan"},
	{"tl", "Tagalog"},
	{"mg", "Malagasy"},
	{"as", "Assamese"},
	{"tt", "Tatar"},
	{"haw", "Hawaiian"},
	{"ln", "Lingala"},
	{"ha", "Hausa"},
	{"ba", "Bashkir"},
	{"jw", "Javanese"},
	{"su", "Sundanese"},
	{"yue", "Cantonese"},
}

// languageAliases are other names and codes. The names are those of
// TO_LANGUAGE_CODE in whisper/tokenizer.py; the codes are the ones that standards
// use now where Whisper's differ (and the other way round for Hebrew).
var languageAliases = map[string]string{
	"burmese": "my", "castilian": "es", "flemish": "nl", "haitian": "ht",
	"letzeburgesch": "lb", "mandarin": "zh", "moldavian": "ro", "moldovan": "ro",
	"panjabi": "pa", "pushto": "ps", "sinhalese": "si", "valencian": "ca",
	"cmn": "zh", "fil": "tl", "iw": "he", "jv": "jw", "nb": "no",
}

// FindLanguage finds a language by its code ("pt"), its English name
// ("Portuguese"), or a code with a region or script behind it ("pt-BR", "pt_BR",
// "zh-Hans-CN"). Case does not matter.
func FindLanguage(s string) (Language, bool) {
	i := findLanguage(s)
	if i < 0 {
		return Language{}, false
	}
	return languageTable[i], true
}

// findLanguage returns the index in languageTable, -1 for none.
func findLanguage(s string) int {
	s = strings.ToLower(strings.TrimSpace(s))
	for i, l := range languageTable {
		if s == l.Code || s == strings.ToLower(l.Name) {
			return i
		}
	}
	if code, ok := languageAliases[s]; ok {
		return findLanguage(code)
	}
	if cut := strings.IndexAny(s, "-_"); cut > 0 && cut <= 3 {
		return findLanguage(s[:cut])
	}
	return -1
}

// Languages returns the languages that the model was trained on, in the order of
// their tokens: language i has the token FirstLanguage+i. It is empty for an
// English-only model.
func (t *Tokenizer) Languages() []Language {
	if !t.multilingual {
		return nil
	}
	return append([]Language(nil), languageTable[:t.languages]...)
}

// Language returns the token of a language, named as for FindLanguage. ok is false
// where the model does not know it; an English-only model has no use for any.
func (t *Tokenizer) Language(s string) (id int, ok bool) {
	i := findLanguage(s)
	if !t.multilingual || i < 0 || i >= t.languages {
		return 0, false
	}
	return t.FirstLanguage + i, true
}

// LanguageCode returns the code of a language token; ok is false for other tokens.
func (t *Tokenizer) LanguageCode(id int) (code string, ok bool) {
	i := id - t.FirstLanguage
	if !t.multilingual || i < 0 || i >= t.languages {
		return "", false
	}
	return languageTable[i].Code, true
}
