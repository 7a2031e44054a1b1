package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// maxAlignCells bounds the table of WriteAlignment: 64 MiB, about 8000 by 8000 words.
const maxAlignCells = 1 << 26

// alignColumns is the width at which WriteAlignment starts a new block of lines.
const alignColumns = 96

// WriteAlignment shows where a transcript differs from its reference, both
// normalised: the words one above the other, and below each pair S, I or D for a
// substitution, insertion or deletion.
//
//	ref  the *** cat sat on
//	hyp  the hat has sat **
//	         I   S       D
//
// The alignment is one of those that Errors counts.
func WriteAlignment(w io.Writer, reference, hypothesis, language string) error {
	ref, hyp := Words(reference, language), Words(hypothesis, language)
	if (len(ref)+1)*(len(hyp)+1) > maxAlignCells {
		return fmt.Errorf("align %d with %d words: too long", len(ref), len(hyp))
	}
	var lines [3]strings.Builder
	used := 0
	flush := func() error {
		for i, name := range []string{"ref ", "hyp ", "    "} {
			if _, err := fmt.Fprintln(w, strings.TrimRight(name+lines[i].String(), " ")); err != nil {
				return err
			}
			lines[i].Reset()
		}
		used = 0
		return nil
	}
	for _, p := range align(ref, hyp) {
		columns := max(textWidth(p.ref), textWidth(p.hyp))
		if used > 0 && used+columns+1 > alignColumns {
			if err := flush(); err != nil {
				return err
			}
		}
		for i, cell := range []string{p.ref, p.hyp, p.mark()} {
			if cell == "" && i < 2 {
				cell = strings.Repeat("*", columns)
			}
			lines[i].WriteString(" " + cell + strings.Repeat(" ", columns-textWidth(cell)))
		}
		used += columns + 1
	}
	return flush()
}

// pair is one step of an alignment; the side that has no word is empty.
type pair struct{ ref, hyp string }

func (p pair) mark() string {
	switch {
	case p.ref == p.hyp:
		return ""
	case p.ref == "":
		return "I"
	case p.hyp == "":
		return "D"
	}
	return "S"
}

// align returns the best alignment under editOf's costs, going back from the end
// through a table of the last step to every cell.
func align(ref, hyp []string) []pair {
	const (
		both = iota
		onlyRef
		onlyHyp
	)
	stride := len(hyp) + 1
	steps := make([]byte, (len(ref)+1)*stride)
	row := make([]int64, stride)
	for j := range row {
		row[j], steps[j] = int64(j)*costGap, onlyHyp
	}
	for i, x := range ref {
		diagonal := row[0]
		row[0] = int64(i+1) * costGap
		steps[(i+1)*stride] = onlyRef
		for j, y := range hyp {
			best, step := diagonal, byte(both)
			if x != y {
				best += costSubstitute
			}
			if c := row[j+1] + costGap; c < best {
				best, step = c, onlyRef
			}
			if c := row[j] + costGap; c < best {
				best, step = c, onlyHyp
			}
			diagonal, row[j+1] = row[j+1], best
			steps[(i+1)*stride+j+1] = step
		}
	}
	pairs := make([]pair, 0, max(len(ref), len(hyp)))
	for i, j := len(ref), len(hyp); i > 0 || j > 0; {
		var p pair
		step := steps[i*stride+j]
		if step != onlyHyp {
			i--
			p.ref = ref[i]
		}
		if step != onlyRef {
			j--
			p.hyp = hyp[j]
		}
		pairs = append(pairs, p)
	}
	slices.Reverse(pairs)
	return pairs
}

// textWidth is the number of terminal columns: two for East Asian wide characters,
// none for marks.
func textWidth(s string) int {
	columns := 0
	for _, r := range s {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.Is(unicode.Mn, r):
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			columns += 2
		default:
			columns++
		}
	}
	return columns
}
