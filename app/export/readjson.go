package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// parseJSON reads a document of this package, of OpenAI's API, or of the reference
// implementation of Whisper, one segment at a time.
func parseJSON(p *parser) error {
	if err := json.Unmarshal(p.data, &ignored{}); err != nil {
		return p.jsonError(0, err)
	}
	dec := json.NewDecoder(bytes.NewReader(p.data))
	if first, _ := dec.Token(); first != json.Delim('{') {
		return p.errorf(p.lineAt(dec.InputOffset()), "want a JSON object")
	}
	var doc jsonTranscript
	fields := map[any]any{
		"task": &doc.Task, "title": &doc.Title, "language": &doc.Language, "duration": &doc.Duration,
		"model": &doc.Model, "created": &doc.Created, "coverage": &doc.Coverage, "text": &doc.Text,
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return p.jsonError(dec.InputOffset(), err)
		}
		switch key {
		case "segments":
			err = p.jsonList(dec, p.jsonSegment)
		case "warnings":
			err = p.jsonList(dec, p.jsonWarning)
		default:
			field, known := fields[key]
			if !known {
				field = &ignored{}
			}
			err = p.decode(dec, field)
		}
		if err != nil {
			return err
		}
	}
	return p.take(doc)
}

// take takes over what is not in a list.
func (p *parser) take(doc jsonTranscript) error {
	p.Task, p.Title, p.Language, p.Model = doc.Task, doc.Title, doc.Language, doc.Model
	p.Duration, p.Coverage = float64(doc.Duration), (*float64)(doc.Coverage)
	if created, err := time.Parse(time.RFC3339, doc.Created); err == nil {
		p.Created = created
	}
	if len(p.Segments) == 0 { // OpenAI's plain json is text only
		return p.add(1, Segment{End: p.Duration, Text: doc.Text})
	}
	return nil
}

func parseJSONL(p *parser) error {
	for n, line := range p.lines() {
		if len(bytes.TrimSpace([]byte(line))) == 0 {
			continue
		}
		if err := p.jsonSegment(n, []byte(line)); err != nil {
			return err
		}
	}
	return nil
}

// jsonList reads a list, value by value; null is an empty one.
func (p *parser) jsonList(dec *json.Decoder, each func(line int, value []byte) error) error {
	open, err := dec.Token()
	if open == nil && err == nil {
		return nil
	}
	if open != json.Delim('[') {
		return p.errorf(p.lineAt(dec.InputOffset()), "want a list")
	}
	for dec.More() {
		line := p.lineAt(p.valueAt(dec))
		var value json.RawMessage
		if err := p.decode(dec, &value); err != nil {
			return err
		}
		if err := each(line, value); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

func (p *parser) jsonSegment(line int, value []byte) error {
	if len(value) > p.most.segment {
		return p.errorf(line, "a segment of more than %d bytes", p.most.segment)
	}
	var j jsonSegment
	if err := json.Unmarshal(value, &j); err != nil {
		return p.valueError(line, value, err)
	}
	s := Segment{
		Start: float64(j.Start), End: float64(j.End), Text: j.Text,
		Language: j.Language, Speaker: clean(j.Speaker), Notes: j.Notes,
	}
	if j.AvgLogProb != nil || j.NoSpeechProb != nil || j.CompressionRatio != nil || j.Temperature != nil {
		s.Decoding = &Decoding{j.AvgLogProb.value(), j.NoSpeechProb.value(), j.CompressionRatio.value(), j.Temperature.value()}
	}
	for _, w := range j.Words {
		s.Words = append(s.Words, Word{float64(w.Start), float64(w.End), clean(w.Word), float64(w.Probability)})
	}
	return p.add(line, s)
}

func (p *parser) jsonWarning(line int, value []byte) error {
	var w jsonWarning
	if err := json.Unmarshal(value, &w); err != nil {
		return p.valueError(line, value, err)
	}
	p.Warnings = append(p.Warnings, Warning{float64(w.Start), float64(w.End), clean(w.Text)})
	return p.count(line, 1)
}

// decode reads the next value into v.
func (p *parser) decode(dec *json.Decoder, v any) error {
	at := p.valueAt(dec)
	if err := dec.Decode(v); err != nil {
		return p.jsonError(at, err)
	}
	return nil
}

// valueAt is the offset of the value that comes next.
func (p *parser) valueAt(dec *json.Decoder) int64 {
	at := dec.InputOffset()
	rest := p.data[at:]
	return at + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,:")))
}

// valueError is for a value that starts in a line and has no other fault than a type.
func (p *parser) valueError(line int, value []byte, err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		line += bytes.Count(value[:min(e.Offset, int64(len(value)))], []byte("\n"))
	}
	return p.errorf(line, "%s", plain(err))
}

func (p *parser) jsonError(at int64, err error) error {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = e.Offset
	}
	return p.errorf(p.lineAt(at), "%s", plain(err))
}

// plain drops the names of packages and types of Go from an error of encoding/json.
func plain(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if e.Field != "" {
			return e.Field + ": unexpected " + e.Value
		}
		return "unexpected " + e.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// lineAt is the number of the line that an offset lies in. It goes on from the offset
// before, which must not be larger.
func (p *parser) lineAt(offset int64) int {
	offset = max(p.counted, min(offset, int64(len(p.data))))
	p.feeds += bytes.Count(p.data[p.counted:offset], []byte("\n"))
	p.counted = offset
	return p.feeds + 1
}

// ignored takes any value and keeps nothing of it.
type ignored struct{}

func (*ignored) UnmarshalJSON([]byte) error { return nil }

func (n *number) value() float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}
