//go:build !cgo || !(amd64 || arm64)

package cpu

// nativeTiers is empty in a build without C.
func nativeTiers() []*kernels { return nil }
