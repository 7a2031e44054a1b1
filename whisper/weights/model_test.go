package weights

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// modelBytes returns a model file and where its data begins.
func modelBytes(t testing.TB, m madeUp) ([]byte, int) {
	path := filepath.Join(t.TempDir(), "m.earshot")
	m.write(t, path, F16)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data, int(binary.LittleEndian.Uint64(data[16:]))
}

// verifyBytes opens and verifies a file with this content.
func verifyBytes(t *testing.T, data []byte) error {
	t.Helper()
	m, err := newModel("memory", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	return m.Verify()
}

func TestDamage(t *testing.T) {
	good, data := modelBytes(t, small(1))
	if err := verifyBytes(t, good); err != nil {
		t.Fatal(err)
	}
	tail := len(good) - 10
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"empty", func(b []byte) []byte { return nil }, "cut at byte 0 of at least 40"},
		{"cut in the magic", func(b []byte) []byte { return b[:5] }, "cut at byte 5 of at least 40"},
		{"cut in the preamble", func(b []byte) []byte { return b[:30] }, "cut at byte 30"},
		{"cut in the header", func(b []byte) []byte { return b[:200] }, "cut at byte 200 of"},
		{"cut at the end", func(b []byte) []byte { return b[:len(b)-1] }, "cut at byte"},
		{"longer", func(b []byte) []byte { return append(b, 0) }, "1 bytes follow the end"},
		{"zeros", func(b []byte) []byte { clear(b); return b }, "not an earshot model file: begins with 00 00"},
		{"zeros behind the preamble", func(b []byte) []byte { clear(b[40:]); return b }, "checksum of the header"},
		{"zeros behind the header", func(b []byte) []byte { clear(b[data:]); return b }, "tokenizer words: damaged"},
		{"zeros at the end", func(b []byte) []byte { clear(b[tail:]); return b }, "tensor encoder.positional_embedding damaged"},
		{"newer", func(b []byte) []byte { return newer(b) }, "version 7 of the format by another earshot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := verifyBytes(t, c.change(bytes.Clone(good)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func newer(b []byte) []byte {
	b[8] = 7
	binary.LittleEndian.PutUint32(b[36:], crc32.Checksum(b[:36], castagnoli))
	return b
}

// Every byte of the file is covered by some check.
func TestFlippedBytes(t *testing.T) {
	good, data := modelBytes(t, small(1))
	for i := 0; i < len(good); i++ {
		if i > 100 && i < data-600 || i > data+100 && i < len(good)-100 {
			i += 96 // not all of the long middle parts
		}
		good[i] ^= 0x10
		if verifyBytes(t, good) == nil {
			t.Errorf("byte %d of %d flipped: not found", i, len(good))
		}
		good[i] ^= 0x10
	}
}

// Reading a tensor finds what is wrong with it, without Verify, also when the
// file is cut while it is open.
func TestReadDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.earshot")
	small(1).write(t, path, F32)
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	last := m.Tensors[len(m.Tensors)-1]
	if _, err := m.F32(last.Name, 1, 2); err == nil || !strings.Contains(err.Error(), "has shape [10 8], want [1 2]") {
		t.Errorf("wrong shape: %v", err)
	}
	if _, err := m.F32("encoder.nothing"); err == nil || !strings.Contains(err.Error(), `no tensor "encoder.nothing"`) {
		t.Errorf("wrong name: %v", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteAt([]byte{0xff}, m.preamble.fileBytes-1)
	if _, err := m.F32(last.Name, last.Shape...); err == nil || !strings.Contains(err.Error(), path+": tensor encoder.positional_embedding damaged: checksum") {
		t.Errorf("flipped: %v", err)
	}
	f.Truncate(m.preamble.fileBytes - 5)
	if _, err := m.F32(last.Name, last.Shape...); err == nil || !strings.Contains(err.Error(), path+": tensor encoder.positional_embedding unreadable at byte 0") {
		t.Errorf("cut: %v", err)
	}
}

func TestWriteRefusals(t *testing.T) {
	m := small(1)
	path := filepath.Join(t.TempDir(), "x")
	zeros := func(name string, _ []int) []float32 { return m.values[name] }
	for _, c := range []struct {
		want   string
		header Header
		values func(string, []int) []float32
	}{
		{`model name "a/b"`, Header{Name: "a/b", Dims: m.dims}, zeros},
		{"encoder layers: 0 is not between", Header{Name: "x", Dims: Dims{Mels: 1, AudioCtx: 1, AudioState: 2, AudioHeads: 1}}, zeros},
		{"encoder width: 32769 is not between", Header{Name: "x", Dims: Dims{Mels: 1, AudioCtx: 1, AudioState: 32769, AudioHeads: 1}}, zeros},
		{"suppressed token 9999", Header{Name: "x", Dims: m.dims, Suppress: []int{9999}}, zeros},
		{"alignment head 0 of layer 3", Header{Name: "x", Dims: m.dims, AlignmentHeads: []Head{{3, 0}}}, zeros},
		{"tensor decoder.blocks.0.attn.key.weight is missing", Header{Name: "x", Dims: m.dims, Tensors: []Tensor{}}, zeros},
		{"0 values for shape [8 8]", Header{Name: "x", Dims: m.dims}, func(string, []int) []float32 { return nil }},
	} {
		if err := Write(path, c.header, m.words, c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// BenchmarkF32 reads a token embedding as large as base's, 53 MB of float16.
func BenchmarkF32(b *testing.B) {
	d := small(1).dims
	d.AudioState, d.TextState, d.Vocab = 512, 512, 51865
	path := filepath.Join(b.TempDir(), "m.earshot")
	err := Write(path, Header{Name: "x", Dims: d, Tensors: Tensors(d, F16)}, madeUpWords(50257), func(_ string, shape []int) []float32 {
		n, _ := elements(shape)
		return make([]float32, n)
	})
	if err != nil {
		b.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	b.SetBytes(2 * 51865 * 512)
	for b.Loop() {
		if _, err := m.F32("decoder.token_embedding.weight", 51865, 512); err != nil {
			b.Fatal(err)
		}
	}
}
