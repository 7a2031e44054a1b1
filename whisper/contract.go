package whisper

import "context"

// Dims are the sizes of a Whisper network (the reference implementation's
// ModelDimensions). Whisper's published sizes always have AudioState == TextState.
type Dims struct {
	Mels        int // M: mel bands, 80 or 128
	AudioCtx    int // encoder positions of a full window: 1500, each 20 ms
	AudioState  int // D of the encoder
	AudioHeads  int // H of the encoder
	AudioLayers int // L of the encoder
	Vocab       int // V: tokens with special tokens and timestamps
	TextCtx     int // decoder positions: 448
	TextState   int // D of the decoder
	TextHeads   int // H of the decoder
	TextLayers  int // L of the decoder
}

// Mel is a log-mel spectrogram as Whisper's encoder takes it: clamped and scaled,
// Data is [Bands, Frames] row-major, one frame per 10 ms.
type Mel struct {
	Bands  int
	Frames int
	Data   []float32
}

// Encoded is what the encoder heard: Data is [Positions, D] row-major, one
// position per 20 ms.
type Encoded struct {
	Positions int
	Data      []float32
}

// Encoder turns log-mel features into encoder states. It takes any even number of
// frames from 2 to 2·AudioCtx: Positions is Frames/2, and position i gets row i of
// the position table, so a short window is the head of a long one.
//
// An Encoder is not safe for concurrent use. The result belongs to the caller.
type Encoder interface {
	Encode(ctx context.Context, mel Mel) (Encoded, error)
}

// Windower is an Encoder that has some lengths of window ready: an NPU's graphs have fixed
// sizes. An Engine pads the samples to one of them where it would take a shorter window,
// so that the features are those of the padded sound.
type Windower interface {
	Encoder
	// Windows are those lengths in positions, from the shortest on; none stands for any.
	Windows() []int
}

// Decoder opens decoding sessions. It is not safe for concurrent use, but
// sessions of one Decoder may be open at the same time and be stepped in turn.
type Decoder interface {
	// Begin computes the cross-attention keys and values of every audio and opens a
	// session with one empty sequence per audio; sequence i listens to audios[i].
	Begin(ctx context.Context, audios []Encoded, opts SessionOptions) (Session, error)
}

// Joiner is a Decoder that takes several of its sessions a step further together, so
// that weights are read once for all of them.
type Joiner interface {
	// StepAll gives each session, and each at most once, its inputs, and returns what
	// Step would have. The results are valid until the next StepAll, and each only
	// until the next call of its session. A refused input in one of them changes
	// nothing in any; after any other error all are good for Close only.
	StepAll(ctx context.Context, sessions []Session, in [][]Input) ([]Output, error)
}

// SessionOptions say what a session must be able to return.
type SessionOptions struct {
	// Alignment asks for the cross-attention weights of these heads with every
	// logits row; nil asks for none.
	Alignment []Head
}

// Head names one cross-attention head of the decoder.
type Head struct{ Layer, Head int }

// Session is a set of token sequences that are decoded together, so that weights
// are read once for all of them. Results do not depend on which sequences share a
// step: a row's logits are the same to the last bit in any company.
type Session interface {
	// Step puts tokens into the named sequences and returns logits. A sequence may
	// appear at most once in a step. The result is valid until the next call. A step
	// that is refused for its input changes nothing; after any other error the
	// session is good for Close only.
	Step(ctx context.Context, in []Input) (Output, error)
	// Select replaces the set of sequences: new sequence i is a copy of old sequence
	// from[i], with its tokens, cache and audio. It widens (beams), narrows and
	// reorders.
	Select(from []int) error
	// Close frees what the session holds. A second call does nothing.
	Close() error
}

// Input is one sequence's share of a step.
type Input struct {
	Sequence int
	// At is the position of the first token. Tokens that the sequence held from At
	// on are forgotten first (a rejected draft); At may not leave a hole.
	At     int
	Tokens []int
	// Rows is for how many of the last tokens logits are wanted, 0 … len(Tokens).
	Rows int
}

// Output holds a step's results, for all inputs in order, and within an input for
// its last Rows tokens in order.
type Output struct {
	// Logits[r] is [V]: the unnormalised log-probabilities of the token after row r.
	Logits [][]float32
	// Alignment[r] is [heads, Positions] row-major: the softmax weights that row r's
	// token paid to each encoder position, for the heads asked for. Nil without.
	Alignment [][]float32
}
