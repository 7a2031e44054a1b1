package weights

import (
	"fmt"
	"sort"
)

// Dims are the sizes of a Whisper network (the reference implementation's
// ModelDimensions). Fields are those of whisper.Dims, in its order, so that one
// converts to the other.
type Dims struct {
	Mels        int `json:"mels"`         // M: mel bands, 80 or 128
	AudioCtx    int `json:"audio_ctx"`    // encoder positions of a full window: 1500
	AudioState  int `json:"audio_state"`  // D of the encoder
	AudioHeads  int `json:"audio_heads"`  // H of the encoder
	AudioLayers int `json:"audio_layers"` // L of the encoder
	Vocab       int `json:"vocab"`        // V: tokens with special tokens and timestamps
	TextCtx     int `json:"text_ctx"`     // decoder positions: 448
	TextState   int `json:"text_state"`   // D of the decoder
	TextHeads   int `json:"text_heads"`   // H of the decoder
	TextLayers  int `json:"text_layers"`  // L of the decoder
}

// Limits well above every published size; they bound what a damaged file can ask for.
const (
	maxLayers = 256
	maxSize   = 1 << 20
	maxWidth  = 1 << 15 // large-v3's is 1280; kernels multiply rows of up to four times as much
)

func (d Dims) check() error {
	for _, s := range []struct {
		what       string
		value, max int
	}{
		{"mel bands", d.Mels, maxSize}, {"encoder positions", d.AudioCtx, maxSize},
		{"encoder width", d.AudioState, maxWidth}, {"encoder heads", d.AudioHeads, d.AudioState},
		{"encoder layers", d.AudioLayers, maxLayers}, {"vocabulary", d.Vocab, maxSize},
		{"decoder positions", d.TextCtx, maxSize}, {"decoder width", d.TextState, maxWidth},
		{"decoder heads", d.TextHeads, d.TextState}, {"decoder layers", d.TextLayers, maxLayers},
	} {
		if s.value < 1 || s.value > s.max {
			return fmt.Errorf("%s: %d is not between 1 and %d", s.what, s.value, s.max)
		}
	}
	if d.AudioState != d.TextState {
		return fmt.Errorf("encoder width %d and decoder width %d differ", d.AudioState, d.TextState)
	}
	if d.AudioState%d.AudioHeads != 0 || d.TextState%d.TextHeads != 0 {
		return fmt.Errorf("width %d does not divide into %d and %d heads", d.TextState, d.AudioHeads, d.TextHeads)
	}
	return nil
}

// multilingual says whether the vocabulary is the multilingual one: the English
// models have 51864 tokens (reference: model.py, Whisper.is_multilingual).
func (d Dims) multilingual() bool { return d.Vocab >= 51865 }

// Tensors lists every tensor of a network of these sizes, sorted by name, with
// name, type and shape set: what Write needs and what every model file holds. Names
// and shapes are those of the reference implementation's state dictionary; the
// output projection is the token embedding, and keys have no bias.
func Tensors(d Dims, t DType) []Tensor {
	var all []Tensor
	add := func(name string, shape ...int) {
		all = append(all, Tensor{Name: name, DType: t, Shape: shape})
	}
	D := d.AudioState
	norm := func(name string) {
		add(name+".weight", D)
		add(name+".bias", D)
	}
	linear := func(name string, out, in int) {
		add(name+".weight", out, in)
		add(name+".bias", out)
	}
	attention := func(name string) {
		norm(name + "_ln")
		linear(name+".query", D, D)
		add(name+".key.weight", D, D)
		linear(name+".value", D, D)
		linear(name+".out", D, D)
	}
	mlp := func(block string) {
		norm(block + ".mlp_ln")
		linear(block+".mlp.0", 4*D, D)
		linear(block+".mlp.2", D, 4*D)
	}

	add("encoder.conv1.weight", D, d.Mels, 3)
	add("encoder.conv1.bias", D)
	add("encoder.conv2.weight", D, D, 3)
	add("encoder.conv2.bias", D)
	add("encoder.positional_embedding", d.AudioCtx, D)
	for i := range d.AudioLayers {
		block := fmt.Sprintf("encoder.blocks.%d", i)
		attention(block + ".attn")
		mlp(block)
	}
	norm("encoder.ln_post")
	add("decoder.token_embedding.weight", d.Vocab, D)
	add("decoder.positional_embedding", d.TextCtx, D)
	for i := range d.TextLayers {
		block := fmt.Sprintf("decoder.blocks.%d", i)
		attention(block + ".attn")
		attention(block + ".cross_attn")
		mlp(block)
	}
	norm("decoder.ln")
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}
