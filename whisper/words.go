package whisper

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot/whisper/token"
)

// Word is a word with its place in time.
type Word struct {
	Text        string  // with the space in front, where the language has one
	Start, End  float64 // seconds from the start of the window
	Probability float64 // mean probability of its tokens

	token int // where its first token stands in the window's text
}

// secondsPerPosition is how much audio an encoder position stands for.
const secondsPerPosition = 0.02

// wordTokens is a word as a range of a text's tokens.
type wordTokens struct {
	text     string
	from, to int
}

// splitWords cuts text tokens into words: at spaces, or for languages without
// spaces at every character (split_to_word_tokens in tokenizer.py). Punctuation
// stands alone. The texts of the words joined are the text of the tokens.
func splitWords(tok *token.Tokenizer, tokens []int, language string) []wordTokens {
	var words []wordTokens
	for _, c := range splitCharacters(tok, tokens) {
		first, _ := utf8.DecodeRuneInString(c.text)
		begins := unspaced[language] || unicode.IsSpace(first) || isPunctuation(strings.TrimSpace(c.text))
		if begins || len(words) == 0 {
			words = append(words, c)
			continue
		}
		last := &words[len(words)-1]
		last.text, last.to = last.text+c.text, c.to
	}
	return words
}

// unspaced are the languages that write no spaces between words.
var unspaced = map[string]bool{"zh": true, "ja": true, "th": true, "lo": true, "my": true, "yue": true}

// splitCharacters cuts tokens into the shortest runs whose text ends with a whole
// character.
func splitCharacters(tok *token.Tokenizer, tokens []int) []wordTokens {
	var parts []wordTokens
	stream := tok.Stream()
	text, from := "", 0
	for i, t := range tokens {
		text += stream.Push(t)
		if stream.Pending() || text == "" && i < len(tokens)-1 {
			continue
		}
		parts = append(parts, wordTokens{text, from, i + 1})
		text, from = "", i+1
	}
	if n := len(parts); from < len(tokens) && n > 0 {
		parts[n-1].to = len(tokens) // bytes left over at the end belong to the last word
	}
	return parts
}

func isPunctuation(s string) bool {
	for _, r := range s {
		if !unicode.IsPunct(r) && !unicode.IsSymbol(r) {
			return false
		}
	}
	return s != ""
}

// rawWords places the words of a text by alignment alone. used is how many encoder
// positions hold audio.
func rawWords(tok *token.Tokenizer, h *hypothesis, language string, used int) []Word {
	var text, index []int
	var rows [][]float32
	var logProbs []float64
	for i, t := range h.tokens {
		if t < tok.EndOfText && i < len(h.attention) {
			text, index = append(text, t), append(index, i)
			rows, logProbs = append(rows, h.attention[i]), append(logProbs, h.logProbs[i])
		}
	}
	if len(text) == 0 || used < 1 {
		return nil
	}
	if last := len(h.tokens); last < len(h.attention) {
		rows = append(rows, h.attention[last])
	} else {
		rows = append(rows, rows[len(rows)-1]) // cut off: nothing came behind the last token
	}
	starts := alignTokens(rows, used)
	var words []Word
	for _, w := range splitWords(tok, text, language) {
		var p float64
		for _, l := range logProbs[w.from:w.to] {
			p += math.Exp(l)
		}
		words = append(words, Word{
			Text:        w.text,
			Start:       float64(starts[w.from]) * secondsPerPosition,
			End:         float64(starts[w.to]) * secondsPerPosition,
			Probability: p / float64(w.to-w.from),
			token:       index[w.from],
		})
	}
	return words
}

// joinPunctuation gives opening marks to the word behind them and all others to the
// word in front (merge_punctuations in timing.py). A mark that was given away takes
// its time along only where it lies inside the word's.
func joinPunctuation(words []Word) []Word {
	var joined []Word
	opening := ""
	for _, w := range words {
		mark := strings.TrimSpace(w.Text)
		switch {
		case isPunctuation(mark) && strings.HasPrefix(w.Text, " ") && strings.ContainsAny(mark, openingMarks):
			opening += w.Text
		case isPunctuation(mark) && len(joined) > 0 && opening == "":
			joined[len(joined)-1].Text += w.Text
		default:
			w.Text, opening = opening+w.Text, ""
			joined = append(joined, w)
		}
	}
	if opening != "" && len(joined) > 0 {
		joined[len(joined)-1].Text += opening
	}
	return joined
}

const openingMarks = "\"'“¿([{-"
