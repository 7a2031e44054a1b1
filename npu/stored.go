package npu

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"

	"earshot/npu/graph"
)

// stored is what the library does not say itself of a network that it stored.
type stored struct {
	Name    string // of the graph
	Version string // of the library, which takes only its own networks (facts/npu.md 6)
	In, Out []tensor
	Boost   int    // as in Options
	SHA256  []byte // of the library's bytes: what is damaged would crash it
}

// A stored network is storedMagic, a line of JSON and the library's bytes.
const storedMagic = "earshot network 1 "

// store puts a network's description before the library's bytes.
func (s stored) store(network []byte) ([]byte, error) {
	sum := sha256.Sum256(network)
	s.SHA256 = sum[:]
	head, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(storedMagic), append(head, '\n')...), network...), nil
}

// parseStored is the way back; network is a part of b.
func parseStored(b []byte, version string) (s stored, network []byte, err error) {
	b, ok := bytes.CutPrefix(b, []byte(storedMagic))
	head, network, found := bytes.Cut(b, []byte("\n"))
	if !ok || !found {
		return s, nil, fmt.Errorf("%w: it has no head", ErrStored)
	}
	if err := json.Unmarshal(head, &s); err != nil {
		return s, nil, fmt.Errorf("%w: its head is damaged: %v", ErrStored, err)
	}
	if sum := sha256.Sum256(network); !bytes.Equal(sum[:], s.SHA256) {
		return s, nil, fmt.Errorf("%w: it is damaged", ErrStored)
	}
	if s.Version != version {
		return s, nil, fmt.Errorf("%w: it is of version %s, and this is %s", ErrStored, s.Version, version)
	}
	if err := checkTensors(s.In, s.Out); err != nil {
		return s, nil, fmt.Errorf("%w: %v", ErrStored, err)
	}
	return s, network, nil
}

// maxTensors and maxTransfer bound what comes from outside: tensors of one direction, and
// their bytes.
const (
	maxTensors  = 1024
	maxTransfer = math.MaxInt32
)

// checkTensors is for descriptions from outside.
func checkTensors(directions ...[]tensor) error {
	for _, all := range directions {
		total := 0
		if len(all) > maxTensors {
			return fmt.Errorf("%d tensors of one direction", len(all))
		}
		for _, t := range all {
			if t.Type > graph.Int32 || t.Bytes <= 0 || t.Bytes > maxTransfer || t.Bytes%t.Type.Size() != 0 {
				return fmt.Errorf("a tensor of %d bytes of type %d", t.Bytes, uint8(t.Type))
			}
			if total += t.Bytes; total > maxTransfer {
				return fmt.Errorf("tensors of more than %d bytes", maxTransfer)
			}
		}
	}
	return nil
}
