package npu

import (
	"fmt"

	"earshot/npu/graph"
)

// alignment is that of tensors in a pool, bytes (facts/npu.md 2).
const alignment = 128

func aligned(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

// tensor is an input or output of a network, as far as its memory goes.
type tensor struct {
	Type  graph.Type
	Bytes int
}

// tensorsOf are those of a graph's inputs or outputs.
func tensorsOf(all []*graph.Tensor) []tensor {
	list := make([]tensor, len(all))
	for i, t := range all {
		list[i] = tensor{t.Type, t.Bytes()}
	}
	return list
}

// layout says where in a pool the tensors of one direction are.
type layout struct {
	tensors []tensor
	offsets []int // bytes
	total   int
}

func layOut(tensors []tensor) layout {
	l := layout{tensors: tensors}
	for _, t := range tensors {
		l.offsets = append(l.offsets, l.total)
		l.total += aligned(t.Bytes)
	}
	return l
}

// check is for the buffers that a caller gives for these tensors.
func (l layout) check(direction string, buffers [][]byte) error {
	if len(buffers) != len(l.tensors) {
		return fmt.Errorf("%d %ss are given, and there are %d", len(buffers), direction, len(l.tensors))
	}
	for i, b := range buffers {
		if want := l.tensors[i].Bytes; len(b) != want {
			return fmt.Errorf("%s %d is given %d bytes, and has %d", direction, i, len(b), want)
		}
	}
	return nil
}
