package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// ReadReport reads what WriteJSON wrote. Of other programs' output it needs "model"
// and "rows", and of each row "path" and "hypothesis"; figures that are there are
// taken over. Errors start with name.
func ReadReport(r io.Reader, name string) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("%s: no report of eval --json: %w", name, err)
	}
	if len(report.Rows) == 0 {
		return nil, fmt.Errorf("%s: no rows", name)
	}
	return &report, nil
}

// Score returns a report over the same clips with the texts of r and the references
// of a manifest. What r says of times and memory stays. Clips are found by path; one
// that the manifest lacks, or that r has twice, is an error.
func (r *Report) Score(manifest []Row) (*Report, error) {
	rows := map[string]Row{}
	for _, row := range manifest {
		rows[row.Path] = row
	}
	scored := NewReport(r.Model)
	scored.EncodeMS, scored.DecodeMS, scored.LoadMS = r.EncodeMS, r.DecodeMS, r.LoadMS
	scored.Tokens, scored.PeakRSSBytes = r.Tokens, r.PeakRSSBytes
	for _, clip := range r.Rows {
		row, found := rows[clip.Path]
		if !found {
			return nil, fmt.Errorf("%s: not in the manifest, or there twice", clip.Path)
		}
		delete(rows, clip.Path)
		scored.Add(row, clip.Hypothesis, clip.Seconds, Took{fromMS(clip.WallMS), fromMS(clip.CPUMS)})
	}
	return scored, nil
}

func fromMS(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
