package eval

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// WriteTable writes the report for people: one line a figure, the worst clip beside
// the mean. Figures the caller has not set are left out.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t, name+"\t"+format+"\n", args...)
	}
	e := r.score.WordEdit
	line("model", "%s", r.Model)
	line("clips", "%d", r.Clips)
	line("words", "%d", r.Words)
	line("errors", "%d (%d substituted, %d inserted, %d deleted)", r.Errors, e.Substitutions, e.Insertions, e.Deletions)
	line("WER", "%s", percent(r.WER))
	line("CER", "%s", percent(r.CER))
	if c := r.Worst(); c != nil {
		line("worst clip", "%s  %s", c.rate(), c.Path)
	}
	if r.Runaway > 0 {
		line("runaway", "clips with far too long a text: %d", r.Runaway)
	}
	for _, d := range r.Differences {
		line("difference", "%+.2f points to %s (95 %%: %+.2f … %+.2f)", 100*d.WER, d.Against, 100*d.Low, 100*d.High)
	}
	line("audio", "%s", roundSeconds(r.AudioSeconds))
	if r.LoadMS > 0 {
		line("load", "%.0f ms", r.LoadMS)
	}
	if r.RTF != nil && r.WallSeconds > 0 {
		line("time", "%s (%.3f × real time)", roundSeconds(r.WallSeconds), *r.RTF)
	}
	if r.EncodeMS > 0 && r.Clips > 0 {
		line("encoder", "%.0f ms a clip", r.EncodeMS/float64(r.Clips))
	}
	if r.DecodeMS > 0 && r.Tokens > 0 {
		line("decoder", "%.2f ms a token, %d tokens", r.DecodeMS/float64(r.Tokens), r.Tokens)
	}
	if r.PeakRSSBytes > 0 {
		line("peak memory", "%.0f MB", float64(r.PeakRSSBytes)/1e6)
	}
	return t.Flush()
}

// rate is the clip's word error rate as people read it.
func (c *Result) rate() string {
	if c.Words == 0 {
		return fmt.Sprintf("%d words where the reference has none", c.Errors)
	}
	return fmt.Sprintf("%s (%d of %d words)", percent(rate(float64(c.Errors), float64(c.Words))), c.Errors, c.Words)
}

func percent(rate *float64) string {
	if rate == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100**rate)
}

func roundSeconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond)
}
