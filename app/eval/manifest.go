package eval

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Row is one clip of a manifest.
type Row struct {
	Path      string  // as written: relative paths are relative to the manifest's folder
	Reference string  // what is spoken; empty for a clip without speech
	Language  string  // language tag such as "en" or "pt-BR"; empty when unknown
	Seconds   float64 // length as the manifest has it; 0 when unknown
}

// maxLineBytes bounds one manifest line, so that a wrong file (a recording, say)
// costs a mebibyte and an error instead of its whole size.
const maxLineBytes = 1 << 20

// ReadManifest reads a tab-separated manifest. The first line names the columns, in
// any order: path and reference must be there, language and seconds are used when
// present, others are skipped. Fields are taken as written: quotes are letters like
// any other. Empty lines, a byte-order mark and CRLF line ends are accepted; so is
// a line that ends early, as long as path and reference are there. A language of
// "-" reads as unknown.
//
// The first thing wrong ends the reading with an error that starts with name and
// the line number. A manifest with a header and no rows is not an error.
func ReadManifest(r io.Reader, name string) ([]Row, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLineBytes)
	var (
		cols *columns
		rows []Row
		line int
	)
	for lines.Scan() {
		line++
		text := lines.Text()
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("%s:%d: not UTF-8 text", name, line)
		}
		fields := strings.Split(text, "\t")
		if cols == nil {
			c, err := parseHeader(fields)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
			cols = &c
			continue
		}
		row, err := cols.row(fields)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		rows = append(rows, row)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: line longer than %d bytes", name, line+1, maxLineBytes)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	case cols == nil:
		return nil, fmt.Errorf("%s:1: empty, want a header line with path and reference", name)
	}
	return rows, nil
}

// columns holds the index of each known column, −1 where the header lacks it.
type columns struct {
	path, reference, language, seconds int
	count                              int
}

func parseHeader(names []string) (columns, error) {
	c := columns{count: len(names)}
	for _, known := range []struct {
		name     string
		index    *int
		required bool
	}{
		{"path", &c.path, true},
		{"reference", &c.reference, true},
		{"language", &c.language, false},
		{"seconds", &c.seconds, false},
	} {
		*known.index = slices.Index(names, known.name)
		switch i := *known.index; {
		case i < 0 && known.required:
			return c, fmt.Errorf("header has no column %q (columns are separated by tabs)", known.name)
		case i >= 0 && slices.Contains(names[i+1:], known.name):
			return c, fmt.Errorf("header has column %q twice", known.name)
		}
	}
	return c, nil
}

func (c *columns) row(fields []string) (Row, error) {
	if need := max(c.path, c.reference) + 1; len(fields) < need {
		return Row{}, fmt.Errorf("%d fields, want at least %d (separated by tabs)", len(fields), need)
	}
	for i := c.count; i < len(fields); i++ {
		if strings.TrimSpace(fields[i]) != "" {
			return Row{}, fmt.Errorf("%d fields, the header names %d", len(fields), c.count)
		}
	}
	optional := func(i int) string {
		if i < 0 || i >= len(fields) {
			return ""
		}
		return strings.TrimSpace(fields[i])
	}
	row := Row{Path: fields[c.path], Reference: strings.TrimSpace(fields[c.reference])}
	if strings.TrimSpace(row.Path) == "" {
		return Row{}, errors.New("empty path")
	}
	if row.Language = optional(c.language); row.Language == "-" {
		row.Language = ""
	}
	if s := optional(c.seconds); s != "" {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return Row{}, fmt.Errorf("seconds is %.40q, want a number ≥ 0", s)
		}
		row.Seconds = v
	}
	return row, nil
}
