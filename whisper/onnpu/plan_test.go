package onnpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"earshot/npu/graph"
	"earshot/whisper"
)

// sizes are of published models; with -short of the smallest.
func sizes() map[string]whisper.Dims {
	if testing.Short() {
		return map[string]whisper.Dims{"tiny": models["tiny"]}
	}
	return models
}

var models = map[string]whisper.Dims{
	"tiny":  {Mels: 80, AudioCtx: 1500, AudioState: 384, AudioHeads: 6, AudioLayers: 4, TextState: 384, TextHeads: 6, TextLayers: 4},
	"base":  {Mels: 80, AudioCtx: 1500, AudioState: 512, AudioHeads: 8, AudioLayers: 6, TextState: 512, TextHeads: 8, TextLayers: 6},
	"small": {Mels: 80, AudioCtx: 1500, AudioState: 768, AudioHeads: 12, AudioLayers: 12, TextState: 768, TextHeads: 12, TextLayers: 12},
}

func profile(t *testing.T, name string) Profile {
	t.Helper()
	p, err := FindProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBorders sees that no score tensor crosses a graph border in any plan: everything
// that softmax reads or writes, under whatever shape, is alive inside one graph only, and what
// goes in and out has the columns of the stream or of the features.
func TestBorders(t *testing.T) {
	boards := []Profile{profile(t, "genio-700"), profile(t, "genio-720")}
	conv := profile(t, "genio-1200")
	for name, d := range sizes() {
		parameters := Sizes(name, d)
		for _, seconds := range []float64{2, 10, 30} {
			for _, p := range append(boards, conv) {
				in := p.Attention(d)
				if p.Board == conv.Board {
					in = Conv2D
				}
				for _, way := range Ways(d, in, Positions(seconds, d)) {
					if way.CPU {
						continue
					}
					for i, g := range Cut(parameters, p.Form(), way.Strategy, Positions(seconds, d)) {
						checkBorder(t, fmt.Sprintf("%s, %g s, %s, %s, graph %d", name, seconds, p.Board, way.Name, i), g, d)
					}
				}
			}
		}
	}
}

func checkBorder(t *testing.T, what string, g *graph.Graph, d whisper.Dims) {
	t.Helper()
	scores := map[*graph.Tensor]bool{}
	for _, o := range g.Operations {
		if o.Kind == graph.Softmax || o.Kind == graph.Reshape && scores[o.In[0]] {
			scores[o.In[0]], scores[o.Out] = true, true
		}
	}
	for i := len(g.Operations) - 1; i >= 0; i-- { // what becomes scores by RESHAPE
		if o := g.Operations[i]; o.Kind == graph.Reshape && scores[o.Out] {
			scores[o.In[0]] = true
		}
	}
	for _, x := range append(append([]*graph.Tensor{}, g.Inputs...), g.Outputs...) {
		if columns := columnsOf(x); scores[x] || columns != d.AudioState && columns != d.Mels || rowsOf(x) > 2*1504+2 {
			t.Errorf("%s: %v crosses the border", what, x)
		}
	}
}

// t5 is facts/planner.md's table T5: the largest window in seconds that a budget has room
// for, 0 for none, by its formulas.
func t5(d whisper.Dims, mib int, mode string, layers int, inPlace bool) (best float64) {
	width, h := d.AudioState, d.AudioHeads
	weights := 2 * layers * (12*width*width + 12*width)
	for seconds := 0.5; seconds <= 30; seconds += 0.5 {
		n := int(50 * seconds)
		scores := map[string]int{"full": h * n * n, "head": n * n, "query": h * min(128, n) * n}[mode]
		feedForward := 6
		if !inPlace {
			scores, feedForward = 2*scores, 10
		}
		peak := 2 * max(5*n*width+scores, feedForward*n*width)
		if peak+weights+4*n*width <= mib<<20 {
			best = seconds
		}
	}
	return best
}

// TestT5 finds, wherever T5 has a window for float16 graphs, a way with attention inside
// graphs that fits the same budget: on a board with computed weights alone, and on one
// with BATCH_MATMUL.
func TestT5(t *testing.T) {
	for name, d := range sizes() {
		parameters := Sizes(name, d)
		for _, board := range []string{"genio-700", "genio-720"} {
			p := profile(t, board)
			peaks := map[string]Held{} // of a way in a window
			for _, mib := range []int{4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256} {
				p.BudgetMiB.Value = mib
				for _, c := range []struct {
					mode    string
					layers  int
					inPlace bool
				}{{"full", 1, false}, {"full", 1, true}, {"head", 1, true}, {"query", 1, true}, {"full", d.AudioLayers, false}, {"head", d.AudioLayers, true}} {
					seconds := t5(d, mib, c.mode, c.layers, c.inPlace)
					if seconds == 0 {
						continue
					}
					if !anyFits(p, parameters, seconds, peaks) {
						t.Errorf("%s, %s, %d MiB: nothing fits at %g s, T5 has it (%+v)", name, board, mib, seconds, c)
					}
				}
			}
		}
	}
}

// anyFits tries ways with attention inside graphs, those that take least first.
func anyFits(p Profile, parameters *Parameters, seconds float64, peaks map[string]Held) bool {
	for _, name := range []string{"parts reloaded, rows", "layers reloaded, rows"} {
		for _, way := range Ways(parameters.dims, p.Attention(parameters.dims), Positions(seconds, parameters.dims)) {
			if way.Name != name {
				continue
			}
			key := fmt.Sprint(name, seconds)
			if _, known := peaks[key]; !known {
				peaks[key] = p.Plan(parameters, way, seconds).Total.Peak()
			}
			if peaks[key].within(p.Budget()) {
				return true
			}
		}
	}
	return false
}

// TestT4 compares graphs of a layer with T4: the part that runs, without weights, never
// takes more than the formula of its mode and the layer's input and output, though GELU
// and norms are put together from other operations, and nothing is computed in place.
func TestT4(t *testing.T) {
	p := profile(t, "genio-700")
	for name, d := range sizes() {
		for _, seconds := range Buckets {
			n := Positions(seconds, d)
			for query, scores := range map[int]int{0: 2 * n * n, queryRows: d.AudioHeads * min(n, queryRows) * n} {
				s := Strategy{Layers: 1, Stem: StemApart, Attention: FullyConnected, QueryRows: query, Rows: blockRows(n)}
				formula := 2*max(5*n*d.AudioState+scores, 6*n*d.AudioState) + 4*n*d.AudioState
				c := Cut(Sizes(name, d), p.Form(), s, n)[1].Cost(p.Memory())
				got := c.Activations + c.Inputs + c.Outputs
				if got > formula {
					t.Errorf("%s, %g s, %d query rows: %d bytes while it runs, T4 has %d", name, seconds, query, got, formula)
				}
			}
		}
	}
}

// TestNaive refuses the whole encoder at 30 s on a Genio 700 with the numbers.
func TestNaive(t *testing.T) {
	for name, want := range map[string]string{"tiny": "71.0 MiB at once, 64 may be", "base": "112.9 MiB at once, 64 may be", "small": "278.4 MiB at once, 64 may be"} {
		plan := profile(t, "genio-700").Plans(Sizes(name, models[name]), 30)[0]
		if got := strings.Join(plan.Refused, "; "); plan.Name != WholeWay || got != "BATCH_MATMUL is not on this board; "+want {
			t.Errorf("%s, %s: refused with %q", name, plan.Name, got)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name    string
		board   string
		change  func(p *Profile)
		model   string
		seconds float64
		want    string // way
		why     string
	}{
		{"OK", "genio-700", nil, "tiny", 30, "whole, heads", "the fastest of "},
		{"BATCH_MATMUL", "genio-720", nil, "base", 30, "whole", "the fastest of "},
		{"no NPU", "genio-350", nil, "tiny", 2, "cpu", "nothing fits the NPU: the board has no NPU"},
		{"little memory", "genio-700", func(p *Profile) { p.BudgetMiB.Value = 24 }, "tiny", 30, "whole, rows", "the fastest of "},
		{"less memory", "genio-700", func(p *Profile) { p.BudgetMiB.Value = 10 }, "tiny", 20, "layers reloaded, rows", "the fastest of "},
		{"none", "genio-700", func(p *Profile) { p.BudgetMiB.Value = 1 }, "tiny", 20, "cpu", "nothing fits the NPU"},
		{"few descriptors", "genio-700", func(p *Profile) { p.MaxAllocations.Value = 14 }, "tiny", 20, "layers reloaded, heads", "the fastest of "},
		{"no products", "genio-700", func(p *Profile) { p.ComputedWeights.Value = false }, "tiny", 20, "feed-forward", "the feed-forward part governs"},
		{"few operations", "genio-700", func(p *Profile) { p.MaxOperations.Value = 700 }, "base", 20, "halves, heads", "the fastest of "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := profile(t, c.board)
			if c.change != nil {
				c.change(&p)
			}
			plans := p.Plans(Sizes(c.model, models[c.model]), c.seconds)
			got, why := Choose(plans)
			if got.Name != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%q since %q, want %q since %q", got.Name, why, c.want, c.why)
			}
			if peak := got.Total.Peak(); !peak.within(p.Budget()) || got.Total.Operations > max(0, p.MaxOperations.Value) || got.MS <= 0 {
				t.Errorf("%+v outside the budget", got)
			}
		})
	}
}

func TestWindows(t *testing.T) {
	tiny := Sizes("tiny", models["tiny"])
	var got []int
	for _, w := range profile(t, "genio-700").Windows(tiny) {
		got = append(got, w.Positions)
	}
	if want := []int{112, 160, 208, 256, 304, 400, 512, 608, 752, 1008, 1264, 1500}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if none := profile(t, "genio-350").Windows(tiny); none != nil {
		t.Errorf("without an NPU: %v", none)
	}
}

func TestFindProfile(t *testing.T) {
	for _, name := range []string{"genio-700", "Genio-1200", "mt8390"} {
		if _, err := FindProfile(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := FindProfile("genio-9"); err == nil || !strings.Contains(err.Error(), "genio-350, genio-510, genio-700, genio-520, genio-720, genio-1200") {
		t.Errorf("got %v", err)
	}
}
