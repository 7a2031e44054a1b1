package onnpu

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"earshot/npu"
	"earshot/npu/graph"
	"earshot/npu/sim"
	"earshot/whisper"
	"earshot/whisper/backendtest"
)

// simulator opens the library that stands in for a board's, which counts its memory by
// itself; report returns the most that it held.
func simulator(t *testing.T, board string) (device npu.Device, report func() Held) {
	t.Helper()
	library := sim.Library(t)
	file := filepath.Join(t.TempDir(), "report.json")
	t.Setenv("NEURONSIM_PROFILE", board)
	t.Setenv("NEURONSIM_REPORT", file)
	device, err := npu.Open(context.Background(), library)
	if err != nil {
		t.Fatal(err)
	}
	return device, func() (most Held) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var held struct{ Mark, Allocations int }
			if err := json.Unmarshal(line, &held); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			most = Held{max(most.Bytes, held.Mark), max(most.Allocations, held.Allocations)}
		}
		return most
	}
}

// TestSimulator runs an encoder in the ways that a board admits through the library's
// stand-in. What its allocator held is no more than predicted, and at most 15 % less.
func TestSimulator(t *testing.T) {
	const positions = 112
	m := backendtest.MadeUp(t, backendtest.LargeV3) // of one small layer
	d := whisper.Dims(m.Header.Dims)
	mel := madeUpMel(d, 2*positions)
	for _, p := range Profiles() {
		if p.NPU.Value == "" {
			continue
		}
		for _, way := range Ways(d, p.Attention(d), positions) {
			if way.CPU || way.Strategy.AllHeads && !p.BatchMatMul.Value || testing.Short() && p.Board != "genio-700" {
				continue
			}
			t.Run(p.Board+"/"+way.Name, func(t *testing.T) {
				device, report := simulator(t, p.Board)
				defer device.Close()
				e, err := New(m, Options{
					Form: p.Form(), Windows: []Window{{positions, way.Strategy}}, Pool: pool(t), Memory: p.Memory(),
					Compile: func(ctx context.Context, g *graph.Graph) (Network, error) {
						supported, err := device.Supports(ctx, g)
						for i, yes := range supported {
							if !yes {
								return nil, fmt.Errorf("refused: %v", g.Operations[i])
							}
						}
						if err != nil {
							return nil, err
						}
						return device.Compile(ctx, g, npu.DefaultOptions())
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				predicted := e.windows[0].total.Peak()
				got, err := e.Encode(context.Background(), mel)
				e.Close()
				if err != nil {
					t.Fatal(err)
				}
				want, err := encoder(t, m, p.Form(), way.Strategy, positions).Encode(context.Background(), mel)
				if err != nil {
					t.Fatal(err)
				}
				if off := furthest(got.Data, want.Data); !(off <= tolerance) {
					t.Errorf("%g off", off)
				}
				held := report()
				if held.Bytes > predicted.Bytes || held.Allocations > predicted.Allocations || float64(predicted.Bytes) > 1.15*float64(held.Bytes) {
					t.Errorf("%+v were held, %+v predicted", held, predicted)
				}
			})
		}
	}
}
