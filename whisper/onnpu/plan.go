package onnpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"earshot/whisper"
)

// Buckets are the lengths of window that plans are made for, in seconds.
var Buckets = []float64{2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30}

// Positions is the length of a window of so many seconds: a position has 20 ms, and
// windows come in multiples of 16 positions, but for the model's own.
func Positions(seconds float64, d whisper.Dims) int {
	return min(d.AudioCtx, roundUp(int(seconds*50), 16))
}

// Way is a Strategy with a name.
type Way struct {
	Name     string
	Strategy Strategy
	CPU      bool // nothing is on the NPU
}

// Names of ways that others refer to.
const (
	WholeWay = "whole"
	CPUWay   = "cpu"
)

// queryRows is how many rows of scores are computed at a time where a way has blocks.
const queryRows = 128

// blockRows is how many positions go through the feed-forward part at a time: a quarter,
// so that its hidden state, four times as wide and several times alive where GELU is put
// together from other operations, takes less than the stream as a whole takes in attention.
func blockRows(positions int) int { return max(16, min(256, roundUp(positions/4, 16))) }

// Ways are the ways of computing a window that a planner has, from the fewest and
// plainest graphs on; the last is the CPU.
func Ways(d whisper.Dims, in Attention, positions int) []Way {
	rows, half := blockRows(positions), (d.AudioLayers+1)/2
	way := func(name string, layers, query int, reload bool) Way {
		s := Strategy{Layers: layers, Parts: strings.HasPrefix(name, "parts"), Stem: StemInside, Attention: in, QueryRows: query, Rows: rows, Reload: reload}
		if layers == 1 || reload {
			s.Stem = StemApart
		}
		return Way{Name: name, Strategy: s}
	}
	return []Way{
		{Name: WholeWay, Strategy: Strategy{Stem: StemInside, Attention: BatchMatMul, AllHeads: true}},
		way("whole, heads", 0, 0, false),
		way("whole, rows", 0, queryRows, false),
		way("halves, heads", half, 0, false),
		way("halves, rows", half, queryRows, false),
		way("layers, heads", 1, 0, false),
		way("layers, rows", 1, queryRows, false),
		way("halves reloaded, rows", half, queryRows, true),
		way("layers reloaded, heads", 1, 0, true),
		way("layers reloaded, rows", 1, queryRows, true),
		way("parts reloaded, rows", 1, queryRows, true),
		{Name: "feed-forward", Strategy: Strategy{Stem: StemInside, Attention: OnCPU, Rows: rows}},
		{Name: "feed-forward reloaded", Strategy: Strategy{Stem: StemOnCPU, Attention: OnCPU, Rows: rows, Reload: true}},
		{Name: CPUWay, CPU: true},
	}
}

// Plan is what one way of computing one length of window takes on a board, as predicted.
type Plan struct {
	Way
	Seconds   float64 // of the bucket
	Positions int
	Total     Total
	Refused   []string // why the board does not take it; none: it fits
	MS        float64  // of a window
}

// Fits says whether the board takes it.
func (p Plan) Fits() bool { return len(p.Refused) == 0 }

// Attention that the board takes inside graphs, or OnCPU if none.
func (p Profile) Attention(d whisper.Dims) Attention {
	switch {
	case p.BatchMatMul.Value:
		return BatchMatMul
	case p.ComputedWeights.Value && d.AudioState/d.AudioHeads%16 == 0:
		return FullyConnected
	}
	return OnCPU
}

// Plans predicts every way of computing a window of so many seconds.
func (p Profile) Plans(model *Parameters, seconds float64) (all []Plan) {
	for _, way := range Ways(model.dims, p.Attention(model.dims), Positions(seconds, model.dims)) {
		all = append(all, p.Plan(model, way, seconds))
	}
	return all
}

