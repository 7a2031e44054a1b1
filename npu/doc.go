// Package npu runs graphs (package npu/graph) on the neural processor of a MediaTek
// Genio board, through the vendor's Neuron Adapter library. Open has the library in
// this process, StartWorker in a process of its own: a crash or a hang inside the
// library can only be survived from outside. Both give a Device.
//
// What the library wants is written from facts/npu.md and facts/neuron-observed.md; no
// board has confirmed it for earshot yet.
//
// One goroutine on one thread makes all calls of the library. The package owns, until
// Close: the library, its models and compilations, and the shared memory that tensors
// travel in. It knows no model and no planning, and has no way back to the CPU: it says
// what went wrong, as an *Error.
package npu
