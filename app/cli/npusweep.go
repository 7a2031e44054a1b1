package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"earshot/whisper/onnpu"
)

// sweepBudgets are MiB that a board might have for its NPU.
var sweepBudgets = []int{4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256}

// sweepRow is how long the windows of a way may be.
type sweepRow struct {
	Way     string           `json:"way"`
	Windows map[int]*float64 `json:"largest_window_s"` // by budget in MiB
}

// sweep finds for every way the longest window, in steps of 0.5 s, that each budget has
// room for. Everything else of the profile stays as it is.
func (r *planReport) sweep(model *onnpu.Parameters) {
	at := map[string]int{} // of a way's row
	for seconds := 0.5; seconds <= 30; seconds += 0.5 {
		p := r.Profile
		for _, way := range onnpu.Ways(model.Dims(), p.Attention(model.Dims()), onnpu.Positions(seconds, model.Dims())) {
			if way.CPU {
				continue
			}
			i, known := at[way.Name]
			if !known {
				i = len(r.Sweep)
				at[way.Name] = i
				r.Sweep = append(r.Sweep, sweepRow{way.Name, map[int]*float64{}})
			}
			plan := p.Plan(model, way, seconds)
			for _, mib := range sweepBudgets {
				p.BudgetMiB.Value = mib
				largest := r.Sweep[i].Windows[mib]
				if p.Takes(plan) {
					largest = &plan.Seconds
				}
				r.Sweep[i].Windows[mib] = largest
			}
		}
	}
}

func (r *planReport) writeSweep(w io.Writer) error {
	if r.Sweep == nil {
		return nil
	}
	fmt.Fprintf(w, "\nThe longest window in seconds, by what may be held at once:\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "MIB")
	for _, mib := range sweepBudgets {
		fmt.Fprintf(table, "\t%d", mib)
	}
	fmt.Fprintln(table)
	for _, row := range r.Sweep {
		fmt.Fprint(table, row.Way)
		for _, mib := range sweepBudgets {
			if s := row.Windows[mib]; s != nil {
				fmt.Fprintf(table, "\t%g", *s)
			} else {
				fmt.Fprint(table, "\t-")
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
