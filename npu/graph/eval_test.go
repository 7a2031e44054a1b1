package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"
)

// built makes a graph with one input for each operand and returns its only output's values.
func built(t *testing.T, typ Type, operands []operand, f func(g *Graph, in []*Tensor) *Tensor) []float32 {
	t.Helper()
	g := New("test")
	var in []*Tensor
	var data [][]byte
	for i, o := range operands {
		x := g.Input(fmt.Sprint(i), typ, o.shape...)
		in = append(in, x)
		data = append(data, make([]byte, x.Bytes()))
		PutFloats(data[i], typ, o.values)
	}
	g.Output(f(g, in))
	out, err := Eval(g, data)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float32, g.Outputs[0].Elements())
	Floats(values, typ, out[0])
	return values
}

type operand struct {
	shape  []int
	values []float32
}

func values(v ...float32) []float32 { return v }

// TestEval compares with results worked out by hand; all are exact in float16.
func TestEval(t *testing.T) {
	grid := operand{[]int{2, 3}, values(1, 2, 3, 4, 5, 6)}
	row := operand{[]int{3}, values(10, 20, 30)}
	column := operand{[]int{2, 1}, values(2, 4)}
	for _, c := range []struct {
		name string
		in   []operand
		f    func(g *Graph, in []*Tensor) *Tensor
		want []float32
	}{
		{"add", []operand{grid, row}, func(g *Graph, in []*Tensor) *Tensor { return g.Add(in[0], in[1]) }, values(11, 22, 33, 14, 25, 36)},
		{"sub, short first", []operand{row, grid}, func(g *Graph, in []*Tensor) *Tensor { return g.Sub(in[0], in[1]) }, values(9, 18, 27, 6, 15, 24)},
		{"mul by columns", []operand{grid, column}, func(g *Graph, in []*Tensor) *Tensor { return g.Mul(in[0], in[1]) }, values(2, 4, 6, 16, 20, 24)},
		{"div, both repeated", []operand{column, {[]int{1, 2}, values(1, 2)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Div(in[0], in[1]) }, values(2, 1, 4, 2)},
		{"fully connected", []operand{grid, {[]int{2, 3}, values(1, 0, -1, 2, 2, 2)}, {[]int{2}, values(1, 100)}},
			func(g *Graph, in []*Tensor) *Tensor { return g.FullyConnected(in[0], in[1], in[2]) }, values(-1, 112, -1, 130)},
		{"conv, stride 2", []operand{{[]int{1, 5, 1, 2}, values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}, {[]int{1, 3, 1, 2}, values(1, 0, 0, 1, 1, 1)}, {[]int{1}, values(5)}},
			func(g *Graph, in []*Tensor) *Tensor { return g.Conv2D(in[0], in[1], in[2], 2, 1) }, values(1+4+5+6+5, 5+8+9+10+5)},
		{"conv, two dimensions", []operand{{[]int{1, 3, 3, 1}, values(1, 2, 3, 4, 5, 6, 7, 8, 9)}, {[]int{2, 2, 2, 1}, values(1, 0, 0, 1, 0, 1, 1, 0)}, {[]int{2}, values(0, 1)}},
			func(g *Graph, in []*Tensor) *Tensor { return g.Conv2D(in[0], in[1], in[2], 1, 1) }, values(6, 7, 8, 9, 12, 13, 14, 15)},
		{"conv as product", []operand{{[]int{1, 2, 1, 3}, grid.values}, {[]int{2, 1, 1, 3}, values(1, 0, -1, 2, 2, 2)}, {[]int{2}, values(1, 100)}},
			func(g *Graph, in []*Tensor) *Tensor { return g.Conv2D(in[0], in[1], in[2], 1, 1) }, values(-1, 112, -1, 130)},
		{"batch", []operand{{[]int{2, 1, 2}, values(1, 2, 3, 4)}, {[]int{2, 2, 2}, values(1, 2, 3, 4, 5, 6, 7, 8)}},
			func(g *Graph, in []*Tensor) *Tensor { return g.BatchMatMul(in[0], in[1], false) }, values(7, 10, 43, 50)},
		{"batch, transposed", []operand{{[]int{2, 1, 2}, values(1, 2, 3, 4)}, {[]int{2, 2, 2}, values(1, 2, 3, 4, 5, 6, 7, 8)}},
			func(g *Graph, in []*Tensor) *Tensor { return g.BatchMatMul(in[0], in[1], true) }, values(5, 11, 39, 53)},
		{"softmax of equals", []operand{{[]int{2, 4}, values(1, 1, 1, 1, 500, -500, 500, -500)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Softmax(in[0]) },
			values(.25, .25, .25, .25, .5, 0, .5, 0)},
		{"mean", []operand{grid}, func(g *Graph, in []*Tensor) *Tensor { return g.Mean(in[0]) }, values(2, 5)},
		{"sqrt", []operand{{[]int{3}, values(0, 4, 2.25)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Sqrt(in[0]) }, values(0, 2, 1.5)},
		{"tanh", []operand{{[]int{3}, values(0, 50, -50)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Tanh(in[0]) }, values(0, 1, -1)},
		{"logistic", []operand{{[]int{3}, values(0, 200, -200)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Logistic(in[0]) }, values(.5, 1, 0)},
		{"gelu", []operand{{[]int{3}, values(0, 50, -50)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Gelu(in[0], false) }, values(0, 50, 0)},
		{"gelu by tanh", []operand{{[]int{3}, values(0, 50, -50)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Gelu(in[0], true) }, values(0, 50, 0)},
		{"layer norm", []operand{{[]int{2, 2}, values(1, 3, -8, 8)}, {[]int{2}, values(1, 2)}, {[]int{2}, values(0, 5)}},
			func(g *Graph, in []*Tensor) *Tensor { return g.LayerNorm(in[0], in[1], in[2], 0) }, values(-1, 7, -1, 7)},
		{"reshape", []operand{grid}, func(g *Graph, in []*Tensor) *Tensor { return g.Reshape(in[0], 3, 2) }, grid.values},
		{"transpose", []operand{grid}, func(g *Graph, in []*Tensor) *Tensor { return g.Transpose(in[0], 1, 0) }, values(1, 4, 2, 5, 3, 6)},
		{"transpose 3", []operand{{[]int{2, 2, 2}, values(0, 1, 2, 3, 4, 5, 6, 7)}}, func(g *Graph, in []*Tensor) *Tensor { return g.Transpose(in[0], 1, 2, 0) }, values(0, 4, 1, 5, 2, 6, 3, 7)},
		{"slice", []operand{grid}, func(g *Graph, in []*Tensor) *Tensor { return g.Slice(in[0], []int{1, 1}, []int{1, 2}) }, values(5, 6)},
		{"concat rows", []operand{grid, {[]int{1, 3}, row.values}}, func(g *Graph, in []*Tensor) *Tensor { return g.Concat(0, in...) }, values(1, 2, 3, 4, 5, 6, 10, 20, 30)},
		{"concat columns", []operand{grid, column}, func(g *Graph, in []*Tensor) *Tensor { return g.Concat(1, in...) }, values(1, 2, 3, 2, 4, 5, 6, 4)},
		{"pad", []operand{column}, func(g *Graph, in []*Tensor) *Tensor { return g.Pad(in[0], []int{0, 1}, []int{1, 0}) }, values(0, 2, 0, 4, 0, 0)},
	} {
		for _, typ := range []Type{Float32, Float16} {
			t.Run(c.name+" "+typ.String(), func(t *testing.T) {
				if got := built(t, typ, c.in, c.f); !slices.Equal(got, c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
			})
		}
	}
}

// TestEvalFunctions compares with math in float64, to a rounding of the result.
func TestEvalFunctions(t *testing.T) {
	x := make([]float32, 400)
	for i := range x {
		x[i] = float32(i-200) / 20
	}
	for _, c := range []struct {
		name string
		f    func(g *Graph, x *Tensor) *Tensor
		want func(float64) float64
	}{
		{"tanh", (*Graph).Tanh, math.Tanh},
		{"logistic", (*Graph).Logistic, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
		{"gelu", func(g *Graph, x *Tensor) *Tensor { return g.Gelu(x, false) }, func(x float64) float64 { return x * (1 + math.Erf(x/math.Sqrt2)) / 2 }},
		{"gelu by tanh", func(g *Graph, x *Tensor) *Tensor { return g.Gelu(x, true) },
			func(x float64) float64 {
				return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*math.Pow(x, 3))))
			}},
	} {
		for i, got := range built(t, Float32, []operand{{[]int{len(x)}, x}}, func(g *Graph, in []*Tensor) *Tensor { return c.f(g, in[0]) }) {
			if want := c.want(float64(x[i])); math.Abs(float64(got)-want) > 1e-7*math.Max(1, math.Abs(want)) {
				t.Errorf("%s of %g: got %g, want %g", c.name, x[i], got, want)
			}
		}
	}
}

// TestEvalProducts compares products of odd sizes, which leave rests of every kind, and
// softmax and layer norm with sums in float64.
func TestEvalProducts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	fill := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(random.NormFloat64())
		}
		return v
	}
	for _, s := range [][3]int{{1, 1, 1}, {2, 4, 8}, {3, 5, 7}, {5, 9, 33}, {1, 8, 2}, {4, 3, 129}} {
		m, n, k := s[0], s[1], s[2]
		x, w, bias := fill(m*k), fill(n*k), fill(n)
		got := built(t, Float32, []operand{{[]int{m, k}, x}, {[]int{n, k}, w}, {[]int{n}, bias}}, func(g *Graph, in []*Tensor) *Tensor {
			return g.FullyConnected(in[0], in[1], in[2])
		})
		for i := range got {
			want := float64(bias[i%n])
			for j := range k {
				want += float64(x[i/n*k+j]) * float64(w[i%n*k+j])
			}
			if math.Abs(float64(got[i])-want) > 1e-5 {
				t.Errorf("%v: value %d is %g, want %g", s, i, got[i], want)
			}
		}
	}
	x, gamma, beta := fill(7), fill(7), fill(7)
	var sum, squares, exps float64
	for _, v := range x {
		sum += float64(v)
		exps += math.Exp(float64(v))
	}
	for _, v := range x {
		squares += (float64(v) - sum/7) * (float64(v) - sum/7)
	}
	norm := built(t, Float32, []operand{{[]int{1, 7}, x}, {[]int{7}, gamma}, {[]int{7}, beta}}, func(g *Graph, in []*Tensor) *Tensor {
		return g.LayerNorm(in[0], in[1], in[2], 1e-5)
	})
	soft := built(t, Float32, []operand{{[]int{7}, x}}, func(g *Graph, in []*Tensor) *Tensor { return g.Softmax(in[0]) })
	for i, v := range x {
		want := (float64(v)-sum/7)/math.Sqrt(squares/7+1e-5)*float64(gamma[i]) + float64(beta[i])
		if math.Abs(float64(norm[i])-want) > 1e-6 {
			t.Errorf("layer norm %d: got %g, want %g", i, norm[i], want)
		}
		if want := math.Exp(float64(v)) / exps; math.Abs(float64(soft[i])-want) > 1e-7 {
			t.Errorf("softmax %d: got %g, want %g", i, soft[i], want)
		}
	}
}

// TestRounding sees that float16 tensors are rounded between operations, and only there.
func TestRounding(t *testing.T) {
	one := func(v float32) operand { return operand{[]int{1}, values(v)} }
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		a, b float32 // float16
		want float32 // of their sum
	}{
		{2048, 1, 2048},                     // ties to even
		{2050, 1, 2052},                     // ties to even
		{2048, 3, 2052},                     // a tie upwards
		{65504, 15, 65504},                  // the largest; 15 is below half a step
		{65504, 16, inf},                    // beyond
		{-65504, -65504, -inf},              //
		{0x1p-24, 0, 0x1p-24},               // the smallest
		{0x1p-14, -0x1p-24, 0x1.ff8p-15},    // subnormal
		{float32(math.Inf(1)), -65504, inf}, //
	} {
		got := built(t, Float16, []operand{one(c.a), one(c.b)}, func(g *Graph, in []*Tensor) *Tensor { return g.Add(in[0], in[1]) })
		if got[0] != c.want {
			t.Errorf("%g + %g: got %g, want %g", c.a, c.b, got[0], c.want)
		}
	}
	nan := built(t, Float16, []operand{one(inf), one(inf)}, func(g *Graph, in []*Tensor) *Tensor { return g.Sub(in[0], in[1]) })
	if !math.IsNaN(float64(nan[0])) {
		t.Errorf("∞ - ∞: got %g", nan[0])
	}
	// 300² is beyond float16; as the mean of the squares inside one operation it is not.
	squares := func(g *Graph, in []*Tensor) *Tensor { return g.Mul(in[0], in[0]) }
	if got := built(t, Float16, []operand{one(300)}, squares); got[0] != inf {
		t.Errorf("300²: got %g", got[0])
	}
	sum := built(t, Float16, []operand{{[]int{1, 2}, values(300, -300)}, {[]int{1, 2}, values(300, 299)}, {[]int{1}, values(0)}}, func(g *Graph, in []*Tensor) *Tensor {
		return g.FullyConnected(in[0], in[1], in[2])
	})
	if sum[0] != 300 {
		t.Errorf("300·300 - 300·299: got %g, want 300: sums are in float32", sum[0])
	}
}

// TestHalf goes there and back through every float16.
func TestHalf(t *testing.T) {
	data, back := make([]byte, 2), make([]byte, 2)
	v := make([]float32, 1)
	for h := range 1 << 16 {
		data[0], data[1] = byte(h), byte(h>>8)
		Floats(v, Float16, data)
		PutFloats(back, Float16, v)
		if !slices.Equal(data, back) && !float16.Frombits(uint16(h)).IsNaN() {
			t.Fatalf("%04x became %x", h, back)
		}
	}
}

func TestEvalRefuses(t *testing.T) {
	g := New("test")
	g.Output(g.Tanh(g.Input("x", Float32, 2)))
	for _, bad := range [][][]byte{nil, {nil}, {make([]byte, 4)}, {make([]byte, 8), nil}} {
		if _, err := Eval(g, bad); err == nil {
			t.Errorf("%d inputs: no error", len(bad))
		}
	}
}

// BenchmarkFullyConnected says how long a window takes.
func BenchmarkFullyConnected(b *testing.B) {
	const m, n, k = 128, 512, 512
	x, w, out := make([]float32, m*k), make([]float32, n*k), make([]float32, m*n)
	for b.Loop() {
		products(out, x, w, nil, k)
	}
	b.ReportMetric(2*m*n*k*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
