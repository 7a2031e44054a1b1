package export

import (
	"fmt"
	"strings"
)

// Format is a kind of file. Its text is the usual ending of the file's name.
type Format string

const (
	TXT   Format = "txt"   // one segment a line, no times
	SRT   Format = "srt"   // SubRip subtitles
	VTT   Format = "vtt"   // WebVTT captions
	JSON  Format = "json"  // everything, as one document
	JSONL Format = "jsonl" // one segment a line, each as in json
	TSV   Format = "tsv"   // start and end in ms, text; tabs between
	LRC   Format = "lrc"   // lyrics
	MD    Format = "md"    // Markdown: paragraphs for reading
)

// Formats lists all formats.
func Formats() []Format { return []Format{TXT, SRT, VTT, JSON, JSONL, TSV, LRC, MD} }

// aliases are other names that people use.
var aliases = map[string]Format{
	"text": TXT, "subrip": SRT, "webvtt": VTT, "verbose_json": JSON, "ndjson": JSONL, "markdown": MD,
}

// ParseFormat finds a format by its name or by the ending of a file's name, in any
// case, with or without a dot.
func ParseFormat(name string) (Format, error) {
	short := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "."))
	if f, ok := aliases[short]; ok {
		return f, nil
	}
	var known []string
	for _, f := range Formats() {
		if string(f) == short {
			return f, nil
		}
		known = append(known, string(f))
	}
	return "", fmt.Errorf("unknown transcript format %q; known are %s", name, strings.Join(known, ", "))
}

// MediaType is the format's Content-Type in HTTP.
func (f Format) MediaType() string {
	switch f {
	case SRT:
		return "application/x-subrip; charset=utf-8"
	case VTT:
		return "text/vtt; charset=utf-8"
	case JSON:
		return "application/json"
	case JSONL:
		return "application/x-ndjson"
	case TSV:
		return "text/tab-separated-values; charset=utf-8"
	case MD:
		return "text/markdown; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}
