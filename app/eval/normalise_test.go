package eval

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Each group holds spellings of the same spoken words; the first is their form.
var sameEnglish = []struct {
	name      string
	spellings []string
}{
	{"cardinal", []string{"21", "twenty one", "twenty-one", "Twenty–One."}},
	{"one is a word", []string{"one of them", "1 of them"}},
	{"hundreds", []string{"105", "one hundred and five", "one hundred five", "a hundred and five"}},
	{"thousands", []string{"2345", "two thousand three hundred and forty five", "2,345"}},
	{"and inside a group", []string{"150000", "a hundred and fifty thousand", "one hundred fifty thousand", "150,000"}},
	{"and between two numbers", []string{"between 100 and 200", "between one hundred and two hundred"}},
	{"millions", []string{"1500000", "1.5 million", "one and a half million", "one million five hundred thousand"}},
	{"a thousand million", []string{"1000000000", "a thousand million", "one billion"}},
	{"year in pairs", []string{"in 1984", "in nineteen eighty four", "in nineteen eighty-four"}},
	{"year with oh", []string{"1904", "nineteen oh four", "nineteen o four"}},
	{"year with thousand", []string{"2005", "two thousand and five", "twenty oh five"}},
	{"twenty ten", []string{"2010", "twenty ten", "two thousand ten"}},
	{"decade", []string{"the 1980s", "the nineteen eighties", "the 1980's", "the 1980’s"}},
	{"digits", []string{"555", "five five five", "5 5 5", "5-5-5"}},
	{"digits with oh", []string{"5007", "five oh oh seven"}},
	{"oh my", []string{"oh my", "Oh, my!", "O my"}},
	{"oh before a number", []string{"oh 2 men", "oh, two men"}},
	{"zero", []string{"0", "zero"}},
	{"time", []string{"1030 pm", "ten thirty pm", "10:30 pm", "10:30pm"}},
	{"ordinal", []string{"21st", "twenty first", "twenty-first", "21st."}},
	{"ordinal after and", []string{"the 101st", "the hundred and first", "the one hundred and first"}},
	{"ordinals", []string{"1st 2nd 3rd 4th 12th 20th 100th", "first second third fourth twelfth twentieth hundredth"}},
	{"no ordinal of two numbers", []string{"one 2nd", "one second"}},
	{"decimal", []string{"3.14", "three point one four", "3.14."}},
	{"decimal with oh", []string{"2.05", "two point oh five", "two point zero five"}},
	{"version", []string{"version 2.0", "version two point oh"}},
	{"bare decimal", []string{"point 5", "point five", ".5"}},
	{"half", []string{"2.5", "two and a half"}},
	{"dollars", []string{"$20", "twenty dollars", "20 dollars", "20$"}},
	{"million dollars", []string{"$2500000", "$2.5 million", "two and a half million dollars"}},
	{"cents", []string{"$0.50", "fifty cents", "50¢", "$.50"}},
	{"dollars and cents", []string{"$5.10", "five dollars and ten cents", "$5 and 10 cents", "$5.10"}},
	{"pounds and pence", []string{"£3.05", "three pounds and five pence", "£3.05"}},
	{"percent", []string{"20%", "twenty percent", "twenty per cent", "20 %", "20 percent"}},
	{"units apart", []string{"10 am", "10am", "ten am"}},

	{"contractions", []string{"i will not and can not", "I won't and can't", "I won’t and cannot"}},
	{"is", []string{"it is here", "it's here", "IT’S here"}},
	{"has", []string{"it has been", "it's been"}},
	{"had", []string{"he had gone", "he'd gone"}},
	{"would", []string{"he would go", "he'd go"}},
	{"old participle", []string{"deserved and loved", "deserv'd and lov'd", "deserv’d and lov’d"}},
	{"two contractions", []string{"could not have", "couldn't've"}},
	{"possessive like is", []string{"the king is men", "the king's men"}},
	{"other apostrophes", []string{"oclock obrien em goin", "o'clock O'Brien 'em goin'"}},
	{"titles", []string{"mister and missus smith", "Mr. and Mrs. Smith"}},
	{"saint and doctor", []string{"doctor john of saint ives", "Dr. John of St. Ives"}},
	{"fillers", []string{"i think so", "Um, I, uh, think... hmm, so", "I [coughs] think (laughs) so <noise>"}},
	{"filler inside a number", []string{"21", "twenty uh one"}},
	{"spelling", []string{"the gray color of the theater center", "the grey colour of the theatre centre"}},
	{"-ise", []string{"organizing the realization", "organising the realisation"}},
	{"-l-", []string{"the traveler modeled", "the traveller modelled"}},
	{"punctuation", []string{"well known or not", "well-known — or not?!", "“well/known” or not", "well known (or not"}},
	{"diacritics", []string{"cafe naive oeuvre", "café naïve œuvre"}},
	{"signs without a number", []string{"percent of", "percent of $ % ¢"}},
	{"ampersand", []string{"salt and pepper", "salt & pepper"}},
	{"joiners", []string{"cooperate", "co\u00adoperate", "co\u200doperate"}},
	{"not UTF-8", []string{"a b", "a\xffb"}},
}

