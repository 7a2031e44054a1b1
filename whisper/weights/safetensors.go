package weights

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// safetensors reads model.safetensors of a Hugging Face Whisper folder: u64 length of
// the header, a JSON header of name → type, shape and byte range, then the data
// without gaps (github.com/huggingface/safetensors, README, "Format").
type safetensors struct{}

func (safetensors) name() string { return "safetensors" }

// maxSafetensorsHeader is 50 times what large-v3 needs.
const maxSafetensorsHeader = 10 << 20

var safetensorsTypes = map[string]struct {
	name  string
	bytes int64
}{
	"F32": {"f32", 4}, "F16": {"f16", 2}, "BF16": {"bf16", 2}, "F64": {"f64", 8},
	"I64": {"int64", 8}, "I32": {"int32", 4}, "I16": {"int16", 2}, "I8": {"int8", 1}, "U8": {"uint8", 1}, "BOOL": {"bool", 1},
}

func (s safetensors) walk(in *stream, visit func(variable, io.Reader) error) error {
	vars, err := s.header(in)
	if err != nil {
		return err
	}
	for _, v := range vars {
		if err := in.visit(v, visit); err != nil {
			return err
		}
	}
	if in.left() != 0 {
		return fmt.Errorf("%d bytes follow the end at %d", in.left(), in.pos)
	}
	return nil
}

