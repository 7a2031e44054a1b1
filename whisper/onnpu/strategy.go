package onnpu

import (
	"earshot/npu/graph"
)

// Strategy is a way of cutting the encoder into graphs.
type Strategy struct {
	// Layers is how many layers a graph has; 0 means all.
	Layers int
	// Parts makes two graphs of each layer, attention and the feed-forward part.
	Parts bool
	// Stem is where the convolutions are computed.
	Stem Stem
	// Attention is where and how attention is computed.
	Attention Attention
	// AllHeads computes the scores of all heads at once, [H, n, n]; otherwise they are
	// computed head by head. It takes BatchMatMul.
	AllHeads bool
	// QueryRows is how many rows of scores are computed at a time; 0 means all.
	QueryRows int
	// Rows is how many positions go through the stem and the feed-forward part at a time;
	// 0 means all.
	Rows int
	// Reload has only one graph loaded at a time, for each window anew.
	Reload bool
	// CrossKV makes the decoder's cross-attention keys and values outputs of the last
	// graph, K and V of each decoder layer.
	CrossKV bool
}

// Stem is where the convolutions are.
type Stem string

const (
	StemInside Stem = "inside" // in the first layers' graph
	StemApart  Stem = "apart"  // in a graph of its own
	StemOnCPU  Stem = "cpu"
)

// Attention is how Q·Kᵀ and softmax·V are computed.
type Attention string

const (
	BatchMatMul    Attention = "batch-matmul"
	FullyConnected Attention = "fully-connected" // with computed weights
	Conv2D         Attention = "conv-2d"         // with computed filters of 1x1
	OnCPU          Attention = "cpu"             // everything else is on the NPU
)

// Form is how a board takes what is the same to the network.
type Form struct {
	Gelu      bool // as one operation
	LayerNorm bool // as one operation
	// Rank4 has all rows as [1, n, 1, columns] and matrices as CONV_2D; otherwise rows are
	// [n, columns] and matrices FULLY_CONNECTED.
	Rank4 bool
}

// align is what the number of rows is rounded up to: computed weights take output
// channels in multiples of 16 and input channels of 32 bytes (facts/npu.md 9.1, read for
// MDLA 2.0 and assumed elsewhere).
func (a Attention) align() int {
	if a == FullyConnected || a == Conv2D {
		return 16
	}
	return 1
}

// operation is what a product of two computed tensors becomes.
func (a Attention) operation() (k graph.Kind, inGraph bool) {
	switch a {
	case BatchMatMul:
		return graph.BatchMatMul, true
	case FullyConnected:
		return graph.FullyConnected, true
	case Conv2D:
		return graph.Conv2D, true
	}
	return 0, false
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
