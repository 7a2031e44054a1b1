package wave_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/audio"
	"earshot/audio/resample"
	"earshot/audio/wave"
)

// These tests take files the whole way to what the features are computed from: 16 kHz,
// one channel.

func sharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	folder := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the test data is missing: %v", err)
		}
		t.Skipf("the test data is missing: %v", err)
	}
	return folder
}

// read returns a file of the shared audio folder as 16 kHz mono.
func read(t *testing.T, path string) []float32 {
	t.Helper()
	r, err := wave.Open(filepath.Join(sharedFolder(t), "audio", path))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return to16k(t, r)
}

func to16k(t *testing.T, src audio.Source) []float32 {
	t.Helper()
	out, err := resample.To16k(src)
	if err != nil {
		t.Fatal(err)
	}
	s, err := audio.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func level(s []float32) float64 {
	sum := 0.0
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return 10 * math.Log10(sum/float64(len(s)))
}

// TestGoldenLengths: as many samples as the program that made the reference values
// decoded, whose resampler is another one.
func TestGoldenLengths(t *testing.T) {
	if testing.Short() {
		t.Skip("reads minutes of audio")
	}
	b, err := os.ReadFile(filepath.Join(sharedFolder(t), "golden", "base.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Clips map[string]struct{ Samples int }
	}
	if err := json.Unmarshal(b, &golden); err != nil || len(golden.Clips) == 0 {
		t.Fatalf("%d clips, %v", len(golden.Clips), err)
	}
	for i, path := range slices.Sorted(maps.Keys(golden.Clips)) {
		if i%5 > 0 && !strings.HasPrefix(path, "ljspeech") {
			continue // most have 16 kHz
		}
		clip := golden.Clips[path]
		if got := len(read(t, path)); got < clip.Samples-1 || got > clip.Samples+1 {
			t.Errorf("%s: got %d samples, want %d ± 1", path, got, clip.Samples)
		}
	}
}

// C2: the 44.1 kHz stereo FLAC of a recording is the 16 kHz WAV of it.
func TestFLACIsWAV(t *testing.T) {
	want, got := read(t, "jfk/jfk.wav"), read(t, "jfk/jfk.flac")
	if len(got) != len(want) {
		t.Fatalf("got %d samples, want %d", len(got), len(want))
	}
	diff := make([]float32, len(got))
	for i := range got {
		diff[i] = got[i] - want[i]
	}
	if d := level(diff) - level(want); d > -25 {
		t.Errorf("they differ by %.1f dB", d)
	}
}

// C6, C21, C22: lengths.
func TestLengths(t *testing.T) {
	for path, want := range map[string]int{
		"wav-odd/audiomate_wavex_2_48k_24b.wav":                    64000,
		"librispeech-noisy/1688-142285-0003_telephone8k_mulaw.wav": 80960,
		"librispeech-misc/1272-128104-0004-8k.wav":                 470400,
		"wav-odd/header_only.wav":                                  0,
	} {
		if got := len(read(t, path)); got != want {
			t.Errorf("%s: got %d samples, want %d", path, got, want)
		}
	}
	digits, err := filepath.Glob(filepath.Join(sharedFolder(t), "audio", "fsdd-8khz", "*.wav"))
	if err != nil || len(digits) != 30 {
		t.Fatalf("%d digits, %v", len(digits), err)
	}
	for _, path := range digits {
		s := read(t, filepath.Join("fsdd-8khz", filepath.Base(path)))
		if seconds := float64(len(s)) / audio.SampleRate; seconds < 0.2 || seconds > 1 || level(s) < -60 {
			t.Errorf("%s: %.2f s at %.0f dBFS", path, seconds, level(s))
		}
	}
}

// C21: nothing of a telephone's images above 4 kHz. The samples above are told by a
// high-pass that is exact at 16 kHz: windowed sinc of 255 taps.
func TestTelephoneImages(t *testing.T) {
	s := read(t, "librispeech-noisy/1688-142285-0003_telephone8k_mulaw.wav")
	const half = 127
	var h [2*half + 1]float64
	for i := range h {
		x := float64(i - half)
		window := 0.42 + 0.5*math.Cos(math.Pi*x/(half+1)) + 0.08*math.Cos(2*math.Pi*x/(half+1))
		const cutoff = 4150.0 / audio.SampleRate // its transition is ±150 Hz wide
		h[i] = -window * math.Sin(2*math.Pi*cutoff*x) / (math.Pi * x)
		if x == 0 {
			h[i] = 1 - 2*cutoff
		}
	}
	var high []float32
	for i := half; i < len(s)-half; i++ {
		sum := 0.0
		for k, w := range h {
			sum += w * float64(s[i+k-half])
		}
		high = append(high, float32(sum))
	}
	if d := level(high) - level(s); d > -50 {
		t.Errorf("above 4 kHz: %.1f dB", d)
	}
}

// C17, C18: the level of the mix is that of the speech.
func TestMixes(t *testing.T) {
	want := read(t, "wav-synthetic/extensible_24bit.wav")
	for _, path := range []string{"wav-synthetic/stereo_right_silent.wav", "wav-synthetic/stereo_antiphase.wav"} {
		got := read(t, path)
		if len(got) != len(want) || math.Abs(level(got)-level(want)) > 0.1 {
			t.Errorf("%s: %d samples at %.2f dBFS, want %d at %.2f", path, len(got), level(got), len(want), level(want))
		}
	}
}

// C17, C18, C19: files of several channels made of one recording.
func TestChannels(t *testing.T) {
	speech := read(t, "wav-synthetic/extensible_24bit.wav")
	silence := make([]float32, len(speech))
	for name, channels := range map[string][][]float32{
		"channel 3 of 6": {silence, silence, speech, silence, silence, silence},
		"equal":          {speech, speech},
	} {
		got := to16k(t, multichannel(t, channels))
		if math.Abs(level(got)-level(speech)) > 0.1 {
			t.Errorf("%s: %.2f dBFS, want %.2f", name, level(got), level(speech))
		}
	}
	same, err := audio.SameChannels(multichannel(t, [][]float32{speech, speech}))
	if err != nil || same[1] != 0 {
		t.Errorf("equal channels: got %v, %v", same, err)
	}
}

// multichannel reads a WAV file of 32-bit floats made of channels.
func multichannel(t *testing.T, channels [][]float32) audio.Source {
	t.Helper()
	n := len(channels)
	var w bytes.Buffer
	w.WriteString("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x03\x00")
	w.Write([]byte{byte(n), 0, 0x80, 0x3e, 0, 0, 0, 0, 0, 0, byte(4 * n), 0, 32, 0})
	w.WriteString("data\xff\xff\xff\xff")
	for k := range channels[0] {
		for _, c := range channels {
			bits := math.Float32bits(c[k])
			w.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
		}
	}
	r, err := wave.NewReader(&w, "made")
	if err != nil {
		t.Fatal(err)
	}
	return r
}