// header returns the variables in the order of their data.
func (s safetensors) header(in *stream) ([]variable, error) {
	size, err := in.uint64()
	if err != nil {
		return nil, err
	}
	if size > maxSafetensorsHeader {
		return nil, fmt.Errorf("not a safetensors file: a header of %d bytes", size)
	}
	head, err := in.bytes(int64(size))
	if err != nil {
		return nil, err
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(head, &entries); err != nil {
		return nil, fmt.Errorf("not a safetensors file: %w", err)
	}
	delete(entries, "__metadata__")
	begins := map[string]int64{}
	var vars []variable
	for name, raw := range entries {
		v, begin, err := s.variable(name, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		begins[name] = begin
		vars = append(vars, v)
	}
	sort.Slice(vars, func(i, j int) bool {
		a, b := vars[i], vars[j]
		return begins[a.name] < begins[b.name] || begins[a.name] == begins[b.name] && a.bytes < b.bytes
	})
	end := int64(0)
	for _, v := range vars {
		if begins[v.name] != end {
			return nil, fmt.Errorf("%s: data begins at %d, the one before ends at %d", v.name, begins[v.name], end)
		}
		end += v.bytes
	}
	return vars, nil
}

func (safetensors) variable(name string, raw []byte) (variable, int64, error) {
	var e struct {
		DType   string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return variable{}, 0, err
	}
	n, err := elements(e.Shape)
	if err != nil {
		return variable{}, 0, err
	}
	begin, bytes := e.Offsets[0], e.Offsets[1]-e.Offsets[0]
	t, known := safetensorsTypes[e.DType]
	if begin < 0 || bytes < 0 || known && bytes != n*t.bytes {
		return variable{}, 0, fmt.Errorf("bytes %d to %d for shape %v of type %s", begin, e.Offsets[1], e.Shape, e.DType)
	}
	if !known {
		t.name = e.DType
	}
	return variable{name: name, shape: e.Shape, stored: t.name, bytes: bytes}, begin, nil
}

// hfNames maps names outside of the layers, without "model.".
var hfNames = map[string]string{
	"encoder.conv1.weight":           "encoder.conv1.weight",
	"encoder.conv1.bias":             "encoder.conv1.bias",
	"encoder.conv2.weight":           "encoder.conv2.weight",
	"encoder.conv2.bias":             "encoder.conv2.bias",
	"encoder.embed_positions.weight": "encoder.positional_embedding",
	"encoder.layer_norm.weight":      "encoder.ln_post.weight",
	"encoder.layer_norm.bias":        "encoder.ln_post.bias",
	"decoder.embed_tokens.weight":    "decoder.token_embedding.weight",
	"decoder.embed_positions.weight": "decoder.positional_embedding",
	"decoder.layer_norm.weight":      "decoder.ln.weight",
	"decoder.layer_norm.bias":        "decoder.ln.bias",
}

// hfLayerNames maps names inside a layer, without ".weight" and ".bias".
var hfLayerNames = map[string]string{
	"self_attn_layer_norm":    "attn_ln",
	"self_attn.q_proj":        "attn.query",
	"self_attn.k_proj":        "attn.key",
	"self_attn.v_proj":        "attn.value",
	"self_attn.out_proj":      "attn.out",
	"encoder_attn_layer_norm": "cross_attn_ln",
	"encoder_attn.q_proj":     "cross_attn.query",
	"encoder_attn.k_proj":     "cross_attn.key",
	"encoder_attn.v_proj":     "cross_attn.value",
	"encoder_attn.out_proj":   "cross_attn.out",
	"final_layer_norm":        "mlp_ln",
	"fc1":                     "mlp.0",
	"fc2":                     "mlp.2",
}

func (safetensors) parts(v variable) []part {
	// Files of the bare network have no "model."; proj_out.weight is the token
	// embedding once more.
	name := strings.TrimPrefix(v.name, "model.")
	if to, ok := hfNames[name]; ok {
		return []part{{name: to}}
	}
	side, _, _ := strings.Cut(name, ".")
	number, rest, ok := block(name, side+".layers.", ".")
	cut := strings.LastIndexByte(rest, '.')
	if !ok || cut < 0 {
		return nil
	}
	to, leaf := hfLayerNames[rest[:cut]], rest[cut:]
	if to == "" || leaf != ".weight" && leaf != ".bias" {
		return nil
	}
	return []part{{name: side + ".blocks." + number + "." + to + leaf}}
}

// hfTokens are the fields that stand in generation_config.json and, in older
// folders, in config.json.
type hfTokens struct {
	AlignmentHeads  [][2]int `json:"alignment_heads"`
	Suppress        []int    `json:"suppress_tokens"`
	SuppressAtBegin []int    `json:"begin_suppress_tokens"`
}

func (safetensors) describe(h *Header, _ map[string]variable, b *bundle) ([][]byte, error) {
	var config struct {
		Kind        string `json:"model_type"`
		Width       int    `json:"d_model"`
		Mels        int    `json:"num_mel_bins"`
		AudioCtx    int    `json:"max_source_positions"`
		AudioHeads  int    `json:"encoder_attention_heads"`
		AudioLayers int    `json:"encoder_layers"`
		Vocab       int    `json:"vocab_size"`
		TextCtx     int    `json:"max_target_positions"`
		TextHeads   int    `json:"decoder_attention_heads"`
		TextLayers  int    `json:"decoder_layers"`
	}
	var tokens hfTokens
	for _, read := range []struct {
		file string
		to   any
	}{{"config.json", &config}, {"config.json", &tokens}, {"generation_config.json", &tokens}} {
		if err := b.readJSON(read.file, read.to); err != nil {
			return nil, err
		}
	}
	if config.Kind != "whisper" {
		return nil, fmt.Errorf("config.json of %s: model type %q, want whisper", b.from, config.Kind)
	}
	h.Dims = Dims{
		Mels: config.Mels, AudioCtx: config.AudioCtx, AudioState: config.Width, AudioHeads: config.AudioHeads, AudioLayers: config.AudioLayers,
		Vocab: config.Vocab, TextCtx: config.TextCtx, TextState: config.Width, TextHeads: config.TextHeads, TextLayers: config.TextLayers,
	}
	h.AlignmentHeads = headsOf(tokens.AlignmentHeads)
	h.Suppress, h.SuppressAtBegin = tokens.Suppress, tokens.SuppressAtBegin
	return b.tokenizerWords()
}
