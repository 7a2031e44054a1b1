package oncpu_test

import (
	"fmt"
	"testing"

	"earshot/cpu"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
)

func TestContract(t *testing.T) {
	m := backendtest.MadeUp(t, backendtest.Small)
	for _, threads := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("%d threads", threads), func(t *testing.T) {
			pool := cpu.NewPool(threads)
			defer pool.Close()
			encoder, err := oncpu.NewEncoder(m, pool)
			if err != nil {
				t.Fatal(err)
			}
			decoder, err := oncpu.NewDecoder(m, pool)
			if err != nil {
				t.Fatal(err)
			}
			// Sums of up to 240 values of size 1, each rounded to 24 bits, through 3 layers.
			backendtest.Run(t, m, backendtest.Backend{Encoder: encoder, Decoder: decoder, Tolerance: 2e-5})
		})
	}
}
