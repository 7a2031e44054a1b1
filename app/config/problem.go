package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong, with the place where it stands.
type Problem struct {
	From   string // FILE:LINE, or a flag
	Key    string // "" where it belongs to none
	Value  string
	Reason string // what is allowed

	line int // 0 where it is in no file
}

func (p *Problem) Error() string {
	if p.Key == "" {
		return fmt.Sprintf("%s: %s", p.From, p.Reason)
	}
	return fmt.Sprintf("%s: %s %s: %s", p.From, p.Key, quote(p.Value), p.Reason)
}

// quote keeps messages in one line, and shorter than what somebody pasted by mistake.
func quote(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return strconv.Quote(text)
}

// Problems are all that was found wrong, in the order of the lines.
type Problems []*Problem

func (p Problems) Error() string {
	var lines []string
	for _, one := range p {
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "\n")
}

// byLine sorts what stands in one file.
func (p Problems) byLine() Problems {
	slices.SortStableFunc(p, func(a, b *Problem) int { return cmp.Compare(a.line, b.line) })
	return p
}

// orNil is the error, or none.
func (p Problems) orNil() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// unknown is the reason against a key that there is none of: it names the known key that looks most like name. Those of the same section win
// over equally near ones; one that is right but in the wrong section is found by its
// last part.
func unknown(in, name string) string {
	best, least := "", -1
	consider := func(candidate, how string, more int) {
		if d := distance(name, candidate) + more; least < 0 || d < least {
			best, least = how, d
		}
	}
	for _, k := range keys() {
		switch section, last := split(k.Name); section {
		case in:
			consider(last, strconv.Quote(last), 0)
		case "":
			consider(last, strconv.Quote(last)+" outside of all sections", 1)
		default:
			consider(last, fmt.Sprintf("%q in %s", last, section), 1)
			consider(k.Name, fmt.Sprintf("%q in %s", last, section), 1)
		}
	}
	for _, s := range sections() {
		consider(s.name, strconv.Quote(s.name), 0)
	}
	where := ""
	if in != "" {
		where = " in " + in
	}
	return fmt.Sprintf("unknown key %s%s; the nearest is %s", quote(name), where, best)
}

// split parts the name of a key from that of its section.
func split(name string) (section, last string) {
	if section, last, found := strings.Cut(name, "."); found {
		return section, last
	}
	return "", name
}

// distance is the number of letters to insert, delete or replace that makes b of a
// (Levenshtein).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			replace := diagonal
			if x[i] != y[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(y)]
}
