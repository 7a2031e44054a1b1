package weights

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// ctranslate2 reads model.bin of a CTranslate2 folder, binary version 6
// (CTranslate2: src/models/model.cc, Model::load, and python/ctranslate2/specs/
// model_spec.py, ModelSpec._serialize).
type ctranslate2 struct{}

func (ctranslate2) name() string { return "ctranslate2" }

const ct2Version = 6

// ct2Types are the data types by their number, with bytes per value.
var ct2Types = []struct {
	name  string
	bytes int64
}{{"f32", 4}, {"int8", 1}, {"int16", 2}, {"int32", 4}, {"f16", 2}, {"bf16", 2}}

func (c ctranslate2) walk(in *stream, visit func(variable, io.Reader) error) error {
	count, err := c.begin(in)
	if err != nil {
		return err
	}
	for range count {
		v, err := c.variable(in)
		if err != nil {
			return err
		}
		if len(v.shape) > 0 {
			err = in.visit(v, visit)
		} else if err = c.scalar(in, &v); err == nil {
			err = visit(v, nil)
		}
		if err != nil {
			return err
		}
	}
	return c.end(in)
}

// begin reads up to the first variable and returns how many there are.
func (c ctranslate2) begin(in *stream) (uint32, error) {
	version, err := in.uint32()
	if err != nil {
		return 0, err
	}
	if version != ct2Version {
		return 0, fmt.Errorf("not a CTranslate2 model of binary version %d: begins with %d", ct2Version, version)
	}
	spec, err := c.string(in)
	if err != nil {
		return 0, err
	}
	if spec != "WhisperSpec" {
		return 0, fmt.Errorf("a CTranslate2 model of kind %q, want WhisperSpec", spec)
	}
	if _, err := in.uint32(); err != nil { // revision of the spec
		return 0, err
	}
	count, err := in.uint32()
	if err == nil && count > maxVariables {
		err = fmt.Errorf("%d variables", count)
	}
	return count, err
}

// variable reads a variable up to its data.
func (c ctranslate2) variable(in *stream) (variable, error) {
	name, err := c.string(in)
	if err != nil {
		return variable{}, err
	}
	v := variable{name: name}
	rank, err := in.uint8()
	if err != nil {
		return v, err
	}
	for range rank {
		dim, err := in.uint32()
		if err != nil {
			return v, err
		}
		v.shape = append(v.shape, int(dim))
	}
	kind, err := in.uint8()
	if err != nil {
		return v, err
	}
	size, err := in.uint32()
	if err != nil {
		return v, err
	}
	v.bytes = int64(size)
	n, err := elements(v.shape)
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	if int(kind) >= len(ct2Types) || v.bytes != n*ct2Types[kind].bytes {
		return v, fmt.Errorf("%s: %d bytes for shape %v of type %d", name, v.bytes, v.shape, kind)
	}
	v.stored = ct2Types[kind].name
	return v, nil
}

// scalar reads the value of a variable without dimensions.
func (ctranslate2) scalar(in *stream, v *variable) error {
	b, err := in.bytes(v.bytes)
	for i := range b {
		v.scalar |= int64(b[i]) << (8 * i)
	}
	return err
}

// end reads the aliases behind the variables.
func (c ctranslate2) end(in *stream) error {
	count, err := in.uint32()
	if err != nil {
		return err
	}
	for range min(count, maxVariables) {
		for range 2 {
			if _, err := c.string(in); err != nil {
				return err
			}
		}
	}
	if in.left() != 0 {
		return fmt.Errorf("%d bytes follow the end at %d", in.left(), in.pos)
	}
	return nil
}

// string reads a string: u16 length, bytes, of which the last is NUL.
func (ctranslate2) string(in *stream) (string, error) {
	n, err := in.uint16()
	if err != nil {
		return "", err
	}
	b, err := in.bytes(int64(n))
	if err != nil {
		return "", err
	}
	if n == 0 || bytes.IndexByte(b, 0) != int(n)-1 {
		return "", fmt.Errorf("%q at byte %d is not a string", b[:min(len(b), 20)], in.pos-int64(n))
	}
	return string(b[:n-1]), nil
}

