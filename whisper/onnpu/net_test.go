package onnpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"earshot/npu/graph"
)

// composed runs what f adds to a graph in the plainest form on rows of float16.
func composed(t *testing.T, x []float32, columns int, f func(n *net, x *graph.Tensor) *graph.Tensor) []float32 {
	t.Helper()
	g := graph.New("test")
	n := &net{Graph: g, constants: map[string]*graph.Tensor{}}
	in := g.Input("x", graph.Float16, len(x)/columns, columns)
	n.parameters = &Parameters{tensors: map[string][]byte{"norm.weight": make([]byte, 2*columns), "norm.bias": make([]byte, 2*columns)}}
	ones := make([]float32, columns)
	for i := range ones {
		ones[i] = 1
	}
	graph.PutFloats(n.parameters.tensors["norm.weight"], graph.Float16, ones)
	g.Output(f(n, in))
	data := make([]byte, in.Bytes())
	graph.PutFloats(data, graph.Float16, x)
	graph.Floats(x, graph.Float16, data) // as the graph sees them
	out, err := graph.Eval(g, [][]byte{data})
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float32, len(x))
	graph.Floats(y, graph.Float16, out[0])
	return y
}

// TestNorm normalises rows of a stream with single large channels, and rows without any.
func TestNorm(t *testing.T) {
	const columns = 384
	for _, outlier := range []float32{0, 30, 600, -2000} {
		random := rand.New(rand.NewPCG(1, 2))
		x := make([]float32, columns)
		for i := range x {
			x[i] = float32(random.NormFloat64())
		}
		x[17] += outlier
		got := composed(t, x, columns, func(n *net, x *graph.Tensor) *graph.Tensor { return n.norm(x, "norm") })
		var mean, squares float64
		for _, v := range x {
			mean += float64(v) / columns
		}
		for _, v := range x {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		for i, v := range x {
			// The rounding of the mean's difference, which is at most a step of what is large.
			want := (float64(v) - mean) / math.Sqrt(squares/columns+normEpsilon)
			if off := math.Abs(float64(got[i]) - want); !(off < 0.003*math.Max(1, math.Abs(want))) {
				t.Fatalf("outlier %g: channel %d is %g, want %g", outlier, i, got[i], want)
			}
		}
	}
	for _, v := range composed(t, make([]float32, 16), 16, func(n *net, x *graph.Tensor) *graph.Tensor { return n.norm(x, "norm") }) {
		if v != 0 {
			t.Errorf("a row of zeros becomes %g", v)
		}
	}
}

// TestGelu compares the composed form with the tanh form in float64, also where its parts
// leave the range of float16.
func TestGelu(t *testing.T) {
	var x []float32
	for v := -8.0; v <= 8; v += 1 / 64.0 {
		x = append(x, float32(v))
	}
	for _, v := range []float32{20, 95, 160, 1000, 30000, 65504} {
		x = append(x, v, -v)
	}
	got := composed(t, x, 1, (*net).gelu)
	for i, v := range x {
		z := math.Sqrt(2/math.Pi) * (float64(v) + 0.044715*math.Pow(float64(v), 3))
		want := float64(v) / (1 + math.Exp(-2*z))
		if off := math.Abs(float64(got[i]) - want); !(off <= 0.003*math.Max(0.1, math.Abs(want))) {
			t.Errorf("gelu of %g is %g, want %g", v, got[i], want)
		}
	}
}