func TestNormaliseEnglish(t *testing.T) {
	for _, c := range sameEnglish {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range c.spellings {
				if got := Normalise(s, "en"); got != c.spellings[0] {
					t.Errorf("%q → %q, want %q", s, got, c.spellings[0])
				}
			}
		})
	}
}

func TestNormaliseKeepsEnglishWordsApart(t *testing.T) {
	for _, words := range []string{
		"advise advice", "promise promises premise", "rise raise", "wise guise disguise exercise surprise",
		"called filling roller billed", "four for hour our", "prize prise", "lens lends", "its it is", "were we are",
	} {
		seen := map[string]string{}
		for _, w := range strings.Fields(words) {
			n := Normalise(w, "en")
			if before, ok := seen[n]; ok {
				t.Errorf("%q and %q are both %q", before, w, n)
			}
			seen[n] = w
		}
	}
	for _, w := range strings.Fields("advertise exercise promised supervising surprises unsupervised improvised raised called") {
		if got := Normalise(w, "en-GB"); got != w {
			t.Errorf("%q → %q, want it unchanged", w, got)
		}
	}
}

func TestNormaliseOtherLanguages(t *testing.T) {
	for _, c := range []struct{ name, language, text, want string }{
		{"German", "de-DE", "Die „Straße“ — 20 %!", "die strasse 20"},
		{"French apostrophe", "fr", "L’été, aujourd'hui (à Paris)", "lété aujourdhui à paris"},
		{"Turkish dotted and dotless", "tr", "IŞIK İstanbul", "ışık istanbul"},
		{"Greek final sigma", "el", "ΛΌΓΟΣ λόγος", "λόγοσ λόγοσ"},
		{"decomposed", "es", "man\u0303ana", "mañana"},
		{"Hindi keeps vowel signs", "hi", "हिन्दी।", "हिन्दी"},
		{"Persian joiner", "fa", "می\u200cخواهم", "میخواهم"},
		{"Thai without spaces", "th", "เปิด ไฟ", "เปิดไฟ"},
		{"Japanese full width", "ja-JP", "ＡＢＣ、 日本 語。", "abc日本語"},
		{"Chinese", "zh_CN", "你好， 世界！", "你好世界"},
		{"Korean keeps spaces", "ko", "안녕 하세요.", "안녕 하세요"},
		{"emoji", "", "ok ❤️ 1️⃣", "ok 1"},
		{"unknown language", "-", "Mr. Smith's", "mr smiths"},
	} {
		if got := Normalise(c.text, c.language); got != c.want {
			t.Errorf("%s: %q → %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestWordsCountsCharactersWithoutSpaces(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           int
	}{
		{"en", "Twenty-one men.", 2}, {"de", "ein Mann", 2}, {"ja", "日本 語。", 3}, {"ja", "", 0}, {"en", " . ", 0},
	} {
		if got := Words(c.text, c.language); len(got) != c.want {
			t.Errorf("%s %q: %q, want %d", c.language, c.text, got, c.want)
		}
	}
}

// Every character between letters, before a mark, has a form that is its own form.
func TestNormaliseEveryRuneIsStable(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, language := range []string{"en", "tr"} {
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if !unicode.IsGraphic(r) || unicode.In(r, unicode.Han, unicode.Hangul, unicode.Yi, unicode.Co) {
				continue
			}
			text := "e" + string(r) + "\u0301n"
			got := Normalise(text, language)
			if again := Normalise(got, language); again != got {
				t.Fatalf("%s: %+q → %+q → %+q", language, text, got, again)
			}
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{
		"Mr. O'Brien paid $5 and ten cents, i.e. 20 percent, on the twenty-first of May nineteen oh four.",
		"one hundred and two thousand and a half million point oh 5 oh oh seven 2nd 1980's %5 $.50 5.5 ¢ 6",
		"won't couldn't've it's been he'd gone deserv'd [music] (laughs) <unk> per um cent café ½ № ①",
		"Die Straße, l’été, İstanbul ışık ไทย हिन्दी 日本語 ｆｕｌｌ\u200dwidth",
	} {
		for _, language := range []string{"en", "de", "tr", "ja", "th", ""} {
			f.Add(s, language)
		}
	}
	f.Fuzz(func(t *testing.T, text, language string) {
		got := Normalise(text, language)
		if !utf8.ValidString(got) {
			t.Fatalf("%q → %q: not UTF-8", text, got)
		}
		if again := Normalise(got, language); again != got {
			t.Fatalf("%q → %q → %q", text, got, again)
		}
		if strings.TrimSpace(got) != got || strings.Contains(got, "  ") {
			t.Fatalf("%q → %q: stray spaces", text, got)
		}
	})
}