// Plan predicts one way.
func (p Profile) Plan(model *Parameters, way Way, seconds float64) Plan {
	d := model.dims
	plan := Plan{Way: way, Seconds: seconds, Positions: Positions(seconds, d)}
	switch {
	case way.CPU:
		plan.MS = ms(d.EncoderOps(plan.Positions), p.CPUGFLOPS)
	case p.NPU.Value == "":
		plan.Refused = []string{"the board has no NPU that it could be on"}
	case way.Strategy.Attention == OnCPU && !strings.HasPrefix(way.Name, "feed-forward"):
		plan.Refused = []string{"the board has no product of two computed tensors"}
	default:
		plan.Total = Count(Cut(model, p.Form(), way.Strategy, plan.Positions), way.Strategy, p.Memory())
		plan.MS = p.predict(d, way.Strategy, plan.Positions, plan.Total)
		plan.Refused = p.refuse(way.Strategy, plan.Total)
	}
	return plan
}

func ms(ops int, rate Known[float64]) float64 { return float64(ops) / rate.Value / 1e6 }

// predict is products at the sustained rate, calls, what is loaded anew for each window,
// and what the CPU does.
func (p Profile) predict(d whisper.Dims, s Strategy, positions int, t Total) float64 {
	sum := ms(t.FLOP, p.GFLOPS) + float64(t.Calls)*p.DispatchMS.Value
	if s.Reload {
		sum += float64(t.Weights) / p.LoadMBs.Value / 1e3
	}
	if s.Attention == OnCPU {
		sum += ms(d.AudioLayers*4*positions*positions*d.AudioState, p.CPUGFLOPS)
	}
	if s.Stem == StemOnCPU {
		sum += ms(2*3*positions*d.AudioState*(2*d.Mels+d.AudioState), p.CPUGFLOPS)
	}
	return sum
}

// Takes says whether a plan fits this profile, which may be another than it was made for
// in its budget.
func (p Profile) Takes(plan Plan) bool {
	return plan.Total.Calls > 0 && len(p.refuse(plan.Strategy, plan.Total)) == 0
}

// refuse says what of the graphs the board does not take.
func (p Profile) refuse(s Strategy, t Total) (why []string) {
	if s.Attention == BatchMatMul && !p.BatchMatMul.Value {
		why = append(why, "BATCH_MATMUL is not on this board")
	}
	peak, budget := t.Peak(), p.Budget()
	if peak.Bytes > budget.Bytes {
		why = append(why, fmt.Sprintf("%.1f MiB at once, %d may be", MiB(peak.Bytes), p.BudgetMiB.Value))
	}
	if peak.Allocations > budget.Allocations {
		why = append(why, fmt.Sprintf("%d allocations at once, %d may be", peak.Allocations, budget.Allocations))
	}
	if t.Operations > p.MaxOperations.Value {
		why = append(why, fmt.Sprintf("%d operations in a graph, %d may be", t.Operations, p.MaxOperations.Value))
	}
	return why
}

// MiB is bytes in units of 2^20.
func MiB(bytes int) float64 { return float64(bytes) / (1 << 20) }

// Choose returns the plan that takes least time of those that fit, and why. Of equals it
// is the one with fewer operations, and then with fewer bytes.
func Choose(plans []Plan) (Plan, string) {
	fit := slices.DeleteFunc(slices.Clone(plans), func(p Plan) bool { return !p.Fits() })
	best := slices.MinFunc(fit, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.MS, b.MS), cmp.Compare(a.Total.Operations, b.Total.Operations), cmp.Compare(a.Total.Peak().Bytes, b.Total.Peak().Bytes))
	})
	switch {
	case best.CPU && len(fit) > 1:
		return best, "the CPU is predicted to be faster than what fits the NPU"
	case best.CPU:
		return best, "nothing fits the NPU: " + plans[0].Refused[0]
	case best.Strategy.Attention == OnCPU && !slices.ContainsFunc(fit, func(p Plan) bool { return !p.CPU && p.Strategy.Attention != OnCPU }):
		return best, "attention does not go into graphs here, so the feed-forward part governs"
	}
	return best, fmt.Sprintf("the fastest of %d that fit, by prediction", len(fit)-1)
}

// Windows are the choices for all buckets that are on the NPU: what an Encoder is made
// from. Each fits alone; the Encoder keeps as many loaded as fit together.
func (p Profile) Windows(model *Parameters) (all []Window) {
	for _, seconds := range Buckets {
		if best, _ := Choose(p.Plans(model, seconds)); !best.CPU {
			all = append(all, Window{best.Positions, best.Strategy})
		}
	}
	return all
}
