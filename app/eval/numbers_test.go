package eval

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Random runs of everything that number grammar looks at: the form of a form is itself.
func TestNumbersAreStable(t *testing.T) {
	words := strings.Fields(`one two ten twenty thirty hundred thousand million a and and half oh zero point
		5 10 100 2000 0.5 05 1.5 1,000 first second fifth twentieth twenties hundredth millions 21st 2nd 1980s 1's
		$ $5 $.5 .5 £ % percent cents dollars ¢ pence per cent um x , . it's been o two-third 'd n't`)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		run := make([]string, 1+rng.IntN(8))
		for i := range run {
			run[i] = words[rng.IntN(len(words))]
		}
		text := strings.Join(run, " ")
		got := Normalise(text, "en")
		if again := Normalise(got, "en"); again != got {
			t.Fatalf("%q → %q → %q", text, got, again)
		}
	}
}

// Long hostile texts take time that grows with their length, not with its square.
func TestNormaliseLongText(t *testing.T) {
	for _, part := range []string{"1 ", "hundred ", "thousand ", "one hundred and ", "one oh ", "(", "[<", "a's", "ae", "'", ".5", "point oh "} {
		start := time.Now()
		Normalise(strings.Repeat(part, 100_000/len(part)), "en")
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q repeated: %v", part, took)
		} else {
			t.Logf("%q: %v", part, took)
		}
	}
}
