package pipeline

import (
	"strings"

	"earshot/whisper"
)

// caption is the text of what is being said, as it grows. Words on which two texts in a
// row agree are stable: they are not taken back (LocalAgreement-2; Liu et al. 2020, Macháček
// et al. 2023). The final text of an utterance may still differ.
type caption struct {
	recording  *recording
	start      int
	before     []string // words of the last text
	stableText []string
}

// update takes the next text of an utterance.
func (c *caption) update(u *utterance, h whisper.Heard) Message {
	if c.recording != u.recording || c.start != u.start {
		*c = caption{recording: u.recording, start: u.start}
	}
	words := strings.Fields(h.Text)
	agreed := 0
	for agreed < min(len(words), len(c.before)) && words[agreed] == c.before[agreed] {
		agreed++
	}
	if n := len(c.stableText); agreed > n {
		c.stableText = append(c.stableText, words[n:agreed]...) // words are taken by their number
	}
	c.before = words
	stable := strings.Join(c.stableText, " ")
	var volatile string
	if n := len(c.stableText); len(words) > n {
		volatile = strings.Join(words[n:], " ")
	}
	return Message{Kind: Caption, Recording: u.recording.id, Start: u.from(), End: u.until(), Text: stable, Volatile: volatile, Language: h.Language}
}
