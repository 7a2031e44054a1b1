package export

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A paragraph ends where nobody speaks for pauseMS, where another speaks, and at the
// first end of a sentence after paragraphMS.
const (
	pauseMS     = 2_000
	paragraphMS = 45_000
)

// mdEncoder writes a heading, what is known of the recording, and paragraphs that
// start with their time.
type mdEncoder struct {
	speaker      string
	start, until int64  // ms, of the paragraph so far
	text         string // last segment; "" before the first
}

// mdEscape keeps text from being read as markup. Text never stands at the start of a
// line, so that marks of lists and headings need no escape, '#' at the end of a
// heading excepted.
var mdEscape = func() *strings.Replacer {
	var pairs []string
	for _, c := range "\\`*_[]<>&~|$#" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

func (*mdEncoder) begin(out *bufio.Writer, head Transcript) {
	title := head.Title
	if title == "" {
		title = "Transcript"
	}
	fmt.Fprintf(out, "# %s\n", mdEscape.Replace(title))
	item := func(name, value string) {
		if value = clean(value); value != "" {
			fmt.Fprintf(out, "- %s: %s\n", name, mdEscape.Replace(value))
		}
	}
	fmt.Fprintln(out)
	if !head.Created.IsZero() {
		item("Recorded", head.Created.Format("2006-01-02 15:04:05 -07:00"))
	}
	if head.Duration > 0 {
		item("Duration", shortClock(millis(limit(head.Duration))))
	}
	item("Language", head.Language)
	item("Task", head.Task)
	item("Model", head.Model)
	if head.Coverage != nil {
		item("Coverage", fmt.Sprintf("%.0f %%", *head.Coverage*100))
	}
	for _, w := range head.Warnings {
		text := w.Text
		if start, end := order(w.Start, w.End, 0, limit(head.Duration)); end > 0 {
			text = fmt.Sprintf("%s–%s: %s", shortClock(millis(start)), shortClock(millis(end)), text)
		}
		item("Warning", text)
	}
}

func (e *mdEncoder) segment(out *bufio.Writer, s Segment) {
	start := millis(s.Start)
	switch {
	case e.text == "" || e.breaks(s):
		if e.text != "" {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "\n**%s** ", shortClock(start))
		if s.Speaker != "" {
			fmt.Fprintf(out, "*%s:* ", mdEscape.Replace(s.Speaker))
		}
		e.start = start
	case !tightText(e.text, s.Text):
		out.WriteByte(' ')
	}
	out.WriteString(mdEscape.Replace(s.Text))
	e.speaker, e.until, e.text = s.Speaker, millis(s.End), s.Text
}

// breaks says whether a segment starts a paragraph.
func (e *mdEncoder) breaks(s Segment) bool {
	return s.Speaker != e.speaker || millis(s.Start)-e.until >= pauseMS ||
		e.until-e.start >= paragraphMS && endsSentence(e.text)
}

func (e *mdEncoder) end(out *bufio.Writer) {
	if e.text != "" {
		fmt.Fprintln(out)
	}
}

// endsSentence looks at the last character that closes no quotation or bracket.
func endsSentence(text string) bool {
	text = strings.TrimRight(text, "\"'”’»)]」』")
	last, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?…。！？؟।", last)
}
