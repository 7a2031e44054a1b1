package wave

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"earshot/audio"
)

// TestWAVCases reads the files of wav-synthetic, which all hold the same sound.
// Cases C1, C6, C7, C8, C11, C12, and RF64.
func TestWAVCases(t *testing.T) {
	want := jfk(t)
	for _, tc := range []struct {
		file     string
		off      float64
		warnings int
	}{
		{"data_size_too_big.wav", 0, 1},
		{"data_size_ffffffff.wav", 0, 0},
		{"extensible_24bit.wav", 0, 0},
		{"float32.wav", 1.0 / 32768, 0},
		{"list_odd_before_data.wav", 0, 0},
		{"pcm_u8.wav", 1.0 / 128, 0},
		{"rf64_ds64.wav", 0, 0},
		{"trailing_garbage.wav", 0, 0},
	} {
		t.Run(tc.file, func(t *testing.T) {
			got := decode(t, load(t, "wav-synthetic", tc.file))
			if off := farthest(t, got.samples, want); off > tc.off {
				t.Errorf("off by %g, accepted is %g", off, tc.off)
			}
			if got.info.Frames != 32000 || got.info.Rate != 16000 {
				t.Errorf("got %+v", got.info)
			}
			if len(got.warnings) != tc.warnings {
				t.Errorf("warnings %q, want %d", got.warnings, tc.warnings)
			}
		})
	}
	warning := decode(t, load(t, "wav-synthetic", "data_size_too_big.wav")).warnings[0]
	if !strings.Contains(warning, "65000") || !strings.Contains(warning, "64000") {
		t.Errorf("the warning %q does not name both sizes", warning)
	}
}

// TestWAVOdd reads the files that other projects keep as tests. C6, C12, C16, C21.
func TestWAVOdd(t *testing.T) {
	for _, tc := range []struct {
		dir, file string
		info      Info
	}{
		{"wav-odd", "audiomate_wavex_2_48k_24b.wav", Info{"WAV", "PCM", 24, 48000, 2, 192000}},
		{"wav-odd", "am_signed_24bit.wav", Info{"WAV", "PCM", 24, 48000, 1, 54514}},
		{"wav-odd", "am_mono_int32.wav", Info{"WAV", "PCM", 32, 44100, 1, 22}},
		{"wav-odd", "am_stereo_24bit.WAV", Info{"WAV", "PCM", 24, 16000, 2, 17833}},
		{"wav-odd", "am_stereo_16bit.wav", Info{"WAV", "PCM", 16, 16000, 2, 17833}},
		{"wav-odd", "header_only.wav", Info{"WAV", "PCM", 16, 44100, 1, 0}},
		{"librispeech-noisy", "1688-142285-0003_telephone8k_mulaw.wav", Info{"WAV", "mu-law", 8, 8000, 1, 40480}},
		{"librispeech-misc", "1272-128104-0004-8k.wav", Info{"WAV", "PCM", 16, 8000, 1, 235200}},
	} {
		t.Run(tc.file, func(t *testing.T) {
			got := decode(t, load(t, tc.dir, tc.file))
			if got.info != tc.info || int64(got.frames()) != tc.info.Frames || len(got.warnings) > 0 {
				t.Errorf("got %+v, %d frames, warnings %q, want %+v", got.info, got.frames(), got.warnings, tc.info)
			}
		})
	}
	// One recording, mastered twice.
	wide, narrow := decode(t, load(t, "wav-odd", "am_stereo_24bit.WAV")), decode(t, load(t, "wav-odd", "am_stereo_16bit.wav"))
	if off := farthest(t, wide.samples, narrow.samples); off > 10.0/32768 {
		t.Errorf("24 and 16 bits of one recording are %g apart", off)
	}
}

