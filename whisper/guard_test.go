package whisper

import (
	"slices"
	"testing"
)

func TestCutLoop(t *testing.T) {
	repeat := func(n int, phrase ...int) []int { return slices.Repeat(phrase, n) }
	join := func(parts ...[]int) []int { return slices.Concat(parts...) }
	for _, c := range []struct {
		name   string
		tokens []int
		keep   int // −1: no loop
	}{
		{"nothing", nil, -1},
		{"no repeat", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}, -1},
		{"a refrain sung twice", repeat(2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14), -1},
		{"no, no, no, no", repeat(4, 1, 2), -1},
		{"a word for ever", repeat(24, 7), 1},
		{"a word nearly for ever", repeat(23, 7), -1},
		{"a phrase three times", repeat(3, 1, 2, 3, 4, 5, 6, 7, 8), 8},
		{"a phrase three times behind a text", join([]int{50, 51, 52}, repeat(3, 1, 2, 3, 4, 5, 6, 7, 8)), 11},
		{"a phrase and a half token too few", join(repeat(2, 1, 2, 3, 4, 5, 6, 7, 8), []int{1, 2, 3, 4, 5, 6, 7}), -1},
		{"a loop that has ended", join(repeat(3, 1, 2, 3, 4, 5, 6, 7, 8), []int{9}), -1},
		{"long phrase", repeat(3, func() (p []int) {
			for i := range loopPhrase {
				p = append(p, i)
			}
			return p
		}()...), loopPhrase},
	} {
		keep, looped := cutLoop(c.tokens)
		if looped != (c.keep >= 0) || looped && keep != c.keep {
			t.Errorf("%s: got %d, %v, want %d", c.name, keep, looped, c.keep)
		}
	}
}
