//go:build linux && cgo && (amd64 || arm64)

package neuron

// #cgo LDFLAGS: -ldl
// #include <signal.h>
// #include <stdlib.h>
// #include "symbols.h"
//
// static void die_by_signals(void) {
// 	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
// 	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
// 		signal(faults[i], SIG_DFL);
// }
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// The layouts that both sides of cgo rely on (section 3): a constant that is out of range
// doesn't compile.
const (
	_ = uint(unsafe.Sizeof(C.NeuronOperandType{}) - 24)
	_ = uint(24 - unsafe.Sizeof(C.NeuronOperandType{}))
	_ = uint(unsafe.Offsetof(C.NeuronOperandType{}.dimensions) - 8)
	_ = uint(8 - unsafe.Offsetof(C.NeuronOperandType{}.dimensions))
	_ = uint(unsafe.Sizeof(Version{}) - C.sizeof_NeuronRuntimeVersion)
	_ = uint(C.sizeof_NeuronRuntimeVersion - unsafe.Sizeof(Version{}))
	_ = uint(unsafe.Sizeof(Model(nil)) - 8)
)

// Library is a Neuron Adapter that was loaded.
type Library struct{ c *C.struct_adapter }

// Open loads the library of that path, or, without a slash, of that name where the loader
// looks. One without NeuronModel_create is not one.
func Open(path string) (*Library, error) {
	handle, err := load(path, "NeuronModel_create")
	if err != nil {
		return nil, err
	}
	c := (*C.struct_adapter)(C.calloc(1, C.sizeof_struct_adapter))
	c.handle = handle
	C.find(handle, C.adapter_symbols(), unsafe.Pointer(c))
	return &Library{c}, nil
}

// Close unloads the library; all that came from it must have been freed.
func (l *Library) Close() {
	C.dlclose(l.c.handle)
	C.free(unsafe.Pointer(l.c))
	l.c = nil
}

// Has says whether the library has the function.
func (l *Library) Has(function string) bool {
	return found(C.adapter_symbols(), unsafe.Pointer(l.c), function)
}

// Functions are the names of the Adapter's functions that are known here.
func Functions() []string { return names(C.adapter_symbols()) }

// DieBySignals lets a fault end this process by its signal, as in a program of C. Go would
// write pages about its own state first, and the library's last words get lost in them. A
// fault in Go code is the end then too.
func DieBySignals() { C.die_by_signals() }

func load(path, needs string) (unsafe.Pointer, error) {
	runtime.LockOSThread() // dlerror is the thread's
	defer runtime.UnlockOSThread()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	// RTLD_LAZY | RTLD_LOCAL, as MediaTek's own client does (section 1).
	handle := C.dlopen(name, C.RTLD_LAZY|C.RTLD_LOCAL)
	if handle == nil {
		return nil, errors.New(C.GoString(C.dlerror()))
	}
	symbol := C.CString(needs)
	defer C.free(unsafe.Pointer(symbol))
	if C.dlsym(handle, symbol) == nil {
		C.dlclose(handle)
		return nil, errors.New(path + ": no Neuron library: it has no " + needs)
	}
	return handle, nil
}

func found(list *C.struct_symbol, table unsafe.Pointer, name string) bool {
	for s := list; s.name != nil; s = next(s) {
		if C.GoString(s.name) == name {
			return *(*unsafe.Pointer)(unsafe.Add(table, s.at)) != nil
		}
	}
	return false
}

func names(list *C.struct_symbol) []string {
	var all []string
	for s := list; s.name != nil; s = next(s) {
		all = append(all, C.GoString(s.name))
	}
	return all
}

func next(s *C.struct_symbol) *C.struct_symbol {
	return (*C.struct_symbol)(unsafe.Add(unsafe.Pointer(s), C.sizeof_struct_symbol))
}

func check(function string, code C.int) error { return result(function, int(code), adapterCodes) }
