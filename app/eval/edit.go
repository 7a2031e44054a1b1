package eval

// Edit counts the edits that turn a reference into a hypothesis.
type Edit struct {
	Substitutions, Insertions, Deletions int
}

// Total is the number of errors.
func (e Edit) Total() int { return e.Substitutions + e.Insertions + e.Deletions }

func (e Edit) plus(f Edit) Edit {
	return Edit{e.Substitutions + f.Substitutions, e.Insertions + f.Insertions, e.Deletions + f.Deletions}
}

// Errors aligns two word sequences with the fewest errors (Levenshtein distance)
// and, among those alignments, the most words right, which makes the three counts
// unique. Time is O(len·len), memory O(the shorter).
func Errors(reference, hypothesis []string) Edit { return editOf(reference, hypothesis) }

// Costs of one edit. A substitution weighs one more than an insertion or deletion, so
// that one integer orders alignments by errors first and by substitutions second.
const (
	costGap        = 1 << 31
	costSubstitute = costGap + 1
)

func editOf[T comparable](reference, hypothesis []T) Edit {
	a, b := trimCommon(reference, hypothesis)
	surplus := len(b) - len(a) // insertions − deletions
	if len(a) < len(b) {
		a, b = b, a
	}
	row := make([]int64, len(b)+1) // costs of a[:i] against b[:0…len(b)]
	for j := range row {
		row[j] = int64(j) * costGap
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = int64(i+1) * costGap
		for j, y := range b {
			best := diagonal
			if x != y {
				best = min(diagonal+costSubstitute, row[j]+costGap, row[j+1]+costGap)
			}
			diagonal, row[j+1] = row[j+1], best
		}
	}
	cost := row[len(b)]
	errors, substitutions := int(cost/costGap), int(cost%costGap)
	gaps := errors - substitutions
	return Edit{
		Substitutions: substitutions,
		Insertions:    (gaps + surplus) / 2,
		Deletions:     (gaps - surplus) / 2,
	}
}

// trimCommon cuts what both begin with and what both end with: neither changes the
// best alignment, and most of a good transcript is equal to its reference.
func trimCommon[T comparable](a, b []T) ([]T, []T) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
