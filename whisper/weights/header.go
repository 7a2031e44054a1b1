package weights

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DType is how a tensor's values are stored.
type DType string

const (
	F16 DType = "f16" // IEEE 754 binary16, little-endian
	F32 DType = "f32" // IEEE 754 binary32, little-endian
)

func (t DType) size() int64 {
	switch t {
	case F16:
		return 2
	case F32:
		return 4
	}
	return 0
}

// Header is what a model file says about itself.
type Header struct {
	Name    string `json:"name"` // tiny.en
	Dims    Dims   `json:"dims"`
	Licence string `json:"licence"` // SPDX, empty if unknown
	Source  Source `json:"source"`
	// Fingerprint identifies the values, whatever container they came in (see the
	// package comment).
	Fingerprint string `json:"fingerprint"`
	// AlignmentHeads are the decoder's cross-attention heads that follow the audio
	// (reference: whisper/__init__.py, _ALIGNMENT_HEADS).
	AlignmentHeads []Head `json:"alignment_heads"`
	// Suppress are tokens that are never emitted, SuppressAtBegin tokens that are
	// not emitted as the first of a window.
	Suppress        []int    `json:"suppress"`
	SuppressAtBegin []int    `json:"suppress_at_begin"`
	Words           Section  `json:"words"`   // the tokenizer's words, as token.AppendWords wrote them
	Tensors         []Tensor `json:"tensors"` // sorted by name
}

// Source says where a model's weights came from.
type Source struct {
	Container string `json:"container"` // ctranslate2, safetensors, ggml, made
	From      string `json:"from"`      // an address, a package with its version, or a path
	File      string `json:"file"`      // the file that held the weights
	SHA256    string `json:"sha256"`    // of that file
}

// Head names one cross-attention head of the decoder; it converts to whisper.Head.
type Head struct {
	Layer int `json:"layer"`
	Head  int `json:"head"`
}

// Section is a checked range of the file.
type Section struct {
	Offset int64  `json:"offset"` // from the data offset, a multiple of 64
	Bytes  int64  `json:"bytes"`
	CRC32C uint32 `json:"crc32c"`
}

// Tensor is a named section of row-major values.
type Tensor struct {
	Name  string `json:"name"`
	DType DType  `json:"dtype"`
	Shape []int  `json:"shape"`
	Section
}

// values is the number of values of a checked tensor.
func (t Tensor) values() int64 {
	n := int64(1)
	for _, s := range t.Shape {
		n *= int64(s)
	}
	return n
}

// namePattern keeps model names usable as file names.
var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

const maxNameBytes = 64

func checkName(name string) error {
	if len(name) > maxNameBytes || !namePattern.MatchString(name) {
		return fmt.Errorf("model name %q: want lower-case letters, digits, dots, dashes and underlines, at most %d", name, maxNameBytes)
	}
	return nil
}

// check is everything that can be known without reading the sections; dataBytes
// is how much of the file lies behind the data offset.
func (h *Header) check(dataBytes int64) error {
	if err := checkName(h.Name); err != nil {
		return err
	}
	if err := h.Dims.check(); err != nil {
		return err
	}
	if err := checkTokens(h); err != nil {
		return err
	}
	want := Tensors(h.Dims, F32)
	if err := sameTensors(h.Tensors, want); err != nil {
		return err
	}
	end := int64(0)
	for _, s := range h.sections() {
		if s.Offset != roundUp(end, alignBytes) || s.Bytes < 0 || s.Bytes > dataBytes-s.Offset {
			return fmt.Errorf("section of %d bytes at %d does not follow the one before, which ends at %d of %d", s.Bytes, s.Offset, end, dataBytes)
		}
		end = s.Offset + s.Bytes
	}
	for _, t := range h.Tensors {
		if t.Bytes != t.values()*t.DType.size() {
			return fmt.Errorf("tensor %s: %d bytes for %v %s", t.Name, t.Bytes, t.Shape, t.DType)
		}
	}
	if end != dataBytes {
		return fmt.Errorf("sections end at %d, the file at %d", end, dataBytes)
	}
	return nil
}

// checkTokens makes sure that every token and head exists.
func checkTokens(h *Header) error {
	for _, id := range slices.Concat(h.Suppress, h.SuppressAtBegin) {
		if id < 0 || id >= h.Dims.Vocab {
			return fmt.Errorf("suppressed token %d is not in a vocabulary of %d", id, h.Dims.Vocab)
		}
	}
	for _, a := range h.AlignmentHeads {
		if a.Layer < 0 || a.Layer >= h.Dims.TextLayers || a.Head < 0 || a.Head >= h.Dims.TextHeads {
			return fmt.Errorf("alignment head %d of layer %d is not among %d layers of %d heads", a.Head, a.Layer, h.Dims.TextLayers, h.Dims.TextHeads)
		}
	}
	return nil
}

// sameTensors compares two lists sorted by name: got must have the names and
// shapes of want, in any type we store.
func sameTensors(got, want []Tensor) error {
	for i := 0; i < len(got) || i < len(want); i++ {
		switch {
		case i == len(got) || i < len(want) && got[i].Name > want[i].Name:
			return fmt.Errorf("tensor %s is missing", want[i].Name)
		case i == len(want) || got[i].Name < want[i].Name:
			return fmt.Errorf("tensor %s does not belong to the network", got[i].Name)
		case !slices.Equal(got[i].Shape, want[i].Shape):
			return fmt.Errorf("tensor %s has shape %v, want %v", got[i].Name, got[i].Shape, want[i].Shape)
		case got[i].DType.size() == 0:
			return fmt.Errorf("tensor %s has type %q, want f16 or f32", got[i].Name, got[i].DType)
		}
	}
	return nil
}

// Bytes is how much the tensors have.
func (h *Header) Bytes() int64 {
	n := int64(0)
	for _, t := range h.Tensors {
		n += t.Bytes
	}
	return n
}

// sections are all ranges of the file behind the data offset, in its order.
func (h *Header) sections() []Section {
	all := []Section{h.Words}
	for _, t := range h.Tensors {
		all = append(all, t.Section)
	}
	return all
}

func (h *Header) tensor(name string) (int, bool) {
	return slices.BinarySearchFunc(h.Tensors, name, func(t Tensor, name string) int {
		return strings.Compare(t.Name, name)
	})
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }
