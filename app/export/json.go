package export

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// jsonTranscript has the keys that the package comment explains.
type jsonTranscript struct {
	Task     string        `json:"task,omitempty"`
	Title    string        `json:"title,omitempty"`
	Language string        `json:"language,omitempty"`
	Duration seconds       `json:"duration"`
	Model    string        `json:"model,omitempty"`
	Created  string        `json:"created,omitempty"`
	Coverage *number       `json:"coverage,omitempty"`
	Warnings []jsonWarning `json:"warnings,omitempty"`
	Text     string        `json:"text"`
	Segments []jsonSegment `json:"segments"` // the last key: see jsonEncoder.end
}

type jsonWarning struct {
	Start seconds `json:"start"`
	End   seconds `json:"end"`
	Text  string  `json:"text"`
}

type jsonSegment struct {
	ID       int      `json:"id"`
	Start    seconds  `json:"start"`
	End      seconds  `json:"end"`
	Text     string   `json:"text"`
	Language string   `json:"language,omitempty"`
	Speaker  string   `json:"speaker,omitempty"`
	Notes    []string `json:"notes,omitempty"`

	AvgLogProb       *number `json:"avg_logprob,omitempty"`
	NoSpeechProb     *number `json:"no_speech_prob,omitempty"`
	CompressionRatio *number `json:"compression_ratio,omitempty"`
	Temperature      *number `json:"temperature,omitempty"`

	Words []jsonWord `json:"words,omitempty"`
}

type jsonWord struct {
	Word        string  `json:"word"`
	Start       seconds `json:"start"`
	End         seconds `json:"end"`
	Probability number  `json:"probability"`
}

// seconds are written with three decimals.
type seconds float64

// MarshalJSON rounds to milliseconds.
func (s seconds) MarshalJSON() ([]byte, error) {
	ms := millis(float64(s))
	return fmt.Appendf(nil, "%d.%03d", ms/1000, ms%1000), nil
}

// number may be what JSON has no word for.
type number float64

// MarshalJSON writes NaN and the infinities as null.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 64), nil
}

// jsonEncoder keeps everything until the end: text stands in front of the segments.
type jsonEncoder struct {
	doc      jsonTranscript // without segments
	segments []jsonSegment
	texts    []string
}

func (e *jsonEncoder) begin(_ *bufio.Writer, head Transcript) {
	e.doc = jsonTranscript{Task: head.Task, Title: head.Title, Model: head.Model, Segments: []jsonSegment{}}
	if !head.Created.IsZero() {
		e.doc.Created = head.Created.Format(time.RFC3339)
	}
	e.update(head)
}

// update is Writer.Update.
func (e *jsonEncoder) update(known Transcript) {
	e.doc.Language = cmp.Or(known.Language, e.doc.Language)
	if known.Duration > 0 {
		e.doc.Duration = seconds(min(known.Duration, maxSeconds))
	}
	if known.Coverage != nil {
		e.doc.Coverage = (*number)(known.Coverage)
	}
	if len(known.Warnings) > 0 {
		e.doc.Warnings = nil
	}
	for _, w := range known.Warnings {
		start, end := order(w.Start, w.End, 0, limit(float64(e.doc.Duration)))
		e.doc.Warnings = append(e.doc.Warnings, jsonWarning{seconds(start), seconds(end), clean(w.Text)})
	}
}

func (e *jsonEncoder) segment(_ *bufio.Writer, s Segment) {
	e.segments = append(e.segments, toJSON(len(e.segments), s))
	e.texts = append(e.texts, s.Text)
}

// end writes one segment a line: that is half the size of one value a line, and still
// good to look at.
func (e *jsonEncoder) end(out *bufio.Writer) {
	e.doc.Text = joined(e.texts)
	out.Write(bytes.TrimSuffix(encodeJSON(e.doc), []byte("]}")))
	for i, s := range e.segments {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(encodeJSON(s))
	}
	out.WriteString("\n]}\n")
}

func toJSON(id int, s Segment) jsonSegment {
	j := jsonSegment{
		ID: id, Start: seconds(s.Start), End: seconds(s.End), Text: s.Text,
		Language: s.Language, Speaker: s.Speaker, Notes: s.Notes,
	}
	if d := s.Decoding; d != nil {
		j.AvgLogProb, j.NoSpeechProb = (*number)(&d.AvgLogProb), (*number)(&d.NoSpeechProb)
		j.CompressionRatio, j.Temperature = (*number)(&d.CompressionRatio), (*number)(&d.Temperature)
	}
	for _, w := range s.Words {
		j.Words = append(j.Words, jsonWord{w.Text, seconds(w.Start), seconds(w.End), number(w.Probability)})
	}
	return j
}

// jsonlEncoder writes each segment as soon as it comes.
type jsonlEncoder struct{ count int }

func (*jsonlEncoder) begin(*bufio.Writer, Transcript) {}
func (*jsonlEncoder) end(*bufio.Writer)               {}
func (e *jsonlEncoder) segment(out *bufio.Writer, s Segment) {
	out.Write(encodeJSON(toJSON(e.count, s)))
	out.WriteByte('\n')
	e.count++
}

// encodeJSON is json.Marshal that leaves <, > and & as they are. What is written here
// has no values that could be refused.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("BUG: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
