package export

import (
	"html"
	"regexp"
	"strings"
)

var (
	// srtTag matches the markup that SRT players know, and position marks like {\an8}.
	// Other angle brackets are text.
	srtTag = regexp.MustCompile(`(?i)</?[bisu]>|</?font(?:\s[^<>]*)?>|\{\\[^{}]*\}`)
	// vttTag matches every tag of WebVTT, times included.
	vttTag = regexp.MustCompile(`</?[A-Za-z0-9.][^<>]*>|</>`)
	voice  = regexp.MustCompile(`<v(?:\.[^\s<>]*)?\s+([^<>]*)>`)
)

// cueParser reads srt and vtt, line by line.
type cueParser struct {
	*parser
	cue  *Segment // nil before the first
	at   int      // line of its times
	text []string // its lines
	// held is the line before if that may be the number or name of a cue: the first of
	// a block, or digits. It is text unless times follow.
	held   string
	heldAt int
	top    bool // the next line is the first of a block
	skip   bool // inside a block that is no cue, or the head of the file
}

func parseCues(p *parser) error {
	c := cueParser{parser: p, top: true}
	for n, line := range p.lines() {
		if err := c.line(n, line); err != nil {
			return err
		}
	}
	if err := c.release(); err != nil {
		return err
	}
	return c.finish()
}

func (c *cueParser) line(n int, line string) error {
	s, isTimes := parseTimes(line)
	blank := strings.TrimSpace(line) == ""
	switch {
	case isTimes && (c.format == VTT || c.top || c.held != ""):
		c.skip, c.top, c.held = false, false, ""
		err := c.finish()
		c.cue, c.at = &s, n
		return err
	case blank:
		c.skip, c.top = false, true
		return c.release()
	case c.skip:
		return nil
	case c.badTimes(line):
		return c.errorf(n, "times not understood: %q; want 00:00:00%[2]c000 --> 00:00:00%[2]c000", excerpt(line), c.point())
	case c.top && c.format == VTT && notCue(n, line):
		c.skip, c.top = true, false
		return nil
	}
	if err := c.release(); err != nil {
		return err
	}
	if c.top || isDigits(strings.TrimSpace(line)) {
		c.top, c.held, c.heldAt = false, line, n
		return nil
	}
	return c.keep(n, line)
}

// badTimes holds for a line that can only be a line of times, but is none. In vtt
// that is every line with an arrow; srt may have one in a text.
func (c *cueParser) badTimes(line string) bool {
	if !strings.Contains(line, "-->") {
		return false
	}
	line = strings.TrimSpace(line)
	return c.format == VTT || (c.top || c.held != "") && isDigits(line[:1])
}

func (c *cueParser) point() byte {
	if c.format == VTT {
		return '.'
	}
	return ','
}

// notCue says whether the first line of a block is that of the file's head or of a
// block without text of its own.
func notCue(n int, line string) bool {
	word, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	switch word {
	case "WEBVTT":
		return n == 1
	case "NOTE", "STYLE", "REGION":
		return true
	}
	return false
}

// release makes the line that was held text.
func (c *cueParser) release() error {
	if c.held == "" {
		return nil
	}
	held := c.held
	c.held = ""
	return c.keep(c.heldAt, held)
}

// keep takes a line as text of the cue that is open. Text behind a blank line belongs
// to it as well: some programs write blank lines inside cues.
func (c *cueParser) keep(n int, line string) error {
	if c.cue == nil {
		return c.errorf(n, "no times in front of %q", excerpt(line))
	}
	c.text = append(c.text, line)
	return nil
}

// finish hands on the cue that is open.
func (c *cueParser) finish() error {
	if c.cue == nil {
		return nil
	}
	raw := strings.Join(c.text, "\n")
	if c.format == VTT {
		if v := voice.FindStringSubmatch(raw); v != nil {
			c.cue.Speaker = clean(html.UnescapeString(v[1]))
		}
		raw = html.UnescapeString(vttTag.ReplaceAllString(raw, ""))
	} else {
		raw = srtTag.ReplaceAllString(raw, "")
	}
	c.cue.Text = joined(strings.Split(raw, "\n"))
	c.text = c.text[:0]
	return c.add(c.at, *c.cue)
}

// parseTimes reads "start --> end" and lets settings follow.
func parseTimes(line string) (Segment, bool) {
	left, right, found := strings.Cut(line, "-->")
	fields := strings.Fields(right)
	if !found || len(fields) == 0 {
		return Segment{}, false
	}
	start, ok := parseClock(strings.TrimSpace(left))
	end, ok2 := parseClock(fields[0])
	return Segment{Start: float64(start) / 1000, End: float64(end) / 1000}, ok && ok2
}
