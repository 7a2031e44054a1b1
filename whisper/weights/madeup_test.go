package weights

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// madeUp is a small network that tests write in every container.
type madeUp struct {
	dims            Dims
	words           [][]byte
	values          map[string][]float32 // exact in bfloat16 and float16
	heads           []Head
	suppress, begin []int
}

// small has all kinds of tensors and layers, in 80 kB of float16.
func small(seed uint64) madeUp {
	return newMadeUp(seed, Dims{
		Mels: 3, AudioCtx: 10, AudioState: 8, AudioHeads: 2, AudioLayers: 2,
		Vocab: 260 + 1509 + 99, TextCtx: 12, TextState: 8, TextHeads: 4, TextLayers: 3,
	}, 260)
}

func newMadeUp(seed uint64, d Dims, words int) madeUp {
	m := madeUp{
		dims: d, words: madeUpWords(words), values: map[string][]float32{},
		heads: []Head{{1, 0}, {d.TextLayers - 1, 1}}, suppress: []int{1, 2, 7}, begin: []int{32, words},
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for _, t := range Tensors(d, F32) {
		v := make([]float32, t.values())
		for i := range v {
			// 8 bits of fraction, and an exponent inside float16's normal range.
			v[i] = float32(math.Ldexp(float64(random.IntN(511)-255), random.IntN(12)-13))
		}
		m.values[t.Name] = v
	}
	return m
}

// madeUpWords are the single bytes, pairs of bytes, and where 50257 are asked for,
// the empty word that ends the multilingual vocabulary.
func madeUpWords(n int) [][]byte {
	var words [][]byte
	for b := range 256 {
		words = append(words, []byte{byte(b)})
	}
	for i := 0; len(words) < n && len(words) < 50256; i++ {
		words = append(words, []byte{byte(i >> 8), byte(i)})
	}
	if n == 50257 {
		words = append(words, []byte{})
	}
	return words
}

// alphabet writes bytes as a tokenizer.json does (GPT-2's bytes_to_unicode).
func alphabet(word []byte) string {
	var out []rune
	for _, b := range word {
		r := rune(b)
		if b <= ' ' {
			r = 256 + rune(b)
		} else if b >= 127 && b <= 160 {
			r = 256 + 33 + rune(b) - 127
		} else if b == 173 {
			r = 256 + 67
		}
		out = append(out, r)
	}
	return string(out)
}

func (m madeUp) tokenizerJSON() []byte {
	vocab := map[string]int{}
	merges := []string{}
	for id, w := range m.words {
		vocab[alphabet(w)] = id
		if len(w) == 2 {
			merges = append(merges, alphabet(w[:1])+" "+alphabet(w[1:]))
		}
	}
	data, err := json.Marshal(map[string]any{
		"added_tokens": []any{map[string]any{"id": len(m.words), "content": endOfText}},
		"model":        map[string]any{"type": "BPE", "vocab": vocab, "merges": merges},
	})
	if err != nil {
		panic(err)
	}
	return data
}

func pairsOf(heads []Head) [][2]int {
	var p [][2]int
	for _, h := range heads {
		p = append(p, [2]int{h.Layer, h.Head})
	}
	return p
}

// encodeValues writes values in a container's type: f32, f16 or bf16.
func encodeValues(stored string, values []float32) []byte {
	var out []byte
	for _, v := range values {
		bits := math.Float32bits(v)
		switch stored {
		case "f32":
			out = binary.LittleEndian.AppendUint32(out, bits)
		case "f16":
			out = binary.LittleEndian.AppendUint16(out, halfOfFloat(bits))
		case "bf16":
			out = binary.LittleEndian.AppendUint16(out, uint16(bits>>16))
		}
	}
	return out
}

func writeFiles(t testing.TB, dir string, files map[string][]byte) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func (m madeUp) layers(side string) int {
	if side == "encoder" {
		return m.dims.AudioLayers
	}
	return m.dims.TextLayers
}

// ct2Bin is the model as model.bin of CTranslate2.
func (m madeUp) ct2Bin(stored string) []byte {
	le := binary.LittleEndian
	str := func(b []byte, s string) []byte {
		return append(append(le.AppendUint16(b, uint16(len(s)+1)), s...), 0)
	}
	kind := uint8(slices.IndexFunc(ct2Types, func(t struct {
		name  string
		bytes int64
	}) bool {
		return t.name == stored
	}))
	count, body := 0, []byte(nil)
	add := func(name string, kind uint8, data []byte, shape ...int) {
		count++
		body = append(str(body, name), uint8(len(shape)))
		for _, s := range shape {
			body = le.AppendUint32(body, uint32(s))
		}
		body = le.AppendUint32(append(body, kind), uint32(len(data)))
		body = append(body, data...)
	}
	// stack puts tensors below each other, as the inverse of ctranslate2.parts.
	stack := func(name string, leaf string, rows []int, tensors ...string) {
		var data []byte
		n := 0
		for _, t := range tensors {
			v := m.values[t+leaf]
			if v == nil {
				v = make([]float32, rows[0]) // a key's bias
			}
			data = append(data, encodeValues(stored, v)...)
			n += rows[0]
		}
		add(name, kind, data, append([]int{n}, rows[1:]...)...)
	}
	D := m.dims.AudioState
	for _, name := range slices.Sorted(maps.Keys(ct2Names)) {
		tensor := ct2Names[name]
		i := slices.IndexFunc(Tensors(m.dims, F32), func(t Tensor) bool { return t.Name == tensor })
		add(name, kind, encodeValues(stored, m.values[tensor]), Tensors(m.dims, F32)[i].Shape...)
	}
	for _, side := range []string{"encoder", "decoder"} {
		for i := range m.layers(side) {
			from, to := fmt.Sprintf("%s/layer_%d/", side, i), fmt.Sprintf("%s.blocks.%d.", side, i)
			norm := func(name, tensor string) {
				stack(from+name+"/gamma", ".weight", []int{D}, to+tensor)
				stack(from+name+"/beta", ".bias", []int{D}, to+tensor)
			}
			linear := func(name string, out, in int, tensors ...string) {
				for i := range tensors {
					tensors[i] = to + tensors[i]
				}
				stack(from+name+"/weight", ".weight", []int{out, in}, tensors...)
				stack(from+name+"/bias", ".bias", []int{out}, tensors...)
			}
			norm("self_attention/layer_norm", "attn_ln")
			linear("self_attention/linear_0", D, D, "attn.query", "attn.key", "attn.value")
			linear("self_attention/linear_1", D, D, "attn.out")
			if side == "decoder" {
				norm("attention/layer_norm", "cross_attn_ln")
				linear("attention/linear_0", D, D, "cross_attn.query")
				linear("attention/linear_1", D, D, "cross_attn.key", "cross_attn.value")
				linear("attention/linear_2", D, D, "cross_attn.out")
			}
			norm("ffn/layer_norm", "mlp_ln")
			linear("ffn/linear_0", 4*D, D, "mlp.0")
			linear("ffn/linear_1", D, 4*D, "mlp.2")
		}
	}
	add("encoder/num_heads", 2, []byte{byte(m.dims.AudioHeads), 0})
	add("decoder/num_heads", 2, []byte{byte(m.dims.TextHeads), 0})
	add("decoder/pre_norm", 1, []byte{1})

	out := str(le.AppendUint32(nil, ct2Version), "WhisperSpec")
	out = le.AppendUint32(le.AppendUint32(out, 3), uint32(count))
	out = le.AppendUint32(append(out, body...), 1)
	return str(str(out, "decoder/projection/weight"), "decoder/embeddings/weight")
}

// ct2Files are the files of a CTranslate2 folder.
func (m madeUp) ct2Files(stored string) map[string][]byte {
	return map[string][]byte{
		"model.bin":      m.ct2Bin(stored),
		"tokenizer.json": m.tokenizerJSON(),
		"config.json": marshal(map[string]any{
			"alignment_heads": pairsOf(m.heads), "suppress_ids": m.suppress, "suppress_ids_begin": m.begin, "lang_ids": []int{1},
		}),
	}
}

// safetensorsFile is the model as model.safetensors.
func (m madeUp) safetensorsFile(stored string) []byte {
	kinds := map[string]string{"f32": "F32", "f16": "F16", "bf16": "BF16"}
	back := map[string]string{}
	for from, to := range hfNames {
		back[to] = from
	}
	for _, side := range []string{"encoder", "decoder"} {
		for i := range m.layers(side) {
			for from, to := range hfLayerNames {
				for _, leaf := range []string{".weight", ".bias"} {
					back[fmt.Sprintf("%s.blocks.%d.%s%s", side, i, to, leaf)] = fmt.Sprintf("%s.layers.%d.%s%s", side, i, from, leaf)
				}
			}
		}
	}
	head := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, t := range Tensors(m.dims, F32) {
		b := encodeValues(stored, m.values[t.Name])
		head["model."+back[t.Name]] = map[string]any{
			"dtype": kinds[stored], "shape": t.Shape, "data_offsets": []int{len(data), len(data) + len(b)},
		}
		data = append(data, b...)
	}
	h := marshal(head)
	for len(h)%8 != 0 {
		h = append(h, ' ')
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h, data)
}

// hfFiles are the files of a Hugging Face folder.
func (m madeUp) hfFiles(stored string) map[string][]byte {
	d := m.dims
	return map[string][]byte{
		"model.safetensors": m.safetensorsFile(stored),
		"tokenizer.json":    m.tokenizerJSON(),
		"config.json": marshal(map[string]any{
			"model_type": "whisper", "d_model": d.AudioState, "num_mel_bins": d.Mels, "vocab_size": d.Vocab,
			"max_source_positions": d.AudioCtx, "encoder_attention_heads": d.AudioHeads, "encoder_layers": d.AudioLayers,
			"max_target_positions": d.TextCtx, "decoder_attention_heads": d.TextHeads, "decoder_layers": d.TextLayers,
		}),
		"generation_config.json": marshal(map[string]any{
			"alignment_heads": pairsOf(m.heads), "suppress_tokens": m.suppress, "begin_suppress_tokens": m.begin,
		}),
	}
}

// ggmlFile is the model as ggml-*.bin: matrices in the type asked for, the rest
// in float32, as whisper.cpp's converter does it.
func (m madeUp) ggmlFile(stored string) []byte {
	var b bytes.Buffer
	put := func(values ...int) {
		for _, v := range values {
			binary.Write(&b, binary.LittleEndian, uint32(v))
		}
	}
	d := m.dims
	put(ggmlMagic, d.Vocab, d.AudioCtx, d.AudioState, d.AudioHeads, d.AudioLayers, d.TextCtx, d.TextState, d.TextHeads, d.TextLayers, d.Mels, 1)
	put(d.Mels, 5)
	b.Write(make([]byte, 4*d.Mels*5))
	put(len(m.words))
	for _, w := range m.words {
		put(len(w))
		b.Write(w)
	}
	for _, t := range Tensors(d, F32) {
		kind, code, shape := "f32", 0, slices.Clone(t.Shape)
		if len(shape) > 1 && stored == "f16" && filepath.Ext(t.Name) == ".weight" {
			kind, code = "f16", 1
		}
		if t.Name == "encoder.conv1.bias" || t.Name == "encoder.conv2.bias" {
			shape = append(shape, 1)
		}
		slices.Reverse(shape)
		put(len(shape), len(t.Name), code)
		put(shape...)
		b.WriteString(t.Name)
		b.Write(encodeValues(kind, m.values[t.Name]))
	}
	return b.Bytes()
}

// write makes a model file with Write.
func (m madeUp) write(t testing.TB, path string, kind DType) {
	t.Helper()
	h := Header{
		Name: "made-up", Dims: m.dims, Tensors: Tensors(m.dims, kind),
		AlignmentHeads: m.heads, Suppress: m.suppress, SuppressAtBegin: m.begin,
	}
	err := Write(path, h, m.words, func(name string, _ []int) []float32 { return m.values[name] })
	if err != nil {
		t.Fatal(err)
	}
}
