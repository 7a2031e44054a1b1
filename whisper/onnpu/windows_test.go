package onnpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"earshot/audio/mel"
	"earshot/npu/graph"
	"earshot/whisper"
	"earshot/whisper/backendtest"
)

var _ whisper.Windower = (*Encoder)(nil)

// TestFilledUp asks for lengths between two windows: the features are filled up with what
// digital silence would have become behind the sound.
func TestFilledUp(t *testing.T) {
	features, err := mel.New(80)
	if err != nil {
		t.Fatal(err)
	}
	for _, loudness := range []float32{0.5, 1e-7} { // with the floor 8 below the loudest, and with 1e-10 for all
		sound := make([]float32, 16000)
		for i := range sound {
			sound[i] = loudness * float32(math.Sin(float64(i*i%7919)))
		}
		padded := slices.Clone(features.LogMel(sound, 400))
		short := whisper.Mel{Bands: 80, Frames: 120, Data: make([]float32, 80*120)}
		for b := range 80 {
			copy(short.Data[b*120:][:120], padded[b*400:])
		}
		got := frames(short, 200)
		for t1 := range 400 {
			for b := range 80 {
				want := padded[b*400+t1]
				if off := math.Abs(float64(got[(t1+1)*80+b] - want)); off > 1e-6 {
					t.Fatalf("loudness %g, frame %d, band %d: %g, want %g", loudness, t1, b, got[(t1+1)*80+b], want)
				}
			}
		}
	}

	m := backendtest.MadeUp(t, backendtest.Small)
	e := encoder(t, m, Form{}, cuts[3], 20, 40)
	asked := madeUpMel(e.dims, 44)
	whole := whisper.Mel{Bands: asked.Bands, Frames: 80, Data: make([]float32, asked.Bands*80)}
	silence := silenceBeside(asked.Data)
	for b := range asked.Bands {
		row := whole.Data[b*80 : (b+1)*80]
		for i := copy(row, asked.Data[b*44:(b+1)*44]); i < 80; i++ {
			row[i] = silence
		}
	}
	got, err := e.Encode(context.Background(), asked)
	if err != nil {
		t.Fatal(err)
	}
	want, err := e.Encode(context.Background(), whole)
	if err != nil {
		t.Fatal(err)
	}
	if got.Positions != 22 || !slices.Equal(got.Data, want.Data[:len(got.Data)]) || len(got.Data) != 22*e.dims.AudioState {
		t.Error("the head of the longer window differs")
	}
	if _, err := e.Encode(context.Background(), madeUpMel(e.dims, 82)); err == nil || !strings.Contains(err.Error(), "no window on the NPU has 41 positions: [20 40]") {
		t.Errorf("too long: %v", err)
	}
}

// TestLoaded sees that windows go when others need their room, and come back.
func TestLoaded(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	e := encoder(t, m, Form{}, Strategy{Attention: FullyConnected, Layers: 1, Stem: StemApart}, 16, 32, 48)
	device := new(evaluator)
	e.Compile = device.compile
	largest := e.windows[2].total.Running
	two := e.windows[1].total.Loaded.plus(e.windows[2].total.Loaded).plus(largest)
	run := func(positions, loaded, compiled int) {
		t.Helper()
		device.compiled = 0
		if _, err := e.Encode(context.Background(), madeUpMel(e.dims, 2*positions)); err != nil {
			t.Fatal(err)
		}
		if device.loaded != 3*loaded || device.compiled != 3*compiled {
			t.Errorf("%d positions: %d graphs loaded, %d compiled, want those of %d and %d windows", positions, device.loaded, device.compiled, loaded, compiled)
		}
	}
	run(16, 1, 1)
	run(32, 2, 1)
	run(48, 3, 1) // no limit
	e.Budget = Held{Bytes: two.Bytes}
	run(16, 2, 0) // 32 was used longest ago
	run(48, 2, 0)
	run(32, 2, 1) // 16 goes
	e.Budget = Held{Allocations: largest.Allocations + 3*graph.LoadedAllocations}
	run(32, 1, 0)
	run(16, 1, 1)
	if err := e.Close(); err != nil || device.loaded != 0 {
		t.Errorf("closed: %v, %d graphs loaded", err, device.loaded)
	}
	run(16, 1, 1)
}

