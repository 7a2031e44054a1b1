package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"earshot/audio/vad"
)

// openDetector returns what says where somebody speaks: Silero's network behind an
// energy gate, or the gate alone, with a word about it, where the network is absent.
func openDetector(env *Env) (vad.Detector, error) {
	tensors, err := modelStore(env).Silero()
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(env.Stderr, "earshot: note: speech is found by loudness alone, music and noise may give text; better: earshot model pull silero")
		return vad.NewGate(nil), nil
	}
	if err != nil {
		return nil, err
	}
	silero, err := vad.NewSilero(tensors)
	if err != nil {
		return nil, err
	}
	return vad.NewGate(silero), nil
}
