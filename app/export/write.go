package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
)

// Options say how a transcript is written. The zero value is the usual way.
type Options struct {
	// Width is how many display columns a line of a cue may have (srt, vtt): 0 is 42,
	// below 0 is one line.
	Width int
	// Lines is how many lines a cue may have (srt, vtt): 0 is 2, below 0 is any number.
	// A segment with more becomes several cues.
	Lines int
	// Longest is how many seconds a segment may last: see Tidy.
	Longest float64
	// WordTimes puts the start of every word into vtt.
	WordTimes bool
}

// Write writes a whole transcript.
func Write(w io.Writer, f Format, t Transcript, opts Options) error {
	out, err := NewWriter(w, f, t, opts)
	if err != nil {
		return err
	}
	for _, s := range t.Segments {
		out.add(s)
	}
	return out.Close()
}

// Writer writes a transcript segment by segment, for a recording that goes on. What
// has been written is the beginning of what Write would write at the end, except for
// json, which is written in Close, and the last line of lrc. It is not safe for
// concurrent use.
type Writer struct {
	out    *bufio.Writer
	format Format
	tidy   *tidier
	enc    encoder
}

// encoder is one format. Errors of out stick until it is flushed.
type encoder interface {
	begin(out *bufio.Writer, head Transcript)
	// segment writes a tidy segment.
	segment(out *bufio.Writer, s Segment)
	end(out *bufio.Writer)
}

// NewWriter writes what stands in front of the segments. It does not look at those
// of head. Where head's Duration is 0, times have no upper end.
func NewWriter(w io.Writer, f Format, head Transcript, opts Options) (*Writer, error) {
	enc, err := newEncoder(f, opts)
	if err != nil {
		return nil, err
	}
	out := &Writer{bufio.NewWriter(w), f, newTidier(head.Duration, opts.Longest), enc}
	head.Title = clean(head.Title)
	enc.begin(out.out, head)
	return out, nil
}

func newEncoder(f Format, opts Options) (encoder, error) {
	width, lines := cmp.Or(opts.Width, 42), cmp.Or(opts.Lines, 2)
	switch f {
	case TXT:
		return txtEncoder{}, nil
	case SRT:
		return &srtEncoder{width: width, lines: lines}, nil
	case VTT:
		return vttEncoder{width, lines, opts.WordTimes}, nil
	case JSON:
		return &jsonEncoder{}, nil
	case JSONL:
		return &jsonlEncoder{}, nil
	case TSV:
		return tsvEncoder{}, nil
	case LRC:
		return &lrcEncoder{}, nil
	case MD:
		return &mdEncoder{}, nil
	}
	_, err := ParseFormat(string(f))
	return nil, err
}

// Update takes over from known what has become known of the recording since NewWriter:
// Language, Duration, Coverage and Warnings, where they are set. Segments that follow
// end by the new Duration; json tells all of it, in Close.
func (w *Writer) Update(known Transcript) {
	if known.Duration > 0 {
		w.tidy.duration = limit(known.Duration)
	}
	if e, ok := w.enc.(*jsonEncoder); ok {
		e.update(known)
	}
}

// Append writes a segment, in its tidy form, and hands on all that is written.
func (w *Writer) Append(s Segment) error {
	w.add(s)
	return w.flush()
}

func (w *Writer) add(s Segment) {
	for _, part := range w.tidy.add(s) {
		w.enc.segment(w.out, part)
	}
}

// Close writes what stands behind the segments. It does not close the io.Writer.
func (w *Writer) Close() error {
	w.enc.end(w.out)
	return w.flush()
}

func (w *Writer) flush() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", w.format, err)
	}
	return nil
}

// txtEncoder writes one segment a line.
type txtEncoder struct{}

func (txtEncoder) begin(*bufio.Writer, Transcript) {}
func (txtEncoder) end(*bufio.Writer)               {}
func (txtEncoder) segment(out *bufio.Writer, s Segment) {
	fmt.Fprintln(out, labelled(s.Speaker, s.Text))
}

// tsvEncoder writes milliseconds and text. Tidy text holds no tabs.
type tsvEncoder struct{}

const tsvHeader = "start\tend\ttext"

func (tsvEncoder) begin(out *bufio.Writer, _ Transcript) { fmt.Fprintln(out, tsvHeader) }
func (tsvEncoder) end(*bufio.Writer)                     {}
func (tsvEncoder) segment(out *bufio.Writer, s Segment) {
	fmt.Fprintf(out, "%d\t%d\t%s\n", millis(s.Start), millis(s.End), labelled(s.Speaker, s.Text))
}

// srtEncoder writes SubRip: a number, a line of times, the text, a blank line.
type srtEncoder struct{ width, lines, cues int }

func (*srtEncoder) begin(*bufio.Writer, Transcript) {}
func (*srtEncoder) end(*bufio.Writer)               {}
func (e *srtEncoder) segment(out *bufio.Writer, s Segment) {
	text := s.Text
	s.Text = labelled(s.Speaker, text)
	for _, c := range cues(s, len(s.Text)-len(text), e.width, e.lines) {
		e.cues++
		fmt.Fprintf(out, "%d\n%s --> %s\n", e.cues, clock(millis(c.Start), ','), clock(millis(c.End), ','))
		for i := range c.lines {
			fmt.Fprintln(out, c.line(i))
		}
		fmt.Fprintln(out)
	}
}
