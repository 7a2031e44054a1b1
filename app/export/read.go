package export

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"
)

// Limits on what Read accepts, so that no file can take all memory. Forty hours of
// speech with word times are about 30 MB of json and 400 000 words.
var readLimits = limits{bytes: 64 << 20, segment: 4 << 20, items: 1_000_000}

type limits struct {
	bytes   int64
	segment int // bytes of one in json, where a word can be as short as {}
	items   int // segments, words and warnings together
}

// SyntaxError says what in a file could not be read.
type SyntaxError struct {
	Format  Format
	Line    int // counted from 1; 0 for the file as a whole
	Problem string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("read %s: %s", e.Format, e.Problem)
	}
	return fmt.Sprintf("read %s: line %d: %s", e.Format, e.Line, e.Problem)
}

// Read reads a transcript: srt, vtt, json, jsonl, tsv or lrc. It takes what others
// write too: any line ends, a byte-order mark, hours left out, numbers of cues left
// out, settings behind the times, blocks that are no cues, no line end at the end.
// Markup inside texts is removed. Segments come as they are in the file, so times may
// be out of order; Tidy and Write see to that.
//
// What was written and is read back is equal to the millisecond (lrc: 10 ms). Left
// behind are: in srt and vtt the cut of a segment into cues; in srt a word longer than
// a line, which comes back with a space where it was cut, and text that looks like
// markup; a speaker in srt, tsv and lrc, who stays in the text; in all but json and
// jsonl everything but times, text, speaker and title.
//
// What can't be read is a *SyntaxError; other errors are r's.
func Read(r io.Reader, f Format) (Transcript, error) { return read(r, f, readLimits) }

func read(r io.Reader, f Format, most limits) (Transcript, error) {
	parse, ok := parsers[f]
	if !ok {
		return Transcript{}, fmt.Errorf("%s transcripts can be written only, not read", f)
	}
	data, err := io.ReadAll(io.LimitReader(r, most.bytes+1))
	if err != nil {
		return Transcript{}, fmt.Errorf("read %s: %w", f, err)
	}
	if int64(len(data)) > most.bytes {
		return Transcript{}, &SyntaxError{f, 0, fmt.Sprintf("more than %d bytes", most.bytes)}
	}
	p := parser{format: f, most: most, data: bytes.TrimPrefix(data, []byte("\uFEFF"))}
	if err := p.checkUTF8(); err != nil {
		return Transcript{}, err
	}
	if err := parse(&p); err != nil {
		return Transcript{}, err
	}
	if p.Duration <= 0 {
		for _, s := range p.Segments {
			p.Duration = max(p.Duration, s.End)
		}
	}
	return p.Transcript, nil
}

var parsers = map[Format]func(*parser) error{
	SRT: parseCues, VTT: parseCues, JSON: parseJSON, JSONL: parseJSONL, TSV: parseTSV, LRC: parseLRC,
}

// parser is the state that all formats share: what is read, and what it says so far.
type parser struct {
	Transcript
	format Format
	most   limits
	data   []byte
	items  int

	counted int64 // bytes of data that lineAt has looked at
	feeds   int   // line feeds in them
}

// add takes a segment over unless it has no text.
func (p *parser) add(line int, s Segment) error {
	if s.Text = clean(s.Text); s.Text == "" {
		return nil
	}
	if err := p.count(line, 1+len(s.Words)); err != nil {
		return err
	}
	p.Segments = append(p.Segments, s)
	return nil
}

// count counts what takes memory.
func (p *parser) count(line, items int) error {
	if p.items += items; p.items > p.most.items {
		return p.errorf(line, "more than %d segments and words", p.most.items)
	}
	return nil
}

func (p *parser) errorf(line int, format string, args ...any) error {
	return &SyntaxError{p.format, line, fmt.Sprintf(format, args...)}
}

func (p *parser) checkUTF8() error {
	if utf8.Valid(p.data) {
		return nil
	}
	for n, line := range p.lines() {
		if !utf8.ValidString(line) {
			return p.errorf(n, "not UTF-8")
		}
	}
	return nil
}

// lines yields the lines with their numbers. They end with LF, CR LF or CR.
func (p *parser) lines() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		rest := p.data
		for n := 1; len(rest) > 0; n++ {
			end, next := len(rest), len(rest)
			if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
				end, next = i, i+1
				if bytes.HasPrefix(rest[i:], []byte("\r\n")) {
					next++
				}
			}
			if !yield(n, string(rest[:end])) {
				return
			}
			rest = rest[next:]
		}
	}
}

// excerpt is the beginning of a line, for messages.
func excerpt(line string) string {
	const most = 60
	if utf8.RuneCountInString(line) > most {
		line = string([]rune(line)[:most]) + "…"
	}
	return line
}
