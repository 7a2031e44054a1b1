package ref_test

import (
	"testing"

	"earshot/whisper/backendtest"
	"earshot/whisper/ref"
)

// TestContract runs the definition against itself: what the contract says beyond
// values. The values are held by the golden tests of package whisper.
func TestContract(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	n, err := ref.New(m)
	if err != nil {
		t.Fatal(err)
	}
	backendtest.Run(t, m, backendtest.Backend{Encoder: n, Decoder: n})
}
