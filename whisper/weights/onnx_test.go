package weights

import "testing"

// FuzzONNX looks for a panic; the hash of the one file that is read stands in front.
func FuzzONNX(f *testing.F) {
	f.Add([]byte{0x3a, 0x0c, 0x2a, 0x0a, 0x08, 0x01, 0x42, 0x01, 'w', 0x4a, 0x04, 0, 0, 0x80, 0x3f})
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, tensor := range onnxTensors(data) {
			if tensor.shape != nil && len(tensor.values) > len(data) {
				t.Errorf("%q: %d values from %d bytes", name, len(tensor.values), len(data))
			}
		}
	})
}

func TestONNX(t *testing.T) {
	got := onnxTensors([]byte{0x3a, 0x0d, 0x2a, 0x0b, 0x08, 0x01, 0x42, 0x01, 'w', 0x4a, 0x04, 0, 0, 0x80, 0x3f})["w"]
	if len(got.shape) != 1 || len(got.values) != 1 || got.values[0] != 1 {
		t.Errorf("got %+v, want [1] of shape [1]", got)
	}
}