// ct2Names maps names outside of the layers.
var ct2Names = map[string]string{
	"encoder/conv1/weight":                 "encoder.conv1.weight",
	"encoder/conv1/bias":                   "encoder.conv1.bias",
	"encoder/conv2/weight":                 "encoder.conv2.weight",
	"encoder/conv2/bias":                   "encoder.conv2.bias",
	"encoder/position_encodings/encodings": "encoder.positional_embedding",
	"encoder/layer_norm/gamma":             "encoder.ln_post.weight",
	"encoder/layer_norm/beta":              "encoder.ln_post.bias",
	"decoder/embeddings/weight":            "decoder.token_embedding.weight",
	"decoder/position_encodings/encodings": "decoder.positional_embedding",
	"decoder/layer_norm/gamma":             "decoder.ln.weight",
	"decoder/layer_norm/beta":              "decoder.ln.bias",
}

// ct2LayerNames maps names inside a layer, without ".weight" and ".bias". Of
// stacked projections the names follow in the order of their rows.
var ct2LayerNames = map[string][]string{
	"self_attention/layer_norm": {"attn_ln"},
	"self_attention/linear_0":   {"attn.query", "attn.key", "attn.value"},
	"self_attention/linear_1":   {"attn.out"},
	"attention/layer_norm":      {"cross_attn_ln"},
	"attention/linear_0":        {"cross_attn.query"},
	"attention/linear_1":        {"cross_attn.key", "cross_attn.value"},
	"attention/linear_2":        {"cross_attn.out"},
	"ffn/layer_norm":            {"mlp_ln"},
	"ffn/linear_0":              {"mlp.0"},
	"ffn/linear_1":              {"mlp.2"},
}

var ct2Leaves = map[string]string{"weight": ".weight", "bias": ".bias", "gamma": ".weight", "beta": ".bias"}

func (ctranslate2) parts(v variable) []part {
	if len(v.shape) == 0 {
		return nil
	}
	if name, ok := ct2Names[v.name]; ok {
		return []part{{name: name}}
	}
	side, _, _ := strings.Cut(v.name, "/")
	number, rest, ok := block(v.name, side+"/layer_", "/")
	cut := strings.LastIndexByte(rest, '/')
	if !ok || cut < 0 {
		return nil
	}
	names, leaf := ct2LayerNames[rest[:cut]], ct2Leaves[rest[cut+1:]]
	if names == nil || leaf == "" {
		return nil
	}
	var parts []part
	for _, n := range names {
		p := part{name: side + ".blocks." + number + "." + n + leaf}
		if len(names) > 1 {
			p.rows = v.shape[0] / len(names)
		}
		if leaf == ".bias" && strings.HasSuffix(n, ".key") {
			p.name = "" // zeros: Whisper's keys have no bias
		}
		parts = append(parts, p)
	}
	return parts
}

func (ctranslate2) describe(h *Header, vars map[string]variable, b *bundle) ([][]byte, error) {
	side := func(name string) (heads, layers, positions, width int) {
		heads = int(vars[name+"/num_heads"].scalar)
		for vars[fmt.Sprintf("%s/layer_%d/ffn/linear_0/weight", name, layers)].shape != nil {
			layers++
		}
		p := vars[name+"/position_encodings/encodings"].shape
		return heads, layers, at(p, 0), at(p, 1)
	}
	d := &h.Dims
	d.AudioHeads, d.AudioLayers, d.AudioCtx, d.AudioState = side("encoder")
	d.TextHeads, d.TextLayers, d.TextCtx, d.TextState = side("decoder")
	d.Mels = at(vars["encoder/conv1/weight"].shape, 1)
	d.Vocab = at(vars["decoder/embeddings/weight"].shape, 0)

	// lang_ids is not read: in tiny.en's file it is shifted by one.
	var config struct {
		AlignmentHeads  [][2]int `json:"alignment_heads"`
		Suppress        []int    `json:"suppress_ids"`
		SuppressAtBegin []int    `json:"suppress_ids_begin"`
	}
	if err := b.readJSON("config.json", &config); err != nil {
		return nil, err
	}
	h.AlignmentHeads = headsOf(config.AlignmentHeads)
	h.Suppress, h.SuppressAtBegin = config.Suppress, config.SuppressAtBegin
	return b.tokenizerWords()
}

// at is dimension i of a shape, 0 if there is none.
func at(shape []int, i int) int {
	if i >= len(shape) {
		return 0
	}
	return shape[i]
}
