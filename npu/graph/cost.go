package graph

// Memory is how an NPU's library is assumed to use memory. Nothing of it is published;
// the simulator (npu/sim) has an allocator of its own that follows the same rules:
//
//   - Every allocation is rounded up to pages and takes a file descriptor.
//   - A compiled graph holds one allocation with all constants and one with commands, and
//     package npu keeps one for its inputs and one for its outputs.
//   - A running one holds an allocation for what describes the execution, and one for
//     each intermediate tensor from the operation that writes it to the last that reads
//     it. Operations run in the order of the graph. RESHAPE takes nothing.
type Memory struct {
	Page           int  // bytes
	ConstantAlign  int  // bytes: where a constant may begin
	TensorAlign    int  // bytes: where an input or output may begin
	CommandBytes   int  // of an operation
	ExecutionBytes int  // of what describes an execution
	InPlace        bool // element-wise operations write over an input that nobody reads any more
}

// AssumedMemory is what earshot plans with.
func AssumedMemory() Memory {
	return Memory{Page: 4096, ConstantAlign: 128, TensorAlign: 128, CommandBytes: 256, ExecutionBytes: 160}
}

func (m Memory) pages(bytes int) int { return roundUp(bytes, m.Page) }

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// Cost is what a graph takes. Bytes are of whole pages.
type Cost struct {
	Weights     int // bytes of the constants
	Commands    int // bytes
	Execution   int // bytes of what describes an execution
	Activations int // bytes of intermediate tensors where most are alive
	Live        int // intermediate tensors where the largest number is alive
	Inputs      int // bytes
	Outputs     int // bytes

	Operations int
	FLOP       int // of products, a multiplication and an addition being two
	Moved      int // bytes that operations read and write, as if nothing stayed inside the NPU
}

// Loaded is how many bytes a compiled graph holds until it is freed.
func (c Cost) Loaded() int { return c.Weights + c.Commands + c.Inputs + c.Outputs }

// Running is how many more it holds while it runs.
func (c Cost) Running() int { return c.Execution + c.Activations }

// LoadedAllocations is how many a compiled graph holds.
const LoadedAllocations = 4

// RunningAllocations is how many more it holds while it runs.
func (c Cost) RunningAllocations() int { return 1 + c.Live }

// Cost counts.
func (g *Graph) Cost(m Memory) Cost {
	c := Cost{
		Weights:    m.pages(packed(g.Constants, m.ConstantAlign)),
		Commands:   m.pages(len(g.Operations) * m.CommandBytes),
		Execution:  m.pages(m.ExecutionBytes),
		Inputs:     m.pages(packed(g.Inputs, m.TensorAlign)),
		Outputs:    m.pages(packed(g.Outputs, m.TensorAlign)),
		Operations: len(g.Operations),
	}
	c.Activations, c.Live = peak(g.Lifetimes(m), len(g.Operations))
	for _, o := range g.Operations {
		c.FLOP += o.flop()
		c.Moved += o.moved()
	}
	return c
}

// packed is the size of tensors behind each other.
func packed(list []*Tensor, align int) (bytes int) {
	for _, t := range list {
		bytes = roundUp(bytes, align) + t.Bytes()
	}
	return bytes
}

// peak is the largest sum of bytes and the largest number of lifetimes over operations.
func peak(all []Lifetime, operations int) (bytes, live int) {
	change, count := make([]int, operations+1), make([]int, operations+1)
	for _, l := range all {
		change[l.From] += l.Bytes
		change[l.To+1] -= l.Bytes
		count[l.From]++
		count[l.To+1]--
	}
	sum, n := 0, 0
	for i := range operations {
		sum += change[i]
		n += count[i]
		bytes, live = max(bytes, sum), max(live, n)
	}
	return bytes, live
}

// flop is twice the multiplications of a product.
func (o *Operation) flop() int {
	switch o.Kind {
	case FullyConnected, BatchMatMul:
		return 2 * o.Out.Elements() * o.In[0].Shape[len(o.In[0].Shape)-1]
	case Conv2D:
		return 2 * o.Out.Elements() * o.In[1].Elements() / o.In[1].Shape[0]
	}
	return 0
}

func (o *Operation) moved() int {
	if o.Kind == Reshape {
		return 0
	}
	bytes := o.Out.Bytes()
	for _, t := range o.In {
		bytes += t.Bytes()
	}
	return bytes
}
