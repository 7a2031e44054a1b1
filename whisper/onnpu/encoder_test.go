package onnpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"earshot/cpu"
	"earshot/npu/graph"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/ref"
	"earshot/whisper/weights"
)

// evaluator runs graphs by their definition and counts those that are compiled.
type evaluator struct{ loaded, compiled int }

type evaluated struct {
	of *evaluator
	g  *graph.Graph
}

func (e *evaluator) compile(_ context.Context, g *graph.Graph) (Network, error) {
	e.loaded++
	e.compiled++
	return &evaluated{e, g}, nil
}

func (n *evaluated) Execute(ctx context.Context, inputs, outputs [][]byte) error {
	if n.g == nil {
		return errors.New("executed after it was closed")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	out, err := graph.Eval(n.g, inputs)
	if err != nil {
		return err
	}
	for i := range outputs {
		if copy(outputs[i], out[i]) != len(out[i]) || len(outputs[i]) != len(out[i]) {
			return fmt.Errorf("output %d has %d bytes, want %d", i, len(outputs[i]), len(out[i]))
		}
	}
	return nil
}

func (n *evaluated) Close() error {
	if n.g == nil {
		return errors.New("closed twice")
	}
	n.g = nil
	n.of.loaded--
	return nil
}

func pool(t testing.TB) *cpu.Pool {
	p := cpu.NewPool(2)
	t.Cleanup(p.Close)
	return p
}

// encoder is an Encoder on an evaluator with all windows cut in one way.
func encoder(t testing.TB, m *weights.Model, f Form, s Strategy, positions ...int) *Encoder {
	t.Helper()
	o := Options{Form: f, Compile: new(evaluator).compile, Pool: pool(t), Memory: graph.AssumedMemory()}
	for _, n := range positions {
		o.Windows = append(o.Windows, Window{n, s})
	}
	e, err := New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// forms and strategies that boards may need, each part at least once with each other part
// that it touches.
var (
	forms = []Form{{}, {Rank4: true}, {Gelu: true}, {LayerNorm: true}, {Gelu: true, LayerNorm: true, Rank4: true}}
	cuts  = []Strategy{
		{Attention: BatchMatMul, AllHeads: true, Stem: StemInside},
		{Attention: BatchMatMul, AllHeads: true, QueryRows: 32, Rows: 16, Layers: 1, Stem: StemApart},
		{Attention: BatchMatMul, Rows: 32, Stem: StemOnCPU},
		{Attention: FullyConnected, Rows: 16, Stem: StemInside},
		{Attention: FullyConnected, QueryRows: 32, Rows: 48, Layers: 1, Stem: StemApart, Reload: true},
		{Attention: Conv2D, Layers: 1, Stem: StemOnCPU},
		{Attention: FullyConnected, Layers: 1, Parts: true, Stem: StemInside},
		{Attention: Conv2D, QueryRows: 16, Stem: StemInside, Rows: 64},
		{Attention: OnCPU, Rows: 32, Stem: StemInside},
		{Attention: OnCPU, Stem: StemApart},
		{Attention: OnCPU, Stem: StemOnCPU},
	}
)

// tolerance of float16: every tensor between two operations is rounded to 11 bits, an
// error of 2^-12 of its value; made-up networks have some 40 such roundings one after the
// other on the way through two layers, with values of up to 4 in between that the last norm
// brings to size 1.
const tolerance = 40 * 4 / 4096.0

func TestContract(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	decoder, err := ref.New(m)
	if err != nil {
		t.Fatal(err)
	}
	e := encoder(t, m, Form{}, Strategy{Attention: FullyConnected, QueryRows: 32, Rows: 16, Stem: StemInside}, 1, 2, 15, 19, 74, 75)
	backendtest.Run(t, m, backendtest.Backend{Encoder: e, Decoder: decoder, Tolerance: tolerance})
}

// TestStrategies compares every way of cutting with the reference, and those that compute
// everything in graphs with each other: each value is the same sum, to the last bit.
func TestStrategies(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	reference, err := ref.New(m)
	if err != nil {
		t.Fatal(err)
	}
	lengths, forms := []int{1, 37, 75}, forms
	if testing.Short() {
		lengths, forms = lengths[1:2], forms[:2]
	}
	for _, positions := range lengths {
		mel := madeUpMel(whisper.Dims(m.Header.Dims), 2*positions)
		want, err := reference.Encode(context.Background(), mel)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range forms {
			var inGraph []float32
			for _, s := range cuts {
				got, err := encoder(t, m, f, s, positions).Encode(context.Background(), mel)
				if err != nil {
					t.Fatal(err)
				}
				if off := furthest(got.Data, want.Data); !(off <= tolerance) {
					t.Errorf("%d positions, %+v, %+v: off by %g", positions, f, s, off)
				}
				if s.Stem == StemOnCPU || s.Attention == OnCPU {
					continue
				}
				if inGraph == nil {
					inGraph = got.Data
				}
				if !slices.Equal(got.Data, inGraph) {
					t.Errorf("%d positions, %+v, %+v: not the bits of %+v", positions, f, s, cuts[0])
				}
			}
		}
	}
}

func madeUpMel(d whisper.Dims, frames int) whisper.Mel {
	random := rand.New(rand.NewPCG(uint64(frames), 2))
	m := whisper.Mel{Bands: d.Mels, Frames: frames, Data: make([]float32, d.Mels*frames)}
	for i := range m.Data {
		m.Data[i] = float32(random.Float64()*2 - 0.5)
	}
	return m
}

// furthest is the largest difference, as a share of max(1, |want|); NaN if there is one.
func furthest(got, want []float32) (worst float64) {
	if len(got) != len(want) {
		return math.NaN()
	}
	for i := range got {
		off := math.Abs(float64(got[i])-float64(want[i])) / math.Max(1, math.Abs(float64(want[i])))
		if !(off <= worst) {
			worst = off
		}
	}
	return worst
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}
