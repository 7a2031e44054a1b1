// Package cpu holds the vector kernels and the threads that the networks run on.
// It knows no network: only matrices, rows and vectors of float32.
//
// Every kernel has a plain Go twin, which is its definition and is what a build
// without cgo runs; C versions with intrinsics are chosen once at start by CPU
// feature.
//
// A result does not depend on how many rows are computed at once: every kernel
// adds over K in the same order whatever M is, so that one row alone and the same
// row among many are equal to the last bit.
package cpu
