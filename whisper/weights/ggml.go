package weights

import (
	"bufio"
	"fmt"
	"io"
)

// ggml reads ggml-*.bin of whisper.cpp (whisper.cpp: src/whisper.cpp,
// whisper_model_load): hyper-parameters, mel filters, the tokenizer's words, and
// tensors under the reference implementation's names with their dimensions
// in reverse.
type ggml struct {
	// What walk has found before the tensors.
	dims  Dims
	words [][]byte
}

const ggmlMagic = 0x67676d6c

func (*ggml) name() string { return "ggml" }

func (g *ggml) walk(in *stream, visit func(variable, io.Reader) error) error {
	// Names and words are short reads by the ten thousand.
	in.r = bufio.NewReaderSize(in.r, 64<<10)
	if err := g.hyperparameters(in); err != nil {
		return err
	}
	if err := g.skipFilters(in); err != nil {
		return err
	}
	if err := g.readWords(in); err != nil {
		return err
	}
	for in.left() > 0 {
		v, err := g.variable(in)
		if err != nil {
			return err
		}
		if err := in.visit(v, visit); err != nil {
			return err
		}
	}
	return nil
}

func (g *ggml) hyperparameters(in *stream) error {
	var p [12]int
	for i := range p {
		v, err := in.uint32()
		if err != nil {
			return err
		}
		p[i] = int(v)
	}
	if p[0] != ggmlMagic {
		return fmt.Errorf("not a ggml model: begins with %08x", p[0])
	}
	g.dims = Dims{
		Vocab: p[1], AudioCtx: p[2], AudioState: p[3], AudioHeads: p[4], AudioLayers: p[5],
		TextCtx: p[6], TextState: p[7], TextHeads: p[8], TextLayers: p[9], Mels: p[10],
	}
	return nil // p[11], the type of most tensors, stands with each tensor too
}

func (*ggml) skipFilters(in *stream) error {
	bands, err := in.uint32()
	if err != nil {
		return err
	}
	bins, err := in.uint32()
	if err != nil {
		return err
	}
	n, err := elements([]int{int(bands), int(bins)})
	if err != nil {
		return fmt.Errorf("mel filters: %w", err)
	}
	if err := in.skip(4 * n); err != nil {
		return fmt.Errorf("mel filters: %w", err)
	}
	return nil
}

// endOfText is where some converters go on with special tokens.
const endOfText = "<|endoftext|>"

func (g *ggml) readWords(in *stream) error {
	count, err := in.uint32()
	if err != nil {
		return err
	}
	if int64(count) > in.left()/4 {
		return fmt.Errorf("%d words: %w", count, in.cut(4*int64(count)))
	}
	g.words = nil
	special := false
	for i := range count {
		n, err := in.uint32()
		if err != nil {
			return err
		}
		word, err := in.bytes(int64(n))
		if err != nil {
			return fmt.Errorf("word %d: %w", i, err)
		}
		special = special || string(word) == endOfText
		if !special {
			g.words = append(g.words, word)
		}
	}
	return nil
}

// variable reads a tensor up to its data.
func (*ggml) variable(in *stream) (variable, error) {
	var p [3]uint32 // dimensions, bytes of the name, type
	for i := range p {
		v, err := in.uint32()
		if err != nil {
			return variable{}, err
		}
		p[i] = v
	}
	if p[0] > 4 || p[1] > 1024 {
		return variable{}, fmt.Errorf("no tensor begins at byte %d: %d dimensions, a name of %d bytes", in.pos-12, p[0], p[1])
	}
	v := variable{shape: make([]int, p[0])}
	for i := range v.shape {
		dim, err := in.uint32()
		if err != nil {
			return variable{}, err
		}
		v.shape[len(v.shape)-1-i] = int(dim)
	}
	name, err := in.bytes(int64(p[1]))
	if err != nil {
		return variable{}, err
	}
	v.name = string(name)
	n, err := elements(v.shape)
	if err != nil {
		return variable{}, fmt.Errorf("%s: %w", v.name, err)
	}
	switch p[2] {
	case 0:
		v.stored, v.bytes = "f32", 4*n
	case 1:
		v.stored, v.bytes = "f16", 2*n
	default:
		// The size of a block is not known here, so nothing behind it can be found.
		v.stored = fmt.Sprintf("quantised (ggml type %d)", p[2])
		_, err := v.dtype()
		return variable{}, err
	}
	// The convolutions' biases are columns, to be added to every frame.
	if len(v.shape) == 2 && v.shape[1] == 1 && v.shape[0] > 1 {
		v.shape = v.shape[:1]
	}
	return v, nil
}

func (*ggml) parts(v variable) []part { return []part{{name: v.name}} }

func (g *ggml) describe(h *Header, _ map[string]variable, _ *bundle) ([][]byte, error) {
	h.Dims = g.dims
	return g.words, nil
}
