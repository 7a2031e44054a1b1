//go:build !(linux && cgo && (amd64 || arm64))

package neuron

// Library is never made in this build.
type Library struct{}

// Open returns ErrUnsupported.
func Open(string) (*Library, error) { return nil, ErrUnsupported }

// Runtime is never made in this build.
type Runtime struct{}

// OpenRuntime returns ErrUnsupported.
func OpenRuntime(string) (*Runtime, error) { return nil, ErrUnsupported }
