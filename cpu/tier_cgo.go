//go:build cgo && (amd64 || arm64)

package cpu

// ISO mode is what keeps gcc from fusing products and sums by itself, and cgo
// admits no flag that says so outright; clang is told in vec_f32.h. Instruction
// sets are asked for per function, never for the whole build.

// #cgo CFLAGS: -std=c11 -O3 -Wall -Wextra
// #cgo LDFLAGS: -lm
// #include <stddef.h>
// #include <stdint.h>
import "C"

import "unsafe"

func floats(x []float32) *C.float { return (*C.float)(unsafe.Pointer(unsafe.SliceData(x))) }

func bytes(x []int8) *C.int8_t { return (*C.int8_t)(unsafe.Pointer(unsafe.SliceData(x))) }

func size(x []float32) C.size_t { return C.size_t(len(x)) }

// index turns the length of x, which C returns for "none", into -1.
func index(i C.size_t, x []float32) int {
	if int(i) == len(x) {
		return -1
	}
	return int(i)
}