// C3, C6, C16: what cannot be read is told apart, quickly and without memory.
func TestWAVRefused(t *testing.T) {
	unknownGUID := load(t, "wav-odd", "audiomate_wavex_2_48k_24b.wav")
	unknownGUID[bytes.Index(unknownGUID, []byte("\xaa\x00\x38\x9b"))]++
	format := func(text string) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*FormatError](err)
			return ok && e.File == "test" && strings.Contains(e.Found, text) && strings.Contains(err.Error(), Accepted) && len(err.Error()) < 2000
		}
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for _, tc := range []struct {
		name string
		file []byte
		ok   func(error) bool
	}{
		{"MS ADPCM", load(t, "wav-odd", "am_ms_adpcm.wav"), format("MS ADPCM (0x0002)")},
		{"unknown GUID", unknownGUID, format("sub-format {00000001-0000-0010-8000-")},
		{"absurd fmt size", load(t, "wav-odd", "ps_bad.wav"), is(ErrDamaged)},
		{"absurd rate", load(t, "wav-odd", "ps_awful.wav"), is(ErrRate)},
		{"0 bytes", load(t, "wav-odd", "zero_bytes.wav"), is(ErrEmpty)},
		{"no channels", riff(fmtChunk(tagPCM, 0, 16000, 16), chunk("data", nil)), is(ErrChannels)},
		{"65535 channels", riff(fmtChunk(tagPCM, 65535, 16000, 16), chunk("data", make([]byte, 100))), is(ErrChannels)},
		{"PCM of 0 bits", riff(fmtChunk(tagPCM, 1, 16000, 0), chunk("data", nil)), format("PCM of 0 bits")},
		{"PCM of 64 bits", riff(fmtChunk(tagPCM, 1, 16000, 64), chunk("data", nil)), format("PCM of 64 bits")},
		{"float of 16 bits", riff(fmtChunk(tagFloat, 1, 16000, 16), chunk("data", nil)), format("float of 16 bits")},
		{"EXTENSIBLE of 16 bytes", riff(fmtChunk(tagExtensible, 1, 16000, 16), chunk("data", nil)), format("without a sub-format")},
		{"unknown tag", riff(fmtChunk(0x4242, 1, 16000, 16), chunk("data", nil)), format("0x4242")},
		{"no fmt", riff(chunk("data", make([]byte, 100))), is(ErrDamaged)},
		{"short fmt", riff(chunk("fmt ", make([]byte, 14)), chunk("data", nil)), is(ErrDamaged)},
		{"no data", riff(fmtChunk(tagPCM, 1, 16000, 16), chunk("LIST", make([]byte, 33))), is(ErrDamaged)},
		{"LIST of 4 GiB", riff(fmtChunk(tagPCM, 1, 16000, 16), []byte("LIST\xff\xff\xff\xffabc")), is(ErrDamaged)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var err error
			quick(t, tc.name, func() { _, err = tryDecode(tc.file) })
			if err == nil || !tc.ok(err) || !strings.Contains(err.Error(), "test") {
				t.Errorf("got error %v", err)
			}
		})
	}
}

// C1: cut at every length in the header and a little behind.
func TestWAVCut(t *testing.T) {
	file := load(t, "wav-synthetic", "data_size_too_big.wav")
	for n := range 201 {
		var got decoded
		var err error
		quick(t, fmt.Sprintf("%d bytes", n), func() { got, err = tryDecode(file[:n]) })
		switch {
		case n == 0 && !errors.Is(err, ErrEmpty):
			t.Errorf("%d bytes: error %v", n, err)
		case n > 0 && n < 44 && !errors.Is(err, ErrDamaged):
			t.Errorf("%d bytes: error %v", n, err)
		case n >= 44 && (err != nil || got.frames() != (n-44)/2 || len(got.warnings) != 1):
			t.Errorf("%d bytes: %d frames, warnings %q, error %v", n, got.frames(), got.warnings, err)
		}
	}
}

