package whisper

import (
	"errors"
	"fmt"
)

// Check reports whether mel can go through an encoder of these dimensions.
func (mel Mel) Check(d Dims) error {
	switch {
	case mel.Bands != d.Mels:
		return fmt.Errorf("encode: features have %d mel bands, the model takes %d", mel.Bands, d.Mels)
	case mel.Frames < 2 || mel.Frames%2 != 0 || mel.Frames > 2*d.AudioCtx:
		return fmt.Errorf("encode: %d frames, the encoder takes an even number from 2 to %d", mel.Frames, 2*d.AudioCtx)
	case len(mel.Data) != mel.Bands*mel.Frames:
		return fmt.Errorf("encode: %d values for %d bands of %d frames", len(mel.Data), mel.Bands, mel.Frames)
	}
	return nil
}

// CheckBegin reports whether a decoder of these dimensions can listen to audios.
// Backends call it first in Begin.
func CheckBegin(d Dims, audios []Encoded, opts SessionOptions) error {
	if len(audios) == 0 {
		return errors.New("begin decoding: no audio")
	}
	for i, a := range audios {
		if a.Positions < 1 || a.Positions > d.AudioCtx || len(a.Data) != a.Positions*d.AudioState {
			return fmt.Errorf("begin decoding: audio %d has %d values for %d positions of width %d (at most %d positions)",
				i, len(a.Data), a.Positions, d.AudioState, d.AudioCtx)
		}
	}
	for _, h := range opts.Alignment {
		if h.Layer < 0 || h.Layer >= d.TextLayers || h.Head < 0 || h.Head >= d.TextHeads {
			return fmt.Errorf("begin decoding: no head %d in layer %d: the decoder has %d layers of %d heads", h.Head, h.Layer, d.TextLayers, d.TextHeads)
		}
	}
	return nil
}

// CheckStep reports whether in can follow on sequences of these lengths. Backends
// call it first in Step, so that a refused step leaves the session as it was.
func CheckStep(d Dims, lengths []int, in []Input) error {
	seen := make([]bool, len(lengths))
	for _, x := range in {
		switch {
		case x.Sequence < 0 || x.Sequence >= len(lengths):
			return fmt.Errorf("decode step: no sequence %d: there are %d", x.Sequence, len(lengths))
		case seen[x.Sequence]:
			return fmt.Errorf("decode step: sequence %d appears twice", x.Sequence)
		case x.At < 0 || x.At > lengths[x.Sequence]:
			return fmt.Errorf("decode step: position %d would leave a hole: sequence %d holds %d tokens", x.At, x.Sequence, lengths[x.Sequence])
		case len(x.Tokens) == 0:
			return fmt.Errorf("decode step: no tokens for sequence %d", x.Sequence)
		case x.At+len(x.Tokens) > d.TextCtx:
			return fmt.Errorf("decode step: sequence %d would hold %d tokens, the decoder has %d positions", x.Sequence, x.At+len(x.Tokens), d.TextCtx)
		case x.Rows < 0 || x.Rows > len(x.Tokens):
			return fmt.Errorf("decode step: %d logits rows asked for %d tokens", x.Rows, len(x.Tokens))
		}
		for _, t := range x.Tokens {
			if t < 0 || t >= d.Vocab {
				return fmt.Errorf("decode step: token %d, the vocabulary has %d", t, d.Vocab)
			}
		}
		seen[x.Sequence] = true
	}
	return nil
}

// CheckSelect reports whether from names sequences of a session that has n.
func CheckSelect(n int, from []int) error {
	for _, f := range from {
		if f < 0 || f >= n {
			return fmt.Errorf("select: no sequence %d: there are %d", f, n)
		}
	}
	if len(from) == 0 {
		return errors.New("select: no sequence left")
	}
	return nil
}
