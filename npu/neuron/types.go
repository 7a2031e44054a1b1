package neuron

import "unsafe"

// Handles of the Adapter. They point to the library's memory; nil is none.
type (
	Model       unsafe.Pointer
	Compilation unsafe.Pointer
	Execution   unsafe.Pointer
	Memory      unsafe.Pointer
	Device      unsafe.Pointer

	Instance unsafe.Pointer // of the Runtime
)

// OperandType describes an operand. A scalar has no dimensions. The facts don't say
// whether the library copies them: keep them outside Go's memory, as long as the model.
type OperandType struct {
	Type       int32
	Dimensions []uint32
}

// Version is what the library calls its own.
type Version struct{ Major, Minor, Patch uint8 }