// C9: a size that was never filled in, and a stream that ends early.
func TestWAVUnknownLength(t *testing.T) {
	samples := ints(2, sound(32000, 16))
	for _, size := range []uint32{0, 0x7FFFF000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF} {
		file := riff(fmtChunk(tagPCM, 1, 16000, 16), le.AppendUint32([]byte("data"), size), samples)
		r, err := NewReader(&trickle{b: file, n: 1000}, "test")
		if err != nil {
			t.Fatal(err)
		}
		if r.Info().Frames != -1 {
			t.Errorf("size %#x: %d frames before reading", size, r.Info().Frames)
		}
		got, err := audio.ReadAll(r)
		if err != nil || len(got) != 32000 || r.Info().Frames != 32000 || len(r.Warnings()) > 0 {
			t.Errorf("size %#x: %d samples, %+v, %v, %q", size, len(got), r.Info(), err, r.Warnings())
		}
		if r, err = NewReader(bytes.NewReader(file), "test"); err != nil || r.Info().Frames != 32000 {
			t.Errorf("size %#x in a file: %v, %v", size, r.Info(), err)
		}
	}
	cut := load(t, "wav-synthetic", "data_size_ffffffff.wav")[:32044]
	if got := decode(t, cut); got.frames() != 16000 {
		t.Errorf("cut to 32044 bytes: %d frames, want 16000", got.frames())
	}
}

// C11, C12: chunks of every size before and behind the samples, with their pad byte
// and, as some writers do it, without.
func TestWAVChunks(t *testing.T) {
	samples := sound(5000, 16)
	format, data := fmtChunk(tagPCM, 1, 16000, 16), chunk("data", ints(2, samples))
	var want []float32
	for _, s := range samples {
		want = append(want, float32(s)/32768)
	}
	for n := range 10 {
		list := chunk("LIST", bytes.Repeat([]byte{0xAA}, n))
		unpadded := list[:chunkHeader+n]
		for name, file := range map[string][]byte{
			"before":              riff(format, list, data),
			"first":               riff(list, format, data),
			"behind":              riff(format, data, list),
			"behind, not padded":  riff(format, data, unpadded),
			"before, not padded":  riff(format, unpadded, data),
			"twice, not padded":   riff(unpadded, format, unpadded, data),
			"data of odd size":    riff(format, le.AppendUint32([]byte("data"), 10001), data[chunkHeader:], list),
			"fmt of 18 bytes":     riff(chunk("fmt ", append(bytes.Clone(format[chunkHeader:]), 0, 0)), list, data),
			"fmt of 100 bytes":    riff(chunk("fmt ", append(bytes.Clone(format[chunkHeader:]), make([]byte, 84)...)), list, data),
			"a second fmt, wrong": riff(format, chunk("fmt ", make([]byte, n)), data),
		} {
			if got := decode(t, file); farthest(t, got.samples, want) > 0 || len(got.warnings) > 0 {
				t.Errorf("LIST of %d bytes %s: other samples, or warnings %q", n, name, got.warnings)
			}
		}
	}
	if got := decode(t, riff(format, chunk("data", nil), chunk("LIST", make([]byte, 100)))); got.frames() != 0 {
		t.Errorf("an empty data chunk before a LIST chunk: %d frames", got.frames())
	}
}

