package export

import (
	"bufio"
	"fmt"
	"strings"
)

// vttEncoder writes WebVTT. Each cue comes behind its blank line.
type vttEncoder struct {
	width, lines int
	words        bool
}

// vttEscape also keeps "-->" out of a text.
var vttEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (vttEncoder) begin(out *bufio.Writer, _ Transcript) { fmt.Fprintln(out, "WEBVTT") }
func (vttEncoder) end(*bufio.Writer)                     {}
func (e vttEncoder) segment(out *bufio.Writer, s Segment) {
	for _, c := range cues(s, 0, e.width, e.lines) {
		fmt.Fprintf(out, "\n%s --> %s\n", clock(millis(c.Start), '.'), clock(millis(c.End), '.'))
		if c.Speaker != "" {
			fmt.Fprintf(out, "<v %s>", vttEscape.Replace(c.Speaker))
		}
		var stamps []stamp
		if e.words {
			stamps = c.stamps()
		}
		at := 0
		for i, line := range c.lines {
			fmt.Fprintln(out, stamped(c.line(i), at, stamps))
			at += len(line)
		}
	}
}

// stamp is a time inside a cue, in milliseconds, at an offset into its text.
type stamp struct {
	at int
	ms int64
}

// stamps are the starts of the cue's words. WebVTT wants them behind the cue's start,
// in front of its end, and rising.
func (c cue) stamps() []stamp {
	var stamps []stamp
	last := millis(c.Start)
	for _, s := range align(c.Segment, 0) {
		if ms := millis(s.start); ms > last && ms < millis(c.End) {
			stamps = append(stamps, stamp{s.from, ms})
			last = ms
		}
	}
	return stamps
}

// stamped escapes a line, which starts at an offset into the cue, and puts the
// stamps in.
func stamped(line string, offset int, stamps []stamp) string {
	var b strings.Builder
	done := 0
	for _, s := range stamps {
		at := s.at - offset
		if at < 0 || at >= len(line) {
			continue
		}
		b.WriteString(vttEscape.Replace(line[done:at]))
		fmt.Fprintf(&b, "<%s>", clock(s.ms, '.'))
		done = at
	}
	b.WriteString(vttEscape.Replace(line[done:]))
	return b.String()
}
