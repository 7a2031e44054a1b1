package eval

import "strings"

// wholeContractions are contractions that their parts do not explain.
var wholeContractions = map[string]string{
	"won't":   "will not",
	"can't":   "can not",
	"shan't":  "shall not",
	"ain't":   "aint",
	"let's":   "let us",
	"y'all":   "you all",
	"ma'am":   "madam",
	"i'ma":    "i am going to",
	"d'you":   "do you",
	"c'mon":   "come on",
	"o'clock": "oclock",
}

// contractedWords are the words that stand after the apostrophe. 's and 'd have more
// than one reading: see contracted.
var contractedWords = map[string]string{
	"ll": "will",
	"re": "are",
	"ve": "have",
	"m":  "am",
	"s":  "is",
	"d":  "would",
}

// takesWould are the words after which 'd is a word of its own; after others
// ("deserv'd", "tatter'd") it is the old spelling of -ed.
var takesWould = set(`i you he she it we they there here this that these those who what where when why how
	which one everyone someone anyone nobody everybody somebody`)

// Words after which 's and 'd are forms of "have" rather than "is" and "would".
var (
	hasBefore = set("been got had")
	hadBefore = set("been gone done had better")
)

// fillers are sounds of hesitation, which transcripts have or lack at random.
var fillers = set("uh uhh uhm um umm hm hmm hmmm mm mmm mhm")

// shortForms are words that have a longer form with the same sound.
var shortForms = map[string]string{
	"mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "prof": "professor", "capt": "captain",
	"gov": "governor", "gen": "general", "sen": "senator", "rep": "representative", "pres": "president",
	"rev": "reverend", "hon": "honorable", "lt": "lieutenant", "col": "colonel", "sgt": "sergeant",
	"jr": "junior", "sr": "senior", "esq": "esquire", "asst": "assistant", "assoc": "associate",
	"ald": "alderman", "vs": "versus", "etc": "etcetera", "ok": "okay", "alright": "all right",
	"cannot": "can not", "percents": "percent", "o": "oh",
	"gonna": "going to", "wanna": "want to", "gotta": "got to", "imma": "i am going to",
	"coulda": "could have", "shoulda": "should have", "woulda": "would have", "mighta": "might have",
	"musta": "must have",
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// expandContractions writes contractions out and drops all other apostrophes.
func expandContractions(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	for i, token := range tokens {
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		out = appendExpanded(out, token, next)
	}
	return out
}

// appendExpanded appends the words of one token that is followed by next. It works
// from the last apostrophe inwards: "couldn't've" is "could not have".
func appendExpanded(out []string, token, next string) []string {
	if whole, ok := wholeContractions[token]; ok {
		return append(out, strings.Fields(whole)...)
	}
	i := strings.LastIndexByte(token, '\'')
	if i < 0 {
		return append(out, token)
	}
	base, ending := token[:i], token[i+1:]
	if ending == "t" && len(base) > 1 && strings.HasSuffix(base, "n") {
		return append(out, strings.ReplaceAll(base[:len(base)-1], "'", ""), "not")
	}
	word := contractedWords[ending]
	switch {
	case ending == "s" && hasBefore[next]:
		word = "has"
	case ending == "d" && !takesWould[base]:
		return append(out, strings.ReplaceAll(strings.TrimSuffix(base, "e"), "'", "")+"ed")
	case ending == "d" && hadBefore[next]:
		word = "had"
	case word == "":
		return append(out, strings.ReplaceAll(token, "'", ""))
	}
	return append(appendExpanded(out, base, word), word)
}

// replaceWords drops fillers, writes short forms out and makes the spelling American.
func replaceWords(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	for _, token := range tokens {
		long, short := shortForms[token]
		switch {
		case fillers[token]:
		case token == "cent" && len(out) > 0 && out[len(out)-1] == "per":
			out[len(out)-1] = "percent"
		case short:
			out = append(out, strings.Fields(long)...)
		default:
			out = append(out, american(token))
		}
	}
	return out
}
