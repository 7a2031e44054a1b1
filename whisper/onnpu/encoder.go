package onnpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"earshot/cpu"
	"earshot/npu/graph"
	"earshot/whisper"
	"earshot/whisper/weights"
)

// Network is a compiled graph.
type Network interface {
	// Execute computes the outputs; slices have the sizes of the graph's tensors.
	Execute(ctx context.Context, inputs, outputs [][]byte) error
	Close() error
}

// Compile compiles a graph, or takes it from where compiled graphs are kept: the graph's
// name says all that it was built from, except for the parameters' values.
type Compile func(ctx context.Context, g *graph.Graph) (Network, error)

// Window is a length of window, in encoder positions, and how it is computed.
type Window struct {
	Positions int
	Strategy  Strategy
}

// Options are what an Encoder is made from besides a model.
type Options struct {
	Form    Form
	Windows []Window
	Compile Compile
	Pool    *cpu.Pool // for what is computed on the CPU
	Memory  graph.Memory
	// Budget is what may be held at once. Graphs that were not used for longest go when
	// others need the room. Zeros are no limit.
	Budget Held
}

// Encoder implements whisper.Encoder and whisper.Windower. Graphs are compiled when a
// window is first needed.
type Encoder struct {
	Options
	dims       whisper.Dims
	parameters *Parameters
	stem       *cpuStem
	windows    []*window // by length
	loaded     []*window // the one used last comes last
}

// window is a Window with its graphs.
type window struct {
	Window
	graphs   []*graph.Graph
	total    Total
	networks []Network // nil for those that are not loaded
}

// New prepares an encoder for a model, which is not needed any more then.
func New(m *weights.Model, o Options) (*Encoder, error) {
	e := &Encoder{Options: o, dims: whisper.Dims(m.Header.Dims)}
	var err error
	if e.parameters, err = Read(m); err != nil {
		return nil, err
	}
	for _, w := range o.Windows {
		if w.Positions < 1 || w.Positions > e.dims.AudioCtx {
			return nil, fmt.Errorf("windows for the NPU: %d positions, the model takes 1 to %d", w.Positions, e.dims.AudioCtx)
		}
		if w.Strategy.Stem == StemOnCPU && e.stem == nil {
			if e.stem, err = newCPUStem(m); err != nil {
				return nil, err
			}
		}
		graphs := Cut(e.parameters, o.Form, w.Strategy, w.Positions)
		e.windows = append(e.windows, &window{w, graphs, Count(graphs, w.Strategy, o.Memory), make([]Network, len(graphs))})
	}
	slices.SortFunc(e.windows, func(a, b *window) int { return cmp.Compare(a.Positions, b.Positions) })
	return e, nil
}

// Windows implements whisper.Windower.
func (e *Encoder) Windows() (all []int) {
	for _, w := range e.windows {
		all = append(all, w.Positions)
	}
	return all
}

// Encode implements whisper.Encoder. Features of a length that is none of Windows are
// filled up with silence to the next, which is what whisper.Engine does with the samples.
func (e *Encoder) Encode(ctx context.Context, mel whisper.Mel) (whisper.Encoded, error) {
	if err := mel.Check(e.dims); err != nil {
		return whisper.Encoded{}, err
	}
	if err := ctx.Err(); err != nil {
		return whisper.Encoded{}, err
	}
	w := e.window(mel.Frames / 2)
	if w == nil {
		return whisper.Encoded{}, fmt.Errorf("encode: no window on the NPU has %d positions: %v", mel.Frames/2, e.Windows())
	}
	if err := e.makeRoom(w); err != nil {
		return whisper.Encoded{}, err
	}
	rows, err := e.run(ctx, w, frames(mel, w.Positions))
	if err != nil {
		return whisper.Encoded{}, fmt.Errorf("encode in %d positions on the NPU: %w", w.Positions, err)
	}
	out := whisper.Encoded{Positions: mel.Frames / 2, Data: make([]float32, mel.Frames/2*e.dims.AudioState)}
	graph.Floats(out.Data, graph.Float16, rows)
	return out, nil
}

// window is the shortest that has room.
func (e *Encoder) window(positions int) *window {
	for _, w := range e.windows {
		if w.Positions >= positions {
			return w
		}
	}
	return nil
}

// frames is mel by frames, [2n+2, M], filled up with silence to n positions and with a
// frame of zeros on either side, as the convolution has it.
func frames(mel whisper.Mel, positions int) []float32 {
	all := make([]float32, (2*positions+2)*mel.Bands)
	silence := silenceBeside(mel.Data)
	for t := range 2 * positions {
		row := all[(t+1)*mel.Bands:][:mel.Bands]
		for b := range row {
			if row[b] = silence; t < mel.Frames {
				row[b] = mel.Data[b*mel.Frames+t]
			}
		}
	}
	return all
}

// silenceBeside is what digital silence becomes next to these features: log10 of the floor
// 1e-10 is -10, everything is raised to 8 below the loudest, and scaled by (x + 4)/4.
func silenceBeside(features []float32) float32 { return max(-1.5, slices.Max(features)-2) }

// run computes the encoder's states, [n, D] in float16 with rows behind that fill up.
func (e *Encoder) run(ctx context.Context, w *window, frames []float32) ([]byte, error) {
	stream := e.begin(w, frames)
	var rest [][]byte // what a graph returned beside the stream
	for i, g := range w.graphs {
		inputs := [][]byte{stream}
		if len(rest) > 0 && i > 0 && w.Strategy.Attention == OnCPU {
			inputs = append(inputs, e.attend(rest))
		}
		outputs := make([][]byte, len(g.Outputs))
		for j, t := range g.Outputs {
			outputs[j] = make([]byte, t.Bytes())
		}
		if err := e.execute(ctx, w, i, inputs, outputs); err != nil {
			return nil, err
		}
		if rest = outputs; len(outputs) != 3 { // Q, K and V without the stream, which stays
			stream, rest = outputs[0], outputs[1:]
		}
	}
	return stream, nil
}

// begin is what the first graph takes: mel, or the stem's result.
func (e *Encoder) begin(w *window, frames []float32) []byte {
	first := w.graphs[0].Inputs[0]
	data := make([]byte, first.Bytes())
	if w.Strategy.Stem != StemOnCPU {
		graph.PutFloats(data, graph.Float16, frames)
		return data
	}
	x := e.stem.run(e.Pool, frames)
	graph.PutFloats(data, graph.Float16, x)
	// Rows that fill up are like the last one: nobody attends to them, and rows of zeros
	// have no variance to divide by.
	row := 2 * e.dims.AudioState
	for at := 2 * len(x); at < len(data); at += row {
		copy(data[at:at+row], data[at-row:at])
	}
	return data
}

// attend is attention on the CPU, from and to float16.
func (e *Encoder) attend(qkv [][]byte) []byte {
	var values [3][]float32
	for i, data := range qkv {
		values[i] = make([]float32, len(data)/2)
		graph.Floats(values[i], graph.Float16, data)
	}
	attend(e.Pool, e.dims, values[0], values[1], values[2])
	context := make([]byte, len(qkv[0]))
	graph.PutFloats(context, graph.Float16, values[0])
	return context
}
