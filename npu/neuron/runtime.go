//go:build linux && cgo && (amd64 || arm64)

package neuron

// #include <stdlib.h>
// #include "symbols.h"
import "C"

import "unsafe"

// Runtime is a Neuron Runtime library that was loaded: it runs files (DLA) that the
// vendor's offline compiler made for the same major version. Not confirmed on a board.
type Runtime struct{ c *C.struct_runtime }

// OpenRuntime is Open for the Runtime library.
func OpenRuntime(path string) (*Runtime, error) {
	handle, err := load(path, "NeuronRuntime_create")
	if err != nil {
		return nil, err
	}
	c := (*C.struct_runtime)(C.calloc(1, C.sizeof_struct_runtime))
	c.handle = handle
	C.find(handle, C.runtime_symbols(), unsafe.Pointer(c))
	return &Runtime{c}, nil
}

// Close unloads the library; its instances must have been released.
func (r *Runtime) Close() {
	C.dlclose(r.c.handle)
	C.free(unsafe.Pointer(r.c))
	r.c = nil
}

// Has says whether the library has the function.
func (r *Runtime) Has(function string) bool {
	return found(C.runtime_symbols(), unsafe.Pointer(r.c), function)
}

// NeuronRuntime_create makes an instance for the hardware, with defaults for the rest.
func (r *Runtime) NeuronRuntime_create() (Instance, error) {
	options := C.EnvOptions{deviceKind: DeviceHardware}
	var i unsafe.Pointer
	err := runtimeCheck("NeuronRuntime_create", C.call_NeuronRuntime_create(r.c, &options, &i))
	return Instance(i), err
}

// NeuronRuntime_create_with_options is NeuronRuntime_create with options as text.
func (r *Runtime) NeuronRuntime_create_with_options(text string) (Instance, error) {
	s := C.CString(text)
	defer C.free(unsafe.Pointer(s))
	options := C.EnvOptions{deviceKind: DeviceHardware}
	var i unsafe.Pointer
	err := runtimeCheck("NeuronRuntime_create_with_options", C.call_NeuronRuntime_create_with_options(r.c, s, &options, &i))
	return Instance(i), err
}

func (r *Runtime) NeuronRuntime_release(i Instance) {
	C.call_NeuronRuntime_release(r.c, unsafe.Pointer(i))
}

func (r *Runtime) NeuronRuntime_getVersion() (Version, error) {
	var v C.NeuronVersion
	err := runtimeCheck("NeuronRuntime_getVersion", C.call_NeuronRuntime_getVersion(r.c, &v))
	return Version{uint8(v.major), uint8(v.minor), uint8(v.patch)}, err
}

func (r *Runtime) NeuronRuntime_loadNetworkFromFile(i Instance, path string) error {
	s := C.CString(path)
	defer C.free(unsafe.Pointer(s))
	return runtimeCheck("NeuronRuntime_loadNetworkFromFile", C.call_NeuronRuntime_loadNetworkFromFile(r.c, unsafe.Pointer(i), s))
}

// NeuronRuntime_loadNetworkFromBuffer takes a DLA that is outside Go's memory and stays
// until the instance is released.
func (r *Runtime) NeuronRuntime_loadNetworkFromBuffer(i Instance, dla []byte) error {
	return runtimeCheck("NeuronRuntime_loadNetworkFromBuffer", C.call_NeuronRuntime_loadNetworkFromBuffer(r.c, unsafe.Pointer(i),
		unsafe.Pointer(unsafe.SliceData(dla)), C.size_t(len(dla))))
}

func (r *Runtime) NeuronRuntime_getInputNumber(i Instance) (int, error) {
	var n C.size_t
	err := runtimeCheck("NeuronRuntime_getInputNumber", C.call_NeuronRuntime_getInputNumber(r.c, unsafe.Pointer(i), &n))
	return int(n), err
}

func (r *Runtime) NeuronRuntime_getOutputNumber(i Instance) (int, error) {
	var n C.size_t
	err := runtimeCheck("NeuronRuntime_getOutputNumber", C.call_NeuronRuntime_getOutputNumber(r.c, unsafe.Pointer(i), &n))
	return int(n), err
}

// NeuronRuntime_getInputSize returns bytes.
func (r *Runtime) NeuronRuntime_getInputSize(i Instance, input int) (int, error) {
	var n C.size_t
	err := runtimeCheck("NeuronRuntime_getInputSize", C.call_NeuronRuntime_getInputSize(r.c, unsafe.Pointer(i), C.uint64_t(input), &n))
	return int(n), err
}

// NeuronRuntime_getOutputSize returns bytes.
func (r *Runtime) NeuronRuntime_getOutputSize(i Instance, output int) (int, error) {
	var n C.size_t
	err := runtimeCheck("NeuronRuntime_getOutputSize", C.call_NeuronRuntime_getOutputSize(r.c, unsafe.Pointer(i), C.uint64_t(output), &n))
	return int(n), err
}

// NeuronRuntime_setInput takes memory outside Go's; it stays until the inference is done.
func (r *Runtime) NeuronRuntime_setInput(i Instance, input int, src []byte) error {
	return runtimeCheck("NeuronRuntime_setInput", C.call_NeuronRuntime_setInput(r.c, unsafe.Pointer(i), C.uint64_t(input),
		unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src)), plainMemory))
}

// NeuronRuntime_setOutput takes memory outside Go's; it stays until the inference is done.
func (r *Runtime) NeuronRuntime_setOutput(i Instance, output int, dst []byte) error {
	return runtimeCheck("NeuronRuntime_setOutput", C.call_NeuronRuntime_setOutput(r.c, unsafe.Pointer(i), C.uint64_t(output),
		unsafe.Pointer(unsafe.SliceData(dst)), C.size_t(len(dst)), plainMemory))
}

func (r *Runtime) NeuronRuntime_inference(i Instance) error {
	return runtimeCheck("NeuronRuntime_inference", C.call_NeuronRuntime_inference(r.c, unsafe.Pointer(i)))
}

var plainMemory = C.BufferAttribute{ionFd: -1}

func runtimeCheck(function string, code C.int) error {
	return result(function, int(code), runtimeCodes)
}
