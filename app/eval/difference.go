package eval

import (
	"errors"
	"fmt"
	"slices"
)

// Difference is how far a report's word error rate lies above that of another one
// over the same clips. Rates are fractions: 0.01 is one point.
type Difference struct {
	Against string  `json:"against"` // the other's model
	WER     float64 `json:"wer"`     // above 0: the other is better
	Low     float64 `json:"low"`     // 95 % interval of PairedBootstrap
	High    float64 `json:"high"`
}

// bootstrapRounds and bootstrapSeed make two runs say the same.
const (
	bootstrapRounds = 10000
	bootstrapSeed   = 1
)

// Against compares r with another report over the same clips, in any order.
func (r *Report) Against(other *Report) (Difference, error) {
	if len(r.Rows) != len(other.Rows) {
		return Difference{}, fmt.Errorf("%d and %d clips: a comparison needs the same ones", len(r.Rows), len(other.Rows))
	}
	words, errorsA, errorsB := make([]int, len(r.Rows)), make([]int, len(r.Rows)), make([]int, len(r.Rows))
	for i, a := range r.Rows {
		j := slices.IndexFunc(other.Rows, func(b Result) bool { return b.Path == a.Path })
		if j < 0 {
			return Difference{}, fmt.Errorf("%s: only one report has it", a.Path)
		}
		words[i], errorsA[i], errorsB[i] = a.Words, a.Errors, other.Rows[j].Errors
	}
	if r.WER == nil || other.WER == nil {
		return Difference{}, errors.New("no reference words, so no rates to compare")
	}
	d := Difference{Against: other.Model, WER: *r.WER - *other.WER}
	d.Low, d.High = PairedBootstrap(errorsA, errorsB, words, bootstrapRounds, bootstrapSeed)
	return d, nil
}
