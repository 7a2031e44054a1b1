package oncpu_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"earshot/cpu"
	"earshot/whisper"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
	"earshot/whisper/weights"
)

// tiny is as small as a network can be.
var tiny = weights.Dims{
	Mels: 1, AudioCtx: 3, AudioState: 4, AudioHeads: 1, AudioLayers: 1,
	Vocab: 256 + 1509, TextCtx: 4, TextState: 4, TextHeads: 1, TextLayers: 1,
}

// says is what a network computes: an encoded window, and the logits of three tokens.
func says(t testing.TB, n *oncpu.Network, d weights.Dims) []float32 {
	t.Helper()
	mel := whisper.Mel{Bands: d.Mels, Frames: 2 * d.AudioCtx, Data: make([]float32, d.Mels*2*d.AudioCtx)}
	for i := range mel.Data {
		mel.Data[i] = float32(i%17) / 17
	}
	enc, err := n.Encoder.Encode(context.Background(), mel)
	if err != nil {
		t.Fatal(err)
	}
	s, err := n.Decoder.Begin(context.Background(), []whisper.Encoded{enc}, whisper.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Step(context.Background(), []whisper.Input{{Tokens: []int{65, 300, 7}, Rows: 3}})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(append([][]float32{enc.Data}, out.Logits...)...)
}

// opened opens a model by its packed file and returns what it says.
func opened(t testing.TB, m *weights.Model, pool *cpu.Pool, path string) []float32 {
	t.Helper()
	n, err := oncpu.Open(m, pool, path)
	if err != nil {
		t.Fatal(err)
	}
	all := says(t, n, m.Dims)
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	return all
}

// inMemory is what a model says that is packed in memory.
func inMemory(t testing.TB, m *weights.Model, pool *cpu.Pool) []float32 {
	t.Helper()
	n, err := oncpu.New(m, pool, oncpu.Int8)
	if err != nil {
		t.Fatal(err)
	}
	return says(t, n, m.Dims)
}

func newPool(t testing.TB) *cpu.Pool {
	pool := cpu.NewPool(2)
	t.Cleanup(pool.Close)
	return pool
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// alone checks that nothing but one file lies in its folder.
func alone(t *testing.T, path string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 || files[0].Name() != filepath.Base(path) {
		t.Errorf("got %v, %v; want %s and nothing else", files, err, filepath.Base(path))
	}
}

func TestPacked(t *testing.T) {
	m, pool := backendtest.MadeUp(t, backendtest.Small), newPool(t)
	path := filepath.Join(t.TempDir(), "made.packed")
	want := inMemory(t, m, pool)
	if !slices.Equal(opened(t, m, pool, path), want) {
		t.Error("made and mapped: differs from in memory")
	}
	made, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(opened(t, m, pool, path), want) {
		t.Error("mapped: differs from in memory")
	}
	if err := oncpu.Pack(m, path); err != nil {
		t.Error(err)
	}
	if again, err := os.Stat(path); err != nil || !os.SameFile(made, again) {
		t.Errorf("%v, %v: made again", again, err)
	}
	alone(t, path)
}

// signed puts the right checksum behind a packed file's bytes.
func signed(b []byte) []byte {
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.AppendUint32(slices.Clone(b), sum)
}

// TestPackedDamaged opens files that are not what they should be: they are made again.
func TestPackedDamaged(t *testing.T) {
	m, pool := backendtest.MadeUp(t, tiny), newPool(t)
	want := inMemory(t, m, pool)
	path := filepath.Join(t.TempDir(), "made.packed")
	if err := oncpu.Pack(m, path); err != nil {
		t.Fatal(err)
	}
	good := read(t, path)
	body := good[:len(good)-4]
	flip := func(at int) []byte {
		b := slices.Clone(good)
		b[at] ^= 4
		return b
	}
	other := tiny
	other.TextHeads, other.AudioHeads = 2, 2 // the same tensors, so the same fingerprint
	for name, data := range map[string][]byte{
		"empty":             {},
		"head only":         good[:128],
		"half":              good[:len(good)/2],
		"a byte short":      good[:len(good)-1],
		"flip in the magic": flip(3),
		"other version":     signed(bytes.Replace(body, []byte("int8\n3 "), []byte("int8\n9 "), 1)),
		"other model":       signed(append(slices.Clone(flip(20)[:128]), body[128:]...)),
		"flip in a matrix":  flip(400),
		"flip in the sum":   flip(len(good) - 2),
		"zeros":             make([]byte, len(good)),
		"short but sound":   signed(body[:len(body)/2]),
		"long but sound":    signed(append(slices.Clone(body), make([]byte, 64)...)),
		"without values":    signed(body[:128]),
		"other heads":       packedOf(t, other),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(opened(t, m, pool, path), want) {
				t.Error("differs from in memory")
			}
			if !bytes.Equal(read(t, path), good) {
				t.Error("not made again")
			}
			alone(t, path)
		})
	}
}

