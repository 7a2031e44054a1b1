package whisper

import (
	"math"
	"slices"
)

// hypothesis is one text that a window may hold, as far as it is decoded.
type hypothesis struct {
	tokens   []int     // without prompt and end-of-text, with timestamps where asked for
	logProbs []float64 // natural log-probability of each token, and of end-of-text where it came
	// attention[i] is the alignment heads' weights with which tokens[i] was chosen,
	// [heads, search.align], and one row more for what came behind the last token.
	// It is nil where nobody asks for it, and while several texts are decoded together.
	attention [][]float32
	stop      Stop
}

// mean is the mean log-probability per token, end-of-text included (avg_logprob in
// decoding.py divides by the tokens and one more).
func (h *hypothesis) mean() float64 {
	if len(h.logProbs) == 0 {
		return 0
	}
	return h.sum() / float64(max(len(h.logProbs), len(h.tokens)+1))
}

func (h *hypothesis) sum() float64 {
	var sum float64
	for _, p := range h.logProbs {
		sum += p
	}
	return sum
}

// with is a copy of h with one token more. The alignment of texts that are decoded
// together is not kept.
func (h *hypothesis) with(token int, logProb float64) *hypothesis {
	return &hypothesis{
		tokens:   append(slices.Clone(h.tokens), token),
		logProbs: append(slices.Clone(h.logProbs), logProb),
	}
}

// cut leaves the first n tokens.
func (h *hypothesis) cut(n int) {
	h.tokens = h.tokens[:n]
	h.logProbs = h.logProbs[:min(n, len(h.logProbs))]
	if h.attention != nil {
		h.attention = h.attention[:min(n+1, len(h.attention))]
	}
}

// argmax is the index of the largest value, the first of equals.
func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// logSumExp is logSumExp by Engine.LogSumExp, if there is one.
func (e *Engine) logSumExp(x []float32) float64 {
	if e.LogSumExp != nil {
		return float64(e.LogSumExp(x))
	}
	return logSumExp(x)
}

// logSumExp is log Σ exp(x). Values more than 30 below the largest are left out:
// all 51 866 of them together are under 1e-8 of the sum. It is −∞ when all are.
func logSumExp(x []float32) float64 {
	largest := x[argmax(x)]
	if math.IsInf(float64(largest), -1) {
		return math.Inf(-1)
	}
	var sum float64
	for _, v := range x {
		if v > largest-30 {
			sum += math.Exp(float64(v - largest))
		}
	}
	return float64(largest) + math.Log(sum)
}

// softmaxAt is the softmax of x at i.
func softmaxAt(x []float32, i int) float64 {
	return math.Exp(float64(x[i]) - logSumExp(x))
}