// C6, C7: every sample format, through the plain and the EXTENSIBLE header.
func TestWAVFormats(t *testing.T) {
	const n = 3000
	var want []float32
	for _, s := range sound(n, 32) {
		want = append(want, float32(float64(s)/math.Ldexp(1, 31)))
	}
	float := func(to func([]byte, float32) []byte) (b []byte) {
		for _, s := range want {
			b = to(b, s)
		}
		return b
	}
	float32s := float(func(b []byte, s float32) []byte { return le.AppendUint32(b, math.Float32bits(s)) })
	float64s := float(func(b []byte, s float32) []byte { return le.AppendUint64(b, math.Float64bits(float64(s))) })
	unsigned := ints(1, sound(n, 8))
	for i := range unsigned {
		unsigned[i] ^= 0x80
	}
	twelve := ints(2, sound(n, 12)) // 12 bits at the top of 16
	for i := 0; i < len(twelve); i += 2 {
		le.PutUint16(twelve[i:], le.Uint16(twelve[i:])<<4)
	}
	twelveFmt := fmtChunk(tagPCM, 1, 16000, 16)
	le.PutUint16(twelveFmt[chunkHeader+14:], 12)
	wideFmt := fmtChunk(tagPCM, 1, 16000, 32)
	le.PutUint16(wideFmt[chunkHeader+14:], 24)
	for _, tc := range []struct {
		name    string
		tag     int
		bits    int
		data    []byte
		off     float64
		headers [][]byte
	}{
		{"8 bits", tagPCM, 8, unsigned, 1.0 / 128, nil},
		{"16 bits", tagPCM, 16, ints(2, sound(n, 16)), 1.0 / 32768, nil},
		{"24 bits", tagPCM, 24, ints(3, sound(n, 24)), 1.0 / (1 << 23), nil},
		{"32 bits", tagPCM, 32, ints(4, sound(n, 32)), 1e-7, nil},
		{"float of 32 bits", tagFloat, 32, float32s, 0, nil},
		{"float of 64 bits", tagFloat, 64, float64s, 0, nil},
		{"20 bits in 24", tagPCM, 24, ints(3, sound(n, 24)), 1.0 / (1 << 23), [][]byte{extensible(tagPCM, 1, 16000, 24, 20)}},
		{"24 bits in 32", tagPCM, 24, ints(4, sound(n, 32)), 1e-7, [][]byte{wideFmt}},
		{"12 bits in 16", tagPCM, 12, twelve, 1.0 / 2048, [][]byte{twelveFmt}},
	} {
		if tc.headers == nil {
			tc.headers = [][]byte{fmtChunk(tc.tag, 1, 16000, tc.bits), extensible(tc.tag, 1, 16000, tc.bits, tc.bits)}
		}
		for _, format := range tc.headers {
			fact, peak := chunk("fact", make([]byte, 4)), chunk("PEAK", make([]byte, 16))
			got := decode(t, riff(format, fact, peak, chunk("data", tc.data)))
			if off := farthest(t, got.samples, want); off > tc.off {
				t.Errorf("%s, fmt of %d bytes: off by %g, accepted is %g", tc.name, len(format)-chunkHeader, off, tc.off)
			}
		}
	}
}

// C7: floats outside full scale, and what is no number.
func TestWAVFloatLimits(t *testing.T) {
	in := []float32{0.5, 2, -2, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 1}
	want := []float32{0.5, 1, -1, 0, 1, -1, -1, 1}
	var b32, b64 []byte
	for _, s := range in {
		b32 = le.AppendUint32(b32, math.Float32bits(s))
		b64 = le.AppendUint64(b64, math.Float64bits(float64(s)))
	}
	for bits, data := range map[int][]byte{32: b32, 64: b64} {
		if got := decode(t, riff(fmtChunk(tagFloat, 1, 16000, bits), chunk("data", data))); !slices.Equal(got.samples, want) {
			t.Errorf("%d bits: got %v, want %v", bits, got.samples, want)
		}
	}
}

// C21: the decoding tables against the values that ITU-T G.711 lists, and A-law
// against the mu-law of the same sound.
func TestG711(t *testing.T) {
	a, mu := aLaw(), muLaw()
	for _, tc := range []struct {
		table *[256]float32
		code  byte
		want  float32
	}{
		{a, 0xD5, 1.0 / 4096}, {a, 0x55, -1.0 / 4096}, {a, 0xAA, 4032.0 / 4096}, {a, 0x2A, -4032.0 / 4096},
		{mu, 0xFF, 0}, {mu, 0x7F, 0}, {mu, 0x80, 8031.0 / 8192}, {mu, 0x00, -8031.0 / 8192},
	} {
		if got := tc.table[tc.code]; got != tc.want {
			t.Errorf("code %#x: got %g, want %g", tc.code, got, tc.want)
		}
	}
	muFile := load(t, "librispeech-noisy", "1688-142285-0003_telephone8k_mulaw.wav")
	want := decode(t, muFile).samples
	var data []byte
	for _, s := range want {
		best := 0
		for code, v := range a {
			if math.Abs(float64(v-s)) < math.Abs(float64(a[best]-s)) {
				best = code
			}
		}
		data = append(data, byte(best))
	}
	got := decode(t, riff(fmtChunk(tagALaw, 1, 8000, 8), chunk("data", data)))
	if got.info.Codec != "A-law" {
		t.Errorf("codec %s", got.info.Codec)
	}
	for i, s := range got.samples {
		if d := math.Abs(float64(s - want[i])); d > max(1.0/4096, math.Abs(float64(want[i]))/32) {
			t.Fatalf("sample %d is %g, want %g", i, s, want[i])
		}
	}
}