// packedOf is the packed file of a made-up model.
func packedOf(t *testing.T, d weights.Dims) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.packed")
	if err := oncpu.Pack(backendtest.MadeUp(t, d), path); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

// TestPackedElsewhere opens models where no file can be made, which does without.
func TestPackedElsewhere(t *testing.T) {
	m, pool := backendtest.MadeUp(t, tiny), newPool(t)
	want := inMemory(t, m, pool)
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"no folder": filepath.Join(dir, "absent", "made.packed"), "a folder": folder, "no name": ""} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if !slices.Equal(opened(t, m, pool, path), want) {
				t.Error("differs from in memory")
			}
			if err := oncpu.Pack(m, path); err == nil {
				t.Error("no error")
			}
			if left, _ := filepath.Glob(".*"); len(left) > 0 {
				t.Error(left)
			}
			alone(t, folder)
		})
	}
}

// TestPackedTogether makes one file several times at once, over one that is mapped.
func TestPackedTogether(t *testing.T) {
	m, pool := backendtest.MadeUp(t, tiny), newPool(t)
	want := inMemory(t, m, pool)
	path := filepath.Join(t.TempDir(), "made.packed")
	early, err := oncpu.Open(m, pool, path)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	for range 5 {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				n, err := oncpu.Open(m, pool, path)
				if err != nil {
					t.Error(err)
					return
				}
				defer n.Close()
				if !slices.Equal(says(t, n, m.Dims), want) {
					t.Error("differs from in memory")
				}
			})
		}
		all.Wait()
		alone(t, path)
	}
	if !slices.Equal(says(t, early, m.Dims), want) {
		t.Error("a mapping changes when its file is replaced")
	}
}

// TestPackedMemory makes sure that a mapped network leaves the heap alone.
func TestPackedMemory(t *testing.T) {
	m, pool := backendtest.MadeUp(t, backendtest.LargeV3), newPool(t)
	path := filepath.Join(t.TempDir(), "made.packed")
	if err := oncpu.Pack(m, path); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	before := heap()
	n, err := oncpu.Open(m, pool, path)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	// 3.3 million parameters in int8; and nothing else but what tells where they are.
	if grown := heap() - before; grown > 250_000 {
		t.Errorf("%d bytes on the heap", grown)
	}
	runtime.KeepAlive(n)
}

// TestPackedVersion fails when packed files change, for which packedVersion must too.
// The values are exact in any arithmetic.
func TestPackedVersion(t *testing.T) {
	var words [][]byte
	for b := range 256 {
		words = append(words, []byte{byte(b)})
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "exact.earshot")
	err := weights.Write(path, weights.Header{Name: "exact", Dims: tiny}, words, func(_ string, shape []int) []float32 {
		size := 1
		for _, n := range shape {
			size *= n
		}
		v := make([]float32, size)
		for i := range v {
			v[i] = float32(i*i%251-125) / 64
		}
		return v
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := weights.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := oncpu.Pack(m, m.PackedPath()); err != nil {
		t.Fatal(err)
	}
	packed := read(t, filepath.Join(dir, "exact.packed"))
	if head := "earshot int8\n3 "; !bytes.HasPrefix(packed, []byte(head)) {
		t.Errorf("begins with %q, want %q", packed[:20], head)
	}
	const want = 0xccd9a77
	if got := crc32.ChecksumIEEE(packed[128 : len(packed)-4]); got != want {
		t.Errorf("parameters have checksum %#x, want %#x", got, uint32(want))
	}
}

// FuzzPacked opens files of any content. One that is not the model's is made again;
// what has a right checksum is believed, and may make no sense.
func FuzzPacked(f *testing.F) {
	m, pool := backendtest.MadeUp(f, tiny), newPool(f)
	want := inMemory(f, m, pool)
	path := filepath.Join(f.TempDir(), "made.packed")
	if err := oncpu.Pack(m, path); err != nil {
		f.Fatal(err)
	}
	good := read(f, path)
	for _, sign := range []bool{false, true} {
		f.Add(good, sign)
		f.Add(good[:len(good)/2], sign)
		f.Add(slices.Concat(good[:2000], bytes.Repeat([]byte{0x80}, len(good)-2000)), sign)
		f.Add(slices.Concat(good[:128], bytes.Repeat([]byte{0xff}, len(good)-128)), sign)
		f.Add([]byte(nil), sign)
	}
	f.Fuzz(func(t *testing.T, data []byte, sign bool) {
		if sign && len(data) >= 4 {
			data = signed(data[:len(data)-4])
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		got := opened(t, m, pool, path)
		if !sign && !slices.Equal(got, want) {
			t.Error("differs from in memory")
		}
	})
}