// TestReload has one graph at a time.
func TestReload(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	e := encoder(t, m, Form{}, Strategy{Attention: FullyConnected, Layers: 1, Stem: StemApart, Reload: true}, 16)
	device := new(evaluator)
	e.Compile = func(ctx context.Context, g *graph.Graph) (Network, error) {
		if device.loaded > 0 {
			t.Error("another graph is loaded still")
		}
		return device.compile(ctx, g)
	}
	for range 2 {
		if _, err := e.Encode(context.Background(), madeUpMel(e.dims, 32)); err != nil {
			t.Fatal(err)
		}
	}
	if device.compiled != 6 || device.loaded != 0 {
		t.Errorf("%d compiled, %d loaded", device.compiled, device.loaded)
	}
}

// failing is a network whose second execution fails.
type failing struct {
	Network
	runs *int
}

var errFailed = errors.New("bad state")

func (f failing) Execute(ctx context.Context, inputs, outputs [][]byte) error {
	if *f.runs++; *f.runs == 2 {
		return errFailed
	}
	return f.Network.Execute(ctx, inputs, outputs)
}

// TestFailures says what failed, and goes on afterwards with graphs compiled anew.
func TestFailures(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	e := encoder(t, m, Form{}, Strategy{Attention: FullyConnected, Layers: 1, Stem: StemApart}, 16)
	device, runs := new(evaluator), 0
	e.Compile = func(context.Context, *graph.Graph) (Network, error) { return nil, errFailed }
	_, err := e.Encode(context.Background(), madeUpMel(e.dims, 32))
	if !errors.Is(err, errFailed) || !strings.Contains(err.Error(), "encode in 16 positions on the NPU") {
		t.Errorf("compile: %v", err)
	}
	e.Compile = func(ctx context.Context, g *graph.Graph) (Network, error) {
		n, err := device.compile(ctx, g)
		return failing{n, &runs}, err
	}
	if _, err := e.Encode(context.Background(), madeUpMel(e.dims, 32)); !errors.Is(err, errFailed) || device.loaded != 0 {
		t.Errorf("execute: %v, %d loaded", err, device.loaded)
	}
	if _, err := e.Encode(context.Background(), madeUpMel(e.dims, 32)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestCrossKV compares the cross-attention keys and values that come out of the graph with
// those of the encoder's states.
func TestCrossKV(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	s := Strategy{Attention: FullyConnected, Stem: StemInside, CrossKV: true}
	e := encoder(t, m, Form{}, s, 48)
	w := e.windows[0]
	g := w.graphs[0]
	out, err := graph.Eval(g, [][]byte{e.begin(w, frames(madeUpMel(e.dims, 96), 48))})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 1+2*e.dims.TextLayers {
		t.Fatalf("%d outputs", len(out))
	}
	d := e.dims.AudioState
	states := make([]float32, 48*d)
	graph.Floats(states, graph.Float16, out[0])
	for i, name := range []string{"decoder.blocks.0.cross_attn.key", "decoder.blocks.0.cross_attn.value", "decoder.blocks.1.cross_attn.key"} {
		weight, err := m.F32(name+".weight", d, d)
		if err != nil {
			t.Fatal(err)
		}
		bias := make([]float32, d)
		if strings.HasSuffix(name, "value") {
			if bias, err = m.F32(name+".bias", d); err != nil {
				t.Fatal(err)
			}
		}
		got := make([]float32, 48*d)
		graph.Floats(got, graph.Float16, out[1+i])
		want := make([]float32, 48*d)
		for r := range 48 {
			for o := range d {
				sum := float64(bias[o])
				for c := range d {
					sum += float64(states[r*d+c]) * float64(weight[o*d+c])
				}
				want[r*d+o] = float32(sum)
			}
		}
		if off := furthest(got, want); !(off < 0.005) {
			t.Errorf("%s: off by %g", name, off)
		}
	}
	if enc, err := e.Encode(context.Background(), madeUpMel(e.dims, 96)); err != nil || !slices.Equal(enc.Data, states) {
		t.Errorf("states beside keys and values: %v", err)
	}
}
