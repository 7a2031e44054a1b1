package eval

import (
	"math/rand/v2"
	"slices"
)

// PairedBootstrap returns the 95 % interval of WER(A) − WER(B) for two systems that
// transcribed the same clips: clip i has words[i] reference words and the systems
// made errorsA[i] and errorsB[i] errors there. Clips are drawn with replacement,
// the same ones for both systems (Bisani and Ney, "Bootstrap estimates for
// confidence intervals in ASR performance evaluation", ICASSP 2004). Rates are
// fractions: 0.01 is one point. The result depends on the seed and nothing else;
// 10 000 rounds leave it steady to about a twentieth of its width.
//
// The three slices must be of one length. With no clips, no words or no rounds the
// interval is [0, 0].
func PairedBootstrap(errorsA, errorsB, words []int, rounds int, seed uint64) (low, high float64) {
	n := len(words)
	if len(errorsA) != n || len(errorsB) != n {
		panic("BUG: PairedBootstrap with slices of different lengths")
	}
	if n == 0 || rounds <= 0 {
		return 0, 0
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	differences := make([]float64, 0, rounds)
	for range rounds {
		errors, total := 0, 0
		for range n {
			i := rng.IntN(n)
			errors += errorsA[i] - errorsB[i]
			total += words[i]
		}
		if total > 0 { // a draw of nothing but clips without speech has no rate
			differences = append(differences, float64(errors)/float64(total))
		}
	}
	if len(differences) == 0 {
		return 0, 0
	}
	slices.Sort(differences)
	last := float64(len(differences) - 1)
	return differences[int(0.025*last)], differences[int(0.975*last+0.5)]
}
