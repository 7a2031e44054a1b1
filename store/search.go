package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hit is a segment that was found. Its Words are not read.
type Hit struct {
	Segment
	// Snippet is the part of the text around what was found, with «…» at cut ends. Marks
	// are the places of what was found, in bytes of Snippet: start and end in turns.
	Snippet string
	Marks   []int
}

// Search finds segments that have all the words of a query, newest first, before the one
// with the id before (0 for all): the order needs no look at all that fits, and goes on
// from page to page. Case and accents do not count; "words in quotes" stand in this order, and a word with * at its end
// stands for all that begin with it. There is no other syntax, and no query is an error.
// Scripts without spaces between words are searched for the letters as they stand.
func (s *Store) Search(ctx context.Context, query string, before int64, limit int) ([]Hit, error) {
	hits := []Hit{}
	terms := parseQuery(query)
	if len(terms) == 0 {
		return hits, nil
	}
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		hits, err = searchRows(ctx, tx, terms, before, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", query, err)
	}
	return hits, nil
}

func searchRows(ctx context.Context, tx *sql.Tx, terms []term, before int64, limit int) ([]Hit, error) {
	from, snippet, where, id := "segments s", "s.text", "", "s.id"
	var match []string
	var args []any
	for _, t := range terms {
		if t.unspaced {
			where += " AND instr(s.text, ?) > 0"
			args = append(args, t.text)
		} else {
			match = append(match, t.fts())
		}
	}
	if len(match) > 0 {
		from = "segments_fts f JOIN segments s ON s.id = f.rowid"
		snippet = "snippet(segments_fts, 0, char(2), char(3), '…', 24)"
		where += " AND segments_fts MATCH ?"
		id = "f.rowid"
		args = append(args, strings.Join(match, " AND "))
	}
	if before > 0 {
		where += " AND " + id + " < ?"
		args = append(args, before)
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+segmentColumns+", "+snippet+" FROM "+from+
		" WHERE s.recording NOT IN (SELECT id FROM recordings WHERE state = 'deleting')"+where+
		" ORDER BY "+id+" DESC LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	hits := []Hit{}
	for rows.Next() {
		var text string
		seg, err := scanSegment(withMore{rows, &text})
		if err != nil {
			return nil, err
		}
		h := Hit{Segment: seg}
		if len(match) > 0 {
			h.Snippet, h.Marks = unmark(text)
		} else {
			h.Snippet, h.Marks = around(text, terms[0].text)
		}
		hits = append(hits, h)
	}
	return hits, rows.Err()
}

// withMore scans one column behind those asked for.
type withMore struct {
	scanner
	last *string
}

func (w withMore) Scan(dest ...any) error { return w.scanner.Scan(append(dest, w.last)...) }

// unmark takes the marks out of a snippet that FTS5 made: control characters, which no
// text of a tokenizer has.
func unmark(marked string) (snippet string, marks []int) {
	var b strings.Builder
	for _, r := range marked {
		if r == '\x02' || r == '\x03' {
			marks = append(marks, b.Len())
			continue
		}
		b.WriteRune(r)
	}
	return b.String(), marks
}

// around is the snippet where letters were searched for.
func around(text, part string) (snippet string, marks []int) {
	const before, behind = 30, 60 // characters
	at := strings.Index(text, part)
	if at < 0 {
		return text, nil
	}
	from, to := at, at+len(part)
	for n := 0; n < before && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	for n := 0; n < behind && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	head, tail := "", ""
	if from > 0 {
		head = "…"
	}
	if to < len(text) {
		tail = "…"
	}
	at += len(head) - from
	return head + text[from:to] + tail, []int{at, at + len(part)}
}

// term is a word, or words in quotes, of a query.
type term struct {
	text     string
	prefix   bool
	unspaced bool // of a script without spaces, which the index has no words of
}

// fts writes a term in FTS5's language, as a string: in there nothing has a meaning.
func (t term) fts() string {
	q := `"` + strings.ReplaceAll(t.text, `"`, `""`) + `"`
	if t.prefix {
		q += "*"
	}
	return q
}

func parseQuery(query string) []term {
	query = strings.Map(func(r rune) rune {
		if r == 0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(query, " "))
	var terms []term
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			terms = addTerm(terms, part)
			continue
		}
		for _, word := range strings.Fields(part) {
			terms = addTerm(terms, word)
		}
	}
	return terms
}

func addTerm(terms []term, text string) []term {
	text, prefix := strings.CutSuffix(strings.TrimSpace(text), "*")
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return terms // the index has no such word, and would find nothing
	}
	return append(terms, term{text, prefix, strings.ContainsFunc(text, isUnspaced)})
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
