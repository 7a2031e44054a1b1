package npu

import (
	"context"

	"earshot/npu/graph"
	"earshot/npu/neuron"
)

// Device compiles and runs graphs. Its calls go one after the other, whoever makes
// them; a call waits for the one before it, as long as its context lets it.
//
// The interface is this large, and here, since it is what the two ways to reach the
// library, in this process and in a worker, have to have in common.
type Device interface {
	// Supports says for each operation of g whether the library would take it.
	// ErrMissing: it can't be asked.
	Supports(ctx context.Context, g *graph.Graph) ([]bool, error)

	// Compile builds g for the NPU, which takes seconds to minutes. The constants of g
	// are needed until it returns.
	Compile(ctx context.Context, g *graph.Graph, o Options) (Network, error)

	// Restore takes what Network.Store gave, from the same version of the library.
	Restore(ctx context.Context, stored []byte) (Network, error)

	// Status is the state right now, or, while a call is being made, the last known.
	Status() Status

	// Close frees everything, networks included.
	Close() error
}

// Network is a graph that was compiled.
type Network interface {
	// Execute computes the outputs. Each slice has the size of its tensor and its
	// layout: dense, row-major, little-endian. ErrNaN: an output is not finite; the
	// outputs then hold it.
	Execute(ctx context.Context, inputs, outputs [][]byte) error

	// Store returns the network in a form that Restore takes.
	Store(ctx context.Context) ([]byte, error)

	// Close frees it.
	Close() error
}

// Options are how a graph is compiled and run.
type Options struct {
	Relax        bool       // compute float32 as float16
	Preference   Preference // what matters most
	Priority     Priority   // against other users of the NPU
	Hint         Hint       // what to optimise for
	Optimisation string     // options of the vendor's compiler; "" for its own default
	Boost        int        // of the NPU's clock at execution, per cent of what there is; 0 leaves it as it is
}

// DefaultOptions are those of LiteRT (facts/neuron-observed.md 3, facts/npu.md 2).
func DefaultOptions() Options {
	return Options{Preference: SustainedSpeed, Priority: HighPriority, Hint: NormalHint, Optimisation: "--opt-accuracy --opt 3", Boost: 100}
}

// Preference, Priority and Hint have the library's own values (facts/npu.md 3).
type (
	Preference int32
	Priority   int32
	Hint       uint32
)

const (
	LowPower         Preference = neuron.PREFER_LOW_POWER
	FastSingleAnswer Preference = neuron.PREFER_FAST_SINGLE_ANSWER
	SustainedSpeed   Preference = neuron.PREFER_SUSTAINED_SPEED
	TurboBoost       Preference = neuron.PREFER_TURBO_BOOST

	LowPriority    Priority = neuron.PRIORITY_LOW
	MediumPriority Priority = neuron.PRIORITY_MEDIUM
	HighPriority   Priority = neuron.PRIORITY_HIGH

	NormalHint      Hint = neuron.OPTIMIZATION_NORMAL
	LowLatency      Hint = neuron.OPTIMIZATION_LOW_LATENCY
	DeepFusion      Hint = neuron.OPTIMIZATION_DEEP_FUSION
	BatchProcessing Hint = neuron.OPTIMIZATION_BATCH_PROCESSING
)

// Status says what a Device is and how it is.
type Status struct {
	Library string   // path or name that it was loaded by
	Version string   // of Neuron, as in "6.3.3"
	Magic   int      // NeuroPilot's magic number; 0 if the library doesn't tell
	Devices []string // that the library lists, as in "mtk-mdla"
	L1KB    int      // the NPU's L1 memory in KiB; 0 if the library doesn't tell
	SoC     SoC

	Networks        int // compiled and not closed
	Descriptors     int // open file descriptors of the process that has the library
	DescriptorLimit int // that this process may have; each allocation of the NPU's memory takes one

	PID      int    // of the worker; 0 without one
	Restarts int    // of the worker
	Failure  string // why there is no worker now
}
