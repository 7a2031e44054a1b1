package whisper

// What the network costs, for a window of P encoder positions. A multiplication and
// its addition are two operations; only matrices are counted, which leaves out a few
// percent: softmax, GELU, normalisation, biases.

// EncoderOps is the operations of Encode, with T = 2P frames, M bands, width D and
// L layers: the convolutions 2·T·3M·D and 2·P·3D·D; in each layer four projections
// 2·P·4D², scores and their sums 2·2·P²·D, and the MLP 2·P·8D².
func (d Dims) EncoderOps(positions int) int {
	p, w := positions, d.AudioState
	stem := 2*(2*p)*3*d.Mels*w + 2*p*3*w*w
	layer := 2*p*4*w*w + 4*p*p*w + 2*p*8*w*w
	return stem + d.AudioLayers*layer
}

// CrossOps is the operations of Begin for one window: the keys and values that the
// decoder's L layers make of what the encoder heard, 2·P·2D² each.
func (d Dims) CrossOps(positions int) int {
	return d.TextLayers * 2 * positions * 2 * d.AudioState * d.TextState
}

// TokenWeights is how many weights of the layers one token reads: in each six
// projections, 6D² (those of cross-attention's keys and values are Begin's), and the MLP,
// 8D².
func (d Dims) TokenWeights() int {
	w := d.TextState
	return d.TextLayers * 14 * w * w
}

// LogitWeights is the size of the matrix that makes a token's logits: V·D.
func (d Dims) LogitWeights() int { return d.Vocab * d.TextState }

// TokenCache is how many cached keys and values one token reads at a position of the
// text: 2D for each position up to its own, and for each of the window, in every layer.
func (d Dims) TokenCache(positions, at int) int {
	return d.TextLayers * 2 * d.TextState * (at + 1 + positions)
}