// C91: the header of a recording of 40 hours. The samples are never written: 4.6 GB of
// zeros come from the reader.
func TestWAVHuge(t *testing.T) {
	header := load(t, "wav-synthetic", "rf64_ds64.wav")
	header = header[:bytes.Index(header, []byte("data"))+chunkHeader]
	at := bytes.Index(header, []byte("ds64")) + chunkHeader
	le.PutUint64(header[at:], 4608000072)
	le.PutUint64(header[at+8:], 4608000000)
	le.PutUint64(header[at+16:], 2304000000)
	r, err := NewReader(io.MultiReader(bytes.NewReader(header), zeros{}), "test")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Info().Frames; got != 2304000000 {
		t.Errorf("got %d frames", got)
	}
	// Beyond 4 GiB without reading them: the counts are what matters.
	data := r.dec.(*pcmDecoder).dec.PCMChunk.R.(*dataChunk)
	data.found = 4608000000 - 2*5000
	got, err := audio.ReadAll(r)
	if err != nil || len(got) != 5000 {
		t.Errorf("the last 5000 frames: got %d, %v", len(got), err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestWAVFraming: frames stay whole however the bytes arrive and are asked for.
func TestWAVFraming(t *testing.T) {
	samples := sound(3*700, 24)
	file := riff(fmtChunk(tagPCM, 3, 16000, 24), chunk("data", ints(3, samples)))
	want := decode(t, file).samples
	r, err := NewReader(iotest.OneByteReader(bytes.NewReader(file)), "test")
	if err != nil {
		t.Fatal(err)
	}
	var got []float32
	for buf := make([]float32, 8); ; { // room for two frames and a bit
		n, err := r.Read(buf)
		got = append(got, buf[:n]...)
		if n%3 != 0 {
			t.Fatalf("got %d samples of 3 channels", n)
		}
		if err != nil {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d samples, other than the %d in one piece", len(got), len(want))
	}
	if _, err := r.Read(make([]float32, 2)); !errors.Is(err, io.ErrShortBuffer) {
		t.Errorf("room for less than a frame: error %v", err)
	}
}

// TestReadError: an error of the stream below is handed on, whatever the container.
func TestReadError(t *testing.T) {
	broken := errors.New("the disk is broken")
	for name, file := range containers(t, 6000) {
		for _, n := range []int{0, 5, 40, len(file) / 2, len(file) - 1} {
			r, err := NewReader(&trickle{b: file[:n], n: 100, err: broken}, "test")
			if err == nil {
				_, err = audio.ReadAll(r)
				r.Close()
			}
			if !errors.Is(err, broken) {
				t.Errorf("%s after %d bytes: got %v", name, n, err)
			}
		}
	}
}

func TestClosed(t *testing.T) {
	for name, file := range containers(t, 6000) {
		r, err := NewReader(bytes.NewReader(file), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
		if n, err := r.Read(make([]float32, 100)); n != 0 || err == nil {
			t.Errorf("%s: read %d samples after Close, error %v", name, n, err)
		}
	}
}

func BenchmarkWAV(b *testing.B) {
	for _, bits := range []int{8, 16, 24, 32} {
		b.Run(fmt.Sprintf("%d bits", bits), func(b *testing.B) {
			n := 2 * 44100
			file := riff(fmtChunk(tagPCM, 2, 44100, bits), chunk("data", ints(bits/8, sound(n, bits))))
			buf := make([]float32, 4096)
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(file), "test")
				for err == nil {
					_, err = r.Read(buf)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "x-real-time")
		})
	}
}
