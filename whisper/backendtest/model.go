// Package backendtest is the contract test for whisper's Encoder and Decoder: every
// backend passes the same checks against whisper/ref, on small made-up models here
// and on real ones where they are there. Only test files import it.
package backendtest

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"earshot/whisper/weights"
)

// Small is a network with every part of a Whisper and sizes that are odd in each
// direction: nothing is a multiple of what a kernel likes.
var Small = weights.Dims{
	Mels: 11, AudioCtx: 75, AudioState: 60, AudioHeads: 3, AudioLayers: 2,
	Vocab: 256 + 1509 + 3, TextCtx: 70, TextState: 60, TextHeads: 5, TextLayers: 3,
}

// LargeV3 has large-v3's mel bands, windows and vocabulary on a network that is small
// everywhere else.
var LargeV3 = weights.Dims{
	Mels: 128, AudioCtx: 1500, AudioState: 64, AudioHeads: 2, AudioLayers: 1,
	Vocab: 51866, TextCtx: 448, TextState: 64, TextHeads: 2, TextLayers: 1,
}

// MadeUp writes a model of the given sizes with random weights, the same for the
// same sizes, and opens it. The weights are scaled so that activations keep their
// size through the layers and attention is neither flat nor one-hot.
func MadeUp(t testing.TB, d weights.Dims) *weights.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.earshot")
	words := madeUpWords(d.Vocab)
	h := weights.Header{
		Name:    "made",
		Dims:    d,
		Source:  weights.Source{Container: "made"},
		Tensors: weights.Tensors(d, weights.F32),
	}
	if err := weights.Write(path, h, words, values); err != nil {
		t.Fatal(err)
	}
	m, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// madeUpWords are the 256 bytes, and for a vocabulary of a published size as many
// words more as those have.
func madeUpWords(vocab int) [][]byte {
	n := 256
	if vocab >= 51864 {
		n = 50256 + min(1, vocab-51864)
	}
	words := make([][]byte, n)
	for i := range words {
		if words[i] = []byte{byte(i)}; i >= 256 {
			words[i] = fmt.Appendf(nil, " w%d", i)
		}
	}
	return words
}

// values makes one tensor up, from a seed that follows from its name.
func values(name string, shape []int) []float32 {
	seed := fnv.New64a()
	seed.Write([]byte(name))
	random := rand.New(rand.NewPCG(seed.Sum64(), 1))
	size, in := 1, 1
	for i, n := range shape {
		size *= n
		if i > 0 {
			in *= n
		}
	}
	scale, offset := 1/math.Sqrt(float64(in)), 0.0
	switch {
	case strings.HasSuffix(name, "_ln.weight"), strings.HasSuffix(name, "ln_post.weight"), name == "decoder.ln.weight":
		scale, offset = 0.2, 1
	case len(shape) == 1:
		scale = 0.2
	case strings.HasSuffix(name, "query.weight"), strings.HasSuffix(name, "key.weight"):
		scale *= 2
	case strings.HasSuffix(name, "embedding"), strings.HasSuffix(name, "embedding.weight"):
		scale = 0.5
	}
	v := make([]float32, size)
	for i := range v {
		v[i] = float32(offset + scale*random.NormFloat64())
	}
	return v
}
