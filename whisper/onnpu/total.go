package onnpu

import "earshot/npu/graph"

// Total is what the graphs of a window take together.
type Total struct {
	Calls      int // of the NPU, for a window
	Operations int // of the graph that has most
	FLOP       int // of products on the NPU
	Moved      int // bytes, as graph.Cost counts them
	Weights    int // bytes of constants of all graphs

	// Loaded is held as long as the graphs are loaded, Running besides while one of them
	// runs. With Strategy.Reload nothing is loaded but the graph that runs.
	Loaded, Running Held
}

// Held are bytes and allocations.
type Held struct{ Bytes, Allocations int }

func (h Held) plus(o Held) Held { return Held{h.Bytes + o.Bytes, h.Allocations + o.Allocations} }

func (h Held) largest(o Held) Held {
	return Held{max(h.Bytes, o.Bytes), max(h.Allocations, o.Allocations)}
}

// Peak is all that is held at once.
func (t Total) Peak() Held { return t.Loaded.plus(t.Running) }

// Count adds up what the graphs of a window cost.
func Count(graphs []*graph.Graph, s Strategy, m graph.Memory) Total {
	t := Total{Calls: len(graphs)}
	for _, g := range graphs {
		c := g.Cost(m)
		t.Operations = max(t.Operations, c.Operations)
		t.FLOP += c.FLOP
		t.Moved += c.Moved
		t.Weights += c.Weights
		loaded := Held{c.Loaded(), graph.LoadedAllocations}
		running := Held{c.Running(), c.RunningAllocations()}
		if s.Reload {
			loaded, running = Held{}, running.plus(loaded)
		}
		t.Loaded, t.Running = t.Loaded.plus(loaded), t.Running.largest(running)
	}
	return t
}
