package whisper

import "testing"

// TestCost compares with figures worked out by hand for tiny.en: D 384, D² 147456.
func TestCost(t *testing.T) {
	tiny := Dims{
		Mels: 80, AudioCtx: 1500, AudioState: 384, AudioHeads: 6, AudioLayers: 4,
		Vocab: 51864, TextCtx: 448, TextState: 384, TextHeads: 6, TextLayers: 4,
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{
			"encoder, 30 s", tiny.EncoderOps(1500),
			552_960_000 + 1_327_104_000 + // conv1, conv2
				4*(1_769_472_000+3_456_000_000+3_538_944_000), // projections, attention, MLP
		},
		{"encoder, 1 position", tiny.EncoderOps(1), 368_640 + 884_736 + 4*(1_179_648+1_536+2_359_296)},
		{"cross-attention, 30 s", tiny.CrossOps(1500), 3_538_944_000},
		{"weights of a token", tiny.TokenWeights(), 8_257_536},
		{"weights of its logits", tiny.LogitWeights(), 19_915_776},
		{"cache of the first token", tiny.TokenCache(1500, 0), 4_608_000 + 3_072},
		{"cache of a later token", tiny.TokenCache(160, 99), 491_520 + 307_200},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}
