//go:build linux && cgo && (amd64 || arm64)

package neuron

// #include <stdlib.h>
// #include "symbols.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// The library and its devices.

func (l *Library) Neuron_getVersion() (Version, error) {
	var v C.NeuronRuntimeVersion
	err := check("Neuron_getVersion", C.call_Neuron_getVersion(l.c, &v))
	return Version{uint8(v.major), uint8(v.minor), uint8(v.patch)}, err
}

func (l *Library) Neuron_getNeuroPilotMagicNumber() (int, error) {
	var n C.int32_t
	err := check("Neuron_getNeuroPilotMagicNumber", C.call_Neuron_getNeuroPilotMagicNumber(l.c, &n))
	return int(n), err
}

func (l *Library) Neuron_getL1MemorySizeKb() (int, error) {
	var kb C.uint32_t
	err := check("Neuron_getL1MemorySizeKb", C.call_Neuron_getL1MemorySizeKb(l.c, &kb))
	return int(kb), err
}

func (l *Library) Neuron_getDeviceCount() (int, error) {
	var n C.uint32_t
	err := check("Neuron_getDeviceCount", C.call_Neuron_getDeviceCount(l.c, &n))
	return int(n), err
}

func (l *Library) Neuron_getDevice(i int) (Device, error) {
	var d *C.NeuronDevice
	err := check("Neuron_getDevice", C.call_Neuron_getDevice(l.c, C.uint32_t(i), &d))
	return Device(d), err
}

func (l *Library) NeuronDevice_getName(d Device) (string, error) {
	var name *C.char
	err := check("NeuronDevice_getName", C.call_NeuronDevice_getName(l.c, (*C.NeuronDevice)(d), &name))
	return C.GoString(name), err
}

// Models.

func (l *Library) NeuronModel_create() (Model, error) {
	var m *C.NeuronModel
	err := check("NeuronModel_create", C.call_NeuronModel_create(l.c, &m))
	return Model(m), err
}

func (l *Library) NeuronModel_free(m Model) { C.call_NeuronModel_free(l.c, (*C.NeuronModel)(m)) }

func (l *Library) NeuronModel_finish(m Model) error {
	return check("NeuronModel_finish", C.call_NeuronModel_finish(l.c, (*C.NeuronModel)(m)))
}

func (l *Library) NeuronModel_setName(m Model, name string) error {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return check("NeuronModel_setName", C.call_NeuronModel_setName(l.c, (*C.NeuronModel)(m), s))
}

func (l *Library) NeuronModel_addOperand(m Model, t OperandType) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	c := C.NeuronOperandType{_type: C.int32_t(t.Type), dimensionCount: C.uint32_t(len(t.Dimensions))}
	if len(t.Dimensions) > 0 {
		pin.Pin(&t.Dimensions[0])
		c.dimensions = (*C.uint32_t)(&t.Dimensions[0])
	}
	return check("NeuronModel_addOperand", C.call_NeuronModel_addOperand(l.c, (*C.NeuronModel)(m), &c))
}

// NeuronModel_setOperandValue copies up to ImmediatelyCopied bytes. A larger value must
// not be in Go's memory, and not move or change until the compilation has finished.
func (l *Library) NeuronModel_setOperandValue(m Model, i int, value []byte) error {
	return check("NeuronModel_setOperandValue", C.call_NeuronModel_setOperandValue(l.c, (*C.NeuronModel)(m), C.int32_t(i),
		unsafe.Pointer(unsafe.SliceData(value)), C.size_t(len(value))))
}

func (l *Library) NeuronModel_addOperation(m Model, operation int32, in, out []uint32) error {
	return check("NeuronModel_addOperation", C.call_NeuronModel_addOperation(l.c, (*C.NeuronModel)(m), C.int32_t(operation),
		C.uint32_t(len(in)), indices(in), C.uint32_t(len(out)), indices(out)))
}

func (l *Library) NeuronModel_identifyInputsAndOutputs(m Model, in, out []uint32) error {
	return check("NeuronModel_identifyInputsAndOutputs", C.call_NeuronModel_identifyInputsAndOutputs(l.c, (*C.NeuronModel)(m),
		C.uint32_t(len(in)), indices(in), C.uint32_t(len(out)), indices(out)))
}

