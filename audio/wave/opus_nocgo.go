//go:build !cgo

package wave

func openOpus(*input, *notes) (decoder, Info, error) {
	return nil, Info{}, noOpus("this program was built without cgo")
}
