package npu

import (
	"context"
	"errors"

	"earshot/npu/graph"
)

// Probe asks whether the library takes a graph, of one operation as a rule: it must say
// that it supports it, where it can be asked, and compile it. An error is one of the
// Device, and no answer.
func Probe(ctx context.Context, d Device, g *graph.Graph) (bool, error) {
	supported, err := d.Supports(ctx, g)
	if err != nil && !errors.Is(err, ErrMissing) {
		return refused(err)
	}
	for _, yes := range supported {
		if !yes {
			return false, nil
		}
	}
	n, err := d.Compile(ctx, g, DefaultOptions())
	if err != nil {
		return refused(err)
	}
	return true, n.Close()
}

// refused turns an error of the library's own into a no.
func refused(err error) (bool, error) {
	if e := (*Error)(nil); errors.As(err, &e) && e.Func != "" {
		return false, nil
	}
	return false, err
}

// Features are what only some boards take, as Probe finds them (facts/npu.md 9).
type Features struct {
	BatchMatMul            bool
	ComputedFullyConnected bool // weights that are computed
	ComputedConv2D         bool // a filter that is computed
	Gelu                   bool
	LayerNorm              bool
}

// ProbeFeatures probes for each, in float16 and sizes that every rule of facts/npu.md 9.1
// allows.
func ProbeFeatures(ctx context.Context, d Device) (f Features, err error) {
	const n = 64 // the width of an attention head
	for _, p := range []struct {
		found *bool
		name  string
		build func(g *graph.Graph) *graph.Tensor
	}{
		{&f.BatchMatMul, "BATCH_MATMUL", func(g *graph.Graph) *graph.Tensor {
			return g.BatchMatMul(g.Input("a", graph.Float16, 2, n, n), g.Input("b", graph.Float16, 2, n, n), true)
		}},
		{&f.ComputedFullyConnected, "FULLY_CONNECTED, computed weights", func(g *graph.Graph) *graph.Tensor {
			return g.FullyConnected(g.Input("x", graph.Float16, n, n), g.Input("weights", graph.Float16, n, n), zeros(g, n))
		}},
		{&f.ComputedConv2D, "CONV_2D, computed filter", func(g *graph.Graph) *graph.Tensor {
			return g.Conv2D(g.Input("x", graph.Float16, 1, n, 1, n), g.Input("filter", graph.Float16, n, 1, 1, n), zeros(g, n), 1, 1)
		}},
		{&f.Gelu, "GELU", func(g *graph.Graph) *graph.Tensor {
			return g.Gelu(g.Input("x", graph.Float16, n, n), false)
		}},
		{&f.LayerNorm, "layer norm", func(g *graph.Graph) *graph.Tensor {
			return g.LayerNorm(g.Input("x", graph.Float16, n, n), zeros(g, n), zeros(g, n), 1e-5)
		}},
	} {
		g := graph.New("probe of " + p.name)
		g.Output(p.build(g))
		if *p.found, err = Probe(ctx, d, g); err != nil {
			return f, err
		}
	}
	return f, nil
}

func zeros(g *graph.Graph, n int) *graph.Tensor {
	return g.Const("zeros", graph.Float16, make([]byte, n*graph.Float16.Size()), n)
}
