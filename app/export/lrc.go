package export

import (
	"bufio"
	"fmt"
	"strings"
)

// lrcEncoder writes lyrics: [mm:ss.xx] and a line. The format has no ends: a time
// without text stands where nothing is said for a while, and at the end.
type lrcEncoder struct {
	begun bool
	until int64 // ms: the last end
}

// lrcTag drops the last digit of whole milliseconds, so that no time lies behind the
// end of the recording.
func lrcTag(ms int64) string {
	return fmt.Sprintf("[%02d:%02d.%02d]", ms/60_000, ms/1000%60, ms/10%100)
}

func (*lrcEncoder) begin(out *bufio.Writer, head Transcript) {
	if head.Title != "" {
		fmt.Fprintf(out, "[ti:%s]\n", head.Title)
	}
}

func (e *lrcEncoder) segment(out *bufio.Writer, s Segment) {
	start := millis(s.Start)
	if e.begun && start > e.until {
		fmt.Fprintln(out, lrcTag(e.until))
	}
	text := labelled(s.Speaker, s.Text)
	if strings.HasPrefix(text, "[") {
		text = " " + text // not to be taken for one more time
	}
	fmt.Fprintln(out, lrcTag(start)+text)
	e.begun, e.until = true, max(e.until, millis(s.End))
}

func (e *lrcEncoder) end(out *bufio.Writer) {
	if e.begun {
		fmt.Fprintln(out, lrcTag(e.until))
	}
}
