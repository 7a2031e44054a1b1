package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"earshot/whisper/onnpu"
)

// planReport is what `earshot npu plan` prints. Its keys are explained in the command's
// help.
type planReport struct {
	Profile onnpu.Profile `json:"profile"`
	Model   string        `json:"model"`
	Plans   []planRow     `json:"plans"`
	Choices []planChoice  `json:"choices"`
	Sweep   []sweepRow    `json:"sweep,omitempty"`
	Note    string        `json:"note"`
}

type planRow struct {
	WindowS     float64  `json:"window_s"`
	Positions   int      `json:"positions"`
	Way         string   `json:"way"`
	Fits        bool     `json:"fits"`
	Refused     []string `json:"refused,omitempty"`
	PeakBytes   int      `json:"peak_bytes"`
	SpareBytes  int      `json:"spare_bytes"`
	Allocations int      `json:"allocations"`
	Operations  int      `json:"operations"`
	Calls       int      `json:"calls"`
	WeightBytes int      `json:"weight_bytes"`
	FLOP        int      `json:"flop"`
	MovedBytes  int      `json:"moved_bytes"`
	PredictedMS float64  `json:"predicted_ms"`
}

type planChoice struct {
	WindowS   float64 `json:"window_s"`
	Positions int     `json:"positions"`
	Way       string  `json:"way"`
	Reason    string  `json:"reason"`
}

const notMeasured = "Not yet measured on hardware: sizes are counted from the graphs under an assumed way of allocating, and times follow from assumed rates."

func newPlanReport(p onnpu.Profile, model *onnpu.Parameters) *planReport {
	r := &planReport{Profile: p, Model: model.Name(), Note: notMeasured}
	for _, seconds := range onnpu.Buckets {
		plans := p.Plans(model, seconds)
		for _, plan := range plans {
			r.Plans = append(r.Plans, rowOf(plan, p))
		}
		best, why := onnpu.Choose(plans)
		r.Choices = append(r.Choices, planChoice{seconds, best.Positions, best.Name, why})
	}
	return r
}

func rowOf(plan onnpu.Plan, p onnpu.Profile) planRow {
	peak := plan.Total.Peak()
	return planRow{
		WindowS: plan.Seconds, Positions: plan.Positions, Way: plan.Name, Fits: plan.Fits(), Refused: plan.Refused,
		PeakBytes: peak.Bytes, SpareBytes: p.Budget().Bytes - peak.Bytes, Allocations: peak.Allocations,
		Operations: plan.Total.Operations, Calls: plan.Total.Calls, WeightBytes: plan.Total.Weights,
		FLOP: plan.Total.FLOP, MovedBytes: plan.Total.Moved, PredictedMS: plan.MS,
	}
}

// WriteTable prints the board, a row for each plan, and the choices.
func (r *planReport) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	p := r.Profile
	fmt.Fprintf(table, "%s (%s)\t%s\t%s\n", p.Board, p.SoC, cmp.Or(p.NPU.Value, "no NPU"), p.NPU.Source)
	if p.NPU.Value != "" {
		fmt.Fprintf(table, "budget\t%d MiB at once\t%s\n", p.BudgetMiB.Value, p.BudgetMiB.Source)
		fmt.Fprintf(table, "\t%d allocations at once\t%s\n", p.MaxAllocations.Value, p.MaxAllocations.Source)
		fmt.Fprintf(table, "\t%d operations in a graph\t%s\n", p.MaxOperations.Value, p.MaxOperations.Source)
		for _, f := range []struct {
			name string
			has  onnpu.Known[bool]
		}{{"BATCH_MATMUL", p.BatchMatMul}, {"computed weights", p.ComputedWeights}, {"GELU", p.Gelu}, {"layer norm", p.LayerNorm}, {"in place", p.InPlace}} {
			fmt.Fprintf(table, "%s\t%s\t%s\n", f.name, map[bool]string{true: "yes", false: "no"}[f.has.Value], f.has.Source)
		}
		fmt.Fprintf(table, "speed\t%g GFLOP/s\t%s\n", p.GFLOPS.Value, p.GFLOPS.Source)
		fmt.Fprintf(table, "\t%g ms a call\t%s\n", p.DispatchMS.Value, p.DispatchMS.Source)
		fmt.Fprintf(table, "\t%g MB/s to load\t%s\n", p.LoadMBs.Value, p.LoadMBs.Source)
	}
	fmt.Fprintf(table, "CPU\t%g GFLOP/s\t%s\n", p.CPUGFLOPS.Value, p.CPUGFLOPS.Source)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nEncoder of %s. A star marks the choice; times are predicted.\n\n", r.Model)
	r.writePlans(table)
	fmt.Fprintln(table)
	for _, c := range r.Choices {
		fmt.Fprintf(table, "%g s\t%s\t%s\n", c.WindowS, c.Way, c.Reason)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if err := r.writeSweep(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.Note)
	return err
}

func (r *planReport) writePlans(table io.Writer) {
	fmt.Fprintln(table, "WINDOW\t\tWAY\tMIB\tSPARE\tALLOCS\tOPS\tCALLS\tMS\tREFUSED")
	chosen := map[float64]string{}
	for _, c := range r.Choices {
		chosen[c.WindowS] = c.Way
	}
	for _, row := range r.Plans {
		star := ""
		if chosen[row.WindowS] == row.Way {
			star = "*"
		}
		held := "\t\t\t\t"
		if row.Calls > 0 {
			held = fmt.Sprintf("%.1f\t%.1f\t%d\t%d\t%d", onnpu.MiB(row.PeakBytes), onnpu.MiB(row.SpareBytes), row.Allocations, row.Operations, row.Calls)
		}
		ms := ""
		if row.PredictedMS > 0 {
			ms = fmt.Sprintf("%.0f", row.PredictedMS)
		}
		fmt.Fprintf(table, "%g s\t%s\t%s\t%s\t%s\t%s\n", row.WindowS, star, row.Way, held, ms, strings.Join(row.Refused, "; "))
	}
}
