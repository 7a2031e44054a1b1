package export

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func parseTSV(p *parser) error {
	first := true
	for n, line := range p.lines() {
		if strings.TrimSpace(line) == "" {
			continue
		}
		fields := strings.SplitN(line, "\t", 3)
		if first && strings.EqualFold(strings.TrimSpace(fields[0]), "start") {
			first = false
			continue
		}
		first = false
		if len(fields) < 3 {
			return p.errorf(n, "want start, end and text with tabs between, found %q", excerpt(line))
		}
		start, err := strconv.ParseInt(strings.TrimSpace(fields[0]), 10, 64)
		end, err2 := strconv.ParseInt(strings.TrimSpace(fields[1]), 10, 64)
		if err != nil || err2 != nil {
			return p.errorf(n, "times not understood: %q; want two whole numbers of milliseconds", excerpt(line))
		}
		s := Segment{Start: float64(start) / 1000, End: float64(end) / 1000, Text: fields[2]}
		if err := p.add(n, s); err != nil {
			return err
		}
	}
	return nil
}

var (
	lrcTime = regexp.MustCompile(`^\[(\d+:\d\d(?:[.:]\d{1,3})?)\]`)
	lrcName = regexp.MustCompile(`^\[([A-Za-z#]+):([^\n]*)\]\s*$`)
	lrcWord = regexp.MustCompile(`<\d+:\d\d(?:[.:]\d{1,3})?>`)
)

// lyric is a line of lrc. One without text is an end.
type lyric struct {
	line int
	ms   int64
	text string
}

func parseLRC(p *parser) error {
	var lyrics []lyric
	shift := int64(0) // ms earlier, for all lines
	for n, line := range p.lines() {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if name := lrcName.FindStringSubmatch(line); name != nil {
			switch value := strings.TrimSpace(name[2]); strings.ToLower(name[1]) {
			case "ti":
				p.Title = clean(value)
			case "offset":
				ms, err := strconv.ParseInt(value, 10, 32)
				if err != nil {
					return p.errorf(n, "offset not understood: %q; want a whole number of milliseconds", excerpt(value))
				}
				shift = ms
			}
			continue
		}
		found, err := p.lyrics(n, line)
		if err != nil {
			return err
		}
		if lyrics = append(lyrics, found...); len(lyrics) > p.most.items {
			return p.errorf(n, "more than %d lines", p.most.items)
		}
	}
	return p.addLyrics(lyrics, shift)
}

// lyrics reads a line, which is sung at each of the times in front of it.
func (p *parser) lyrics(n int, line string) ([]lyric, error) {
	var found []lyric
	for {
		t := lrcTime.FindStringSubmatch(line)
		if t == nil {
			break
		}
		at := t[1]
		if strings.Count(at, ":") == 2 { // mm:ss:xx
			i := strings.LastIndex(at, ":")
			at = at[:i] + "." + at[i+1:]
		}
		ms, ok := parseClock(at)
		if !ok {
			return nil, p.errorf(n, "time not understood: %q", excerpt(t[0]))
		}
		found = append(found, lyric{line: n, ms: ms})
		line = line[len(t[0]):]
	}
	if len(found) == 0 {
		return nil, p.errorf(n, "no time in front of %q; want [mm:ss.xx]", excerpt(line))
	}
	text := clean(lrcWord.ReplaceAllString(line, ""))
	for i := range found {
		found[i].text = text
	}
	return found, nil
}

// addLyrics puts lines in order. Each ends where the next begins.
func (p *parser) addLyrics(lyrics []lyric, shift int64) error {
	slices.SortStableFunc(lyrics, func(a, b lyric) int { return cmp.Compare(a.ms, b.ms) })
	for i, l := range lyrics {
		end := l.ms
		if i+1 < len(lyrics) {
			end = lyrics[i+1].ms
		}
		start, end := max(0, l.ms-shift), max(0, end-shift)
		s := Segment{Start: float64(start) / 1000, End: float64(end) / 1000, Text: l.text}
		if err := p.add(l.line, s); err != nil {
			return err
		}
	}
	return nil
}