func (l *Library) NeuronModel_relaxComputationFloat32toFloat16(m Model, allow bool) error {
	return check("NeuronModel_relaxComputationFloat32toFloat16",
		C.call_NeuronModel_relaxComputationFloat32toFloat16(l.c, (*C.NeuronModel)(m), C.bool(allow)))
}

// NeuronModel_getSupportedOperations fills supported, one for each operation.
func (l *Library) NeuronModel_getSupportedOperations(m Model, supported []bool) error {
	return check("NeuronModel_getSupportedOperations", C.call_NeuronModel_getSupportedOperations(l.c, (*C.NeuronModel)(m),
		(*C.bool)(unsafe.SliceData(supported)), C.uint32_t(len(supported))))
}

func (l *Library) NeuronModel_getExtensionOperandType(m Model, extension string, code uint16) (int32, error) {
	s := C.CString(extension)
	defer C.free(unsafe.Pointer(s))
	var t C.int32_t
	err := check("NeuronModel_getExtensionOperandType",
		C.call_NeuronModel_getExtensionOperandType(l.c, (*C.NeuronModel)(m), s, C.uint16_t(code), &t))
	return int32(t), err
}

func (l *Library) NeuronModel_getExtensionOperationType(m Model, extension string, code uint16) (int32, error) {
	s := C.CString(extension)
	defer C.free(unsafe.Pointer(s))
	var t C.int32_t
	err := check("NeuronModel_getExtensionOperationType",
		C.call_NeuronModel_getExtensionOperationType(l.c, (*C.NeuronModel)(m), s, C.uint16_t(code), &t))
	return int32(t), err
}

func (l *Library) NeuronModel_restoreFromCompiledNetwork(stored []byte) (Model, Compilation, error) {
	var m *C.NeuronModel
	var c *C.NeuronCompilation
	err := check("NeuronModel_restoreFromCompiledNetwork", C.call_NeuronModel_restoreFromCompiledNetwork(l.c, &m, &c,
		unsafe.Pointer(unsafe.SliceData(stored)), C.size_t(len(stored))))
	return Model(m), Compilation(c), err
}

// Compilations.

func (l *Library) NeuronCompilation_create(m Model) (Compilation, error) {
	var c *C.NeuronCompilation
	err := check("NeuronCompilation_create", C.call_NeuronCompilation_create(l.c, (*C.NeuronModel)(m), &c))
	return Compilation(c), err
}

func (l *Library) NeuronCompilation_free(c Compilation) {
	C.call_NeuronCompilation_free(l.c, (*C.NeuronCompilation)(c))
}

func (l *Library) NeuronCompilation_finish(c Compilation) error {
	return check("NeuronCompilation_finish", C.call_NeuronCompilation_finish(l.c, (*C.NeuronCompilation)(c)))
}

// NeuronCompilation_getSupportedOperations is for a compilation that isn't finished; it
// fills supported, one for each operation.
func (l *Library) NeuronCompilation_getSupportedOperations(c Compilation, supported []bool) error {
	return check("NeuronCompilation_getSupportedOperations", C.call_NeuronCompilation_getSupportedOperations(l.c,
		(*C.NeuronCompilation)(c), C.uint32_t(len(supported)), (*C.bool)(unsafe.SliceData(supported))))
}

func (l *Library) NeuronCompilation_setPreference(c Compilation, preference int32) error {
	return check("NeuronCompilation_setPreference",
		C.call_NeuronCompilation_setPreference(l.c, (*C.NeuronCompilation)(c), C.int32_t(preference)))
}

func (l *Library) NeuronCompilation_setPriority(c Compilation, priority int32) error {
	return check("NeuronCompilation_setPriority",
		C.call_NeuronCompilation_setPriority(l.c, (*C.NeuronCompilation)(c), C.int32_t(priority)))
}

func (l *Library) NeuronCompilation_setOptimizationHint(c Compilation, hint uint32) error {
	return check("NeuronCompilation_setOptimizationHint",
		C.call_NeuronCompilation_setOptimizationHint(l.c, (*C.NeuronCompilation)(c), C.uint32_t(hint)))
}

// NeuronCompilation_setOptimizationString takes options of the vendor's compiler.
func (l *Library) NeuronCompilation_setOptimizationString(c Compilation, options string) error {
	s := C.CString(options)
	defer C.free(unsafe.Pointer(s))
	return check("NeuronCompilation_setOptimizationString",
		C.call_NeuronCompilation_setOptimizationString(l.c, (*C.NeuronCompilation)(c), s))
}

