package weights

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzModel opens any bytes as a model file. Checksums are repaired, so that what
// is behind them is reached.
func FuzzModel(f *testing.F) {
	good, data := modelBytes(f, tiny())
	f.Add(good)
	f.Add(good[:data])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		if len(b) > preambleBytes {
			size := min(int64(binary.LittleEndian.Uint32(b[12:])), int64(len(b)-preambleBytes))
			binary.LittleEndian.PutUint32(b[12:], uint32(size))
			binary.LittleEndian.PutUint64(b[24:], uint64(len(b)))
			binary.LittleEndian.PutUint32(b[32:], crc32.Checksum(b[preambleBytes:preambleBytes+size], castagnoli))
			binary.LittleEndian.PutUint32(b[36:], crc32.Checksum(b[:36], castagnoli))
		}
		m, err := newModel("memory", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, want := range m.Tensors {
			v, err := m.F32(want.Name, want.Shape...)
			if err == nil && int64(len(v)) != want.values() {
				t.Errorf("%s: %d values for %v", want.Name, len(v), want.Shape)
			}
		}
		m.Verify()
	})
}

// tiny is the smallest network, to give the fuzzer room.
func tiny() madeUp {
	m := newMadeUp(1, Dims{
		Mels: 1, AudioCtx: 1, AudioState: 2, AudioHeads: 1, AudioLayers: 1,
		Vocab: 256 + 1509, TextCtx: 1, TextState: 2, TextHeads: 1, TextLayers: 1,
	}, 256)
	m.heads = []Head{{0, 0}}
	return m
}

// fuzzImport imports any bytes as the weights of a container whose other files are
// right.
func fuzzImport(f *testing.F, format func() format, files map[string][]byte, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
		f.Add(s[:len(s)/2])
	}
	out, err := os.Create(filepath.Join(f.TempDir(), "out"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		src := &bundle{format: format(), from: "memory"}
		src.weights = input{name: "weights", open: func() (io.ReadCloser, int64, error) {
			return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
		}}
		src.file = func(name string) ([]byte, error) {
			if data, ok := files[name]; ok {
				return data, nil
			}
			return nil, os.ErrNotExist
		}
		if err := out.Truncate(0); err != nil {
			t.Fatal(err)
		}
		h, err := convert(context.Background(), out, src, "memory", ImportOptions{Name: "fuzz"})
		if err != nil {
			if slices.ContainsFunc(seeds, func(s []byte) bool { return bytes.Equal(s, b) }) {
				t.Error(err)
			}
			return
		}
		info, err := out.Stat()
		if err != nil {
			t.Fatal(err)
		}
		m, err := newModel("out", out, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Verify(); err != nil || m.Fingerprint != h.Fingerprint {
			t.Errorf("what was imported is not whole: %v", err)
		}
	})
}

func FuzzCTranslate2(f *testing.F) {
	m := tiny()
	fuzzImport(f, func() format { return ctranslate2{} }, m.ct2Files("f16"), m.ct2Bin("f16"), m.ct2Bin("bf16"))
}

func FuzzSafetensors(f *testing.F) {
	m := tiny()
	fuzzImport(f, func() format { return safetensors{} }, m.hfFiles("f16"), m.safetensorsFile("f16"), m.safetensorsFile("bf16"))
}

func FuzzGGML(f *testing.F) {
	m := tiny()
	fuzzImport(f, func() format { return &ggml{} }, nil, m.ggmlFile("f16"), m.ggmlFile("f32"))
}
