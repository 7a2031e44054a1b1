package export

// Line breaking: a line is filled with as many whole words as fit, by display width;
// a word that is wider than a line is cut between grapheme clusters.

// fill returns the last point that a line starting at point i may reach: at least one
// character and the space behind it.
func (r ruler) fill(i, width int) int {
	reach, good := i+1, 0
	for j := i + 1; j < len(r.points); j++ {
		p := r.points[j]
		if p.ink-r.points[i].col > width && p.ink > r.points[i+1].ink {
			break
		}
		reach = j
		if p.kind > inside {
			good = j
		}
	}
	if good > 0 && reach < len(r.points)-1 {
		return good
	}
	return reach
}

// bonus is how far from the ideal place a cut may lie to be worth as much as one
// behind a plain space that is ideal, as a share of the ideal width.
var bonus = [...]float64{space: 0, clause: 0.4, sentence: 0.7}

// best returns the point from lo to hi that is the best place for a cut, ideally
// ideal columns behind point i, or 0 where no word ends. Places in the first half of
// the ideal width are not looked at.
func (r ruler) best(i, lo, hi, ideal int) int {
	best, least := 0, 0.0
	for j := lo; j <= hi; j++ {
		p := r.points[j]
		width := p.ink - r.points[i].col
		if p.kind < space || 2*width < ideal {
			continue
		}
		cost := float64(max(width-ideal, ideal-width)) - bonus[p.kind]*float64(ideal)
		if best == 0 || cost < least {
			best, least = j, cost
		}
	}
	return best
}

// middle returns the point at which to cut a segment in two, or 0 where its text is
// one word.
func (r ruler) middle() int {
	last := len(r.points) - 1
	half := r.points[last].ink / 2
	if at := r.best(0, 1, last-1, half); at > 0 {
		return at
	}
	// Nothing behind a quarter of the text: take what comes nearest.
	nearest := 0
	for j := 1; j < last; j++ {
		p := r.points[j]
		if p.kind >= between && (nearest == 0 || abs(p.ink-half) <= abs(r.points[nearest].ink-half)) {
			nearest = j
		}
	}
	return nearest
}

func abs(n int) int { return max(n, -n) }

// cue is a segment that fits the screen. The lines are its text, cut; spaces stay at
// the ends of the lines.
type cue struct {
	Segment
	lines []string
}

// line is a line as it is written.
func (c cue) line(i int) string {
	if i+1 < len(c.lines) {
		return written(c.lines[i], c.lines[i+1])
	}
	return written(c.lines[i], "")
}

// cues lays out a tidy segment: lines of at most width columns, at most most of them
// a cue. Where more is said, it becomes several cues, cut where a sentence or a clause
// ends if that is near. A label of that many bytes stands in front of the text.
func cues(s Segment, label, width, most int) []cue {
	if width <= 0 {
		return []cue{{s, []string{s.Text}}}
	}
	r := measure(s, label)
	last := len(r.points) - 1
	var out []cue
	for i := 0; i < last; {
		j := r.cueEnd(i, width, most)
		c := cue{Segment: r.part(i, j)}
		for _, end := range r.lines(i, j, width) {
			c.lines = append(c.lines, s.Text[r.points[i].at:r.points[end].at])
			i = end
		}
		out = append(out, c)
	}
	return out
}

// cueEnd is where the cue that starts at point i ends.
func (r ruler) cueEnd(i, width, most int) int {
	last := len(r.points) - 1
	if most <= 0 {
		return last
	}
	reach := i
	for n := 0; n < most && reach < last; n++ {
		reach = r.fill(reach, width)
	}
	if reach == last {
		return last
	}
	// As many cues as are needed share the rest evenly.
	full := max(1, r.points[reach].ink-r.points[i].col)
	rest := r.points[last].ink - r.points[i].col
	needed := (rest + full - 1) / full
	if at := r.best(i, i+1, reach, rest/needed); at > 0 {
		return at
	}
	return reach
}

// lines returns the ends of the lines from point i to point j. The last two are about
// equally long where words allow it.
func (r ruler) lines(i, j, width int) []int {
	var ends []int
	for i < j {
		end := min(r.fill(i, width), j)
		if end < j && r.fill(end, width) >= j {
			end = r.balance(i, end, j, width)
		}
		ends = append(ends, end)
		i = end
	}
	return ends
}

// balance returns where to cut the two lines from point i to point j, at most at hi.
func (r ruler) balance(i, hi, j, width int) int {
	lo := hi
	for lo > i+1 && r.points[j].ink-r.points[lo-1].col <= width {
		lo--
	}
	if at := r.best(i, lo, hi, (r.points[j].ink-r.points[i].col)/2); at > 0 {
		return at
	}
	return hi
}