func (l *Library) NeuronCompilation_setL1MemorySizeKb(c Compilation, kb int) error {
	return check("NeuronCompilation_setL1MemorySizeKb",
		C.call_NeuronCompilation_setL1MemorySizeKb(l.c, (*C.NeuronCompilation)(c), C.uint32_t(kb)))
}

func (l *Library) NeuronCompilation_getCompiledNetworkSize(c Compilation) (int, error) {
	var size C.size_t
	err := check("NeuronCompilation_getCompiledNetworkSize",
		C.call_NeuronCompilation_getCompiledNetworkSize(l.c, (*C.NeuronCompilation)(c), &size))
	return int(size), err
}

// NeuronCompilation_storeCompiledNetwork fills dst, of the size that the library gave.
func (l *Library) NeuronCompilation_storeCompiledNetwork(c Compilation, dst []byte) error {
	return check("NeuronCompilation_storeCompiledNetwork", C.call_NeuronCompilation_storeCompiledNetwork(l.c,
		(*C.NeuronCompilation)(c), unsafe.Pointer(unsafe.SliceData(dst)), C.size_t(len(dst))))
}

// Executions. What is given as input or output must not be in Go's memory and stays
// until the execution is freed.

func (l *Library) NeuronExecution_create(c Compilation) (Execution, error) {
	var e *C.NeuronExecution
	err := check("NeuronExecution_create", C.call_NeuronExecution_create(l.c, (*C.NeuronCompilation)(c), &e))
	return Execution(e), err
}

func (l *Library) NeuronExecution_free(e Execution) {
	C.call_NeuronExecution_free(l.c, (*C.NeuronExecution)(e))
}

func (l *Library) NeuronExecution_compute(e Execution) error {
	return check("NeuronExecution_compute", C.call_NeuronExecution_compute(l.c, (*C.NeuronExecution)(e)))
}

// NeuronExecution_setBoostHint takes 0 to 100.
func (l *Library) NeuronExecution_setBoostHint(e Execution, percent int) error {
	return check("NeuronExecution_setBoostHint",
		C.call_NeuronExecution_setBoostHint(l.c, (*C.NeuronExecution)(e), C.uint8_t(percent)))
}

func (l *Library) NeuronExecution_setInput(e Execution, i int, src []byte) error {
	return check("NeuronExecution_setInput", C.call_NeuronExecution_setInput(l.c, (*C.NeuronExecution)(e), C.int32_t(i), nil,
		unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src))))
}

func (l *Library) NeuronExecution_setOutput(e Execution, i int, dst []byte) error {
	return check("NeuronExecution_setOutput", C.call_NeuronExecution_setOutput(l.c, (*C.NeuronExecution)(e), C.int32_t(i), nil,
		unsafe.Pointer(unsafe.SliceData(dst)), C.size_t(len(dst))))
}

func (l *Library) NeuronExecution_setInputFromMemory(e Execution, i int, m Memory, offset, size int) error {
	return check("NeuronExecution_setInputFromMemory", C.call_NeuronExecution_setInputFromMemory(l.c, (*C.NeuronExecution)(e),
		C.uint32_t(i), nil, (*C.NeuronMemory)(m), C.size_t(offset), C.size_t(size)))
}

func (l *Library) NeuronExecution_setOutputFromMemory(e Execution, i int, m Memory, offset, size int) error {
	return check("NeuronExecution_setOutputFromMemory", C.call_NeuronExecution_setOutputFromMemory(l.c, (*C.NeuronExecution)(e),
		C.uint32_t(i), nil, (*C.NeuronMemory)(m), C.size_t(offset), C.size_t(size)))
}

// Memory.

// NeuronMemory_createFromFd takes size bytes of a descriptor, mapped with protect.
func (l *Library) NeuronMemory_createFromFd(size, protect, fd int) (Memory, error) {
	var m *C.NeuronMemory
	err := check("NeuronMemory_createFromFd", C.call_NeuronMemory_createFromFd(l.c, C.size_t(size), C.int(protect), C.int(fd), 0, &m))
	return Memory(m), err
}

func (l *Library) NeuronMemory_free(m Memory) { C.call_NeuronMemory_free(l.c, (*C.NeuronMemory)(m)) }

func indices(all []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(all)) }
