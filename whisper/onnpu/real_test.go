package onnpu

import (
	"context"
	"io"
	"math"
	"os"
	"testing"

	"earshot/audio/mel"
	"earshot/audio/wave"
	"earshot/npu/graph"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
	"earshot/whisper/weights"
)

// heard is the beginning of a recording as features in a window of so many positions.
func heard(t *testing.T, m *weights.Model, positions int) whisper.Mel {
	t.Helper()
	in, err := wave.Open(backendtest.Shared(t, "audio/jfk/jfk.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	samples := make([]float32, 2*whisper.SampleRate)
	if n, err := in.Read(samples); err != nil && err != io.EOF {
		t.Fatal(err)
	} else {
		samples = samples[:n]
	}
	features, err := mel.New(m.Header.Dims.Mels)
	if err != nil {
		t.Fatal(err)
	}
	return whisper.Mel{Bands: m.Header.Dims.Mels, Frames: 2 * positions, Data: features.LogMel(samples, 2*positions)}
}

// TestReal compares real weights in a short window with the CPU in float32. A board's
// graphs are admitted with a cosine of 0.999.
func TestReal(t *testing.T) {
	models := []string{"tiny.en"}
	if os.Getenv("EARSHOT_LONG") == "1" {
		models = append(models, "base")
	}
	for _, name := range models {
		m := backendtest.Model(t, name)
		network, err := oncpu.New(m, pool(t), oncpu.Float32)
		if err != nil {
			t.Fatal(err)
		}
		mel := heard(t, m, 112)
		want, err := network.Encoder.Encode(context.Background(), mel)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			form     Form
			strategy Strategy
		}{
			{Form{}, Strategy{Attention: FullyConnected, Stem: StemInside, Rows: 32, Layers: 2}},
			{Form{Gelu: true, LayerNorm: true}, Strategy{Attention: BatchMatMul, Stem: StemInside, AllHeads: true}},
			{Form{Rank4: true}, Strategy{Attention: OnCPU, Stem: StemOnCPU}},
		} {
			got, err := encoder(t, m, c.form, c.strategy, 112).Encode(context.Background(), mel)
			if err != nil {
				t.Fatal(err)
			}
			cos, off := cosine(got.Data, want.Data), furthest(got.Data, want.Data)
			t.Logf("%s, %+v, %+v: cosine %.7f, off by %.3f", name, c.form, c.strategy, cos, off)
			if !(cos > 0.9999) {
				t.Errorf("%s, %+v, %+v: cosine %g, off by %g", name, c.form, c.strategy, cos, off)
			}
		}
	}
}

// TestRange sees how far from the ends of float16 all values stay that pass between
// operations, in the form that is put together from most of them.
func TestRange(t *testing.T) {
	m := backendtest.Model(t, "tiny.en")
	e := encoder(t, m, Form{}, Strategy{Attention: FullyConnected, Stem: StemInside}, 112)
	w := e.windows[0]
	g := w.graphs[0]
	g.Outputs = nil
	for _, o := range g.Operations {
		g.Output(o.Out)
	}
	out, err := graph.Eval(g, [][]byte{e.begin(w, frames(heard(t, m, 112), 112))})
	if err != nil {
		t.Fatal(err)
	}
	largest := map[graph.Kind]float64{}
	for i, o := range g.Operations {
		values := make([]float32, o.Out.Elements())
		graph.Floats(values, graph.Float16, out[i])
		for _, v := range values {
			if x := math.Abs(float64(v)); x > largest[o.Kind] || math.IsNaN(x) {
				largest[o.Kind] = x
			}
		}
	}
	t.Log(largest)
	for k, v := range largest {
		if !(v < 65504/8) && k != graph.Mul { // which is infinite in GELU far from zero
			t.Errorf("%v comes to %g", k, v)
		}
	}
}
