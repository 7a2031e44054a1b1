package capture

import (
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"earshot/audio"
	"earshot/audio/resample"
	"earshot/audio/vad"
	"earshot/audio/wave"
	"earshot/whisper/backendtest"
)

func hiss(seed uint64, db float64, d time.Duration) []float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	s := make([]float32, samples(d))
	for i := range s {
		s[i] = float32(r.NormFloat64() * math.Pow(10, db/20))
	}
	return s
}

func scaled(s []float32, db float64) []float32 {
	out := slices.Clone(s)
	for i := range out {
		out[i] *= float32(math.Pow(10, db/20))
	}
	return out
}

func plus(a, b []float32) []float32 {
	out := slices.Clone(a)
	for i := range out {
		out[i] += b[i]
	}
	return out
}

// controlled is s behind gain control, in blocks of so many samples.
func controlled(s []float32, block int) ([]float32, *gain) {
	out := slices.Clone(s)
	g := &gain{}
	for part := range slices.Chunk(out, block) {
		g.apply(part)
	}
	return out, g
}

// What is loud enough, or is no voice, passes bit for bit.
func TestGainLeavesAlone(t *testing.T) {
	clicks := make([]float32, 20*audio.SampleRate)
	for at := 0; at+80 <= len(clicks); at += 2880 { // C28, quieter
		copy(clicks[at:], hiss(uint64(at), -40, 5*time.Millisecond))
	}
	gate := hiss(5, -60, 20*time.Second)
	clear(gate[:5*audio.SampleRate]) // the microphone cuts its noise off
	clear(gate[12*audio.SampleRate : 16*audio.SampleRate])
	for _, tc := range []struct {
		name  string
		sound []float32
	}{
		{"speech", speech(t, 9*time.Second)},
		{"silence", make([]float32, 10*audio.SampleRate)},
		{"room, -44 dBFS", hiss(1, -44, 20*time.Second)},
		{"room, -60 dBFS", hiss(2, -60, 20*time.Second)},
		{"room, -80 dBFS", hiss(3, -80, 20*time.Second)},
		{"noise that starts", append(make([]float32, 5*audio.SampleRate), hiss(4, -60, 15*time.Second)...)},
		{"noise that comes and goes", gate},
		{"clicks", plus(clicks, hiss(6, -70, 20*time.Second))},
		{"hum", sine(50, 0.003, audio.SampleRate, 20*audio.SampleRate)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, g := controlled(tc.sound, chunk)
			if !slices.Equal(got, tc.sound) {
				t.Errorf("it was changed; the gain is %.1f dB at the end", g.current)
			}
		})
	}
}

// Someone far away is lifted, over a noise that is not.
func TestGainLifts(t *testing.T) {
	voice := append(speech(t, 9*time.Second), speech(t, 9*time.Second)...)
	near := dB(voice[9*audio.SampleRate:])
	for _, tc := range []struct {
		name      string
		voice     float64 // dB against the recording
		noise     float64 // dBFS
		low, high float64 // dB that the voice must be lifted by in the second half
	}{
		{"quiet room", -25, -85, 13, 17},
		{"far away", -40, -95, 24, 31},
		{"some noise", -25, -68, 8, 14},
		{"noisy room", -25, -50, 0, 0.1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := plus(scaled(voice, tc.voice), hiss(7, tc.noise, 18*time.Second))
			got, g := controlled(in, chunk)
			half := 9 * audio.SampleRate
			lifted := dB(got[half:]) - dB(in[half:])
			t.Logf("the voice at %.1f dBFS was lifted by %.1f dB to %.1f", near+tc.voice, lifted, dB(got[half:]))
			if lifted < tc.low || lifted > tc.high {
				t.Errorf("lifted by %.1f dB, want %g to %g", lifted, tc.low, tc.high)
			}
			if noise := tc.noise + g.current; tc.noise < noiseCeiling && noise > noiseCeiling+2 {
				t.Errorf("the noise is at %.1f dBFS", noise)
			}
			other, _ := controlled(in, 777)
			if !slices.Equal(got, other) {
				t.Error("it depends on the size of the blocks")
			}
		})
	}
}

// A voice that is near all of a sudden does not clip, and the gain is slow: 3 dB/s up.
func TestGainPeaks(t *testing.T) {
	far := plus(scaled(append(speech(t, 9*time.Second), speech(t, 9*time.Second)...), -30), hiss(8, -90, 18*time.Second))
	loud := speech(t, 3*time.Second)
	peak := float32(0)
	for _, v := range loud {
		peak = max(peak, v, -v)
	}
	in := append(far, scaled(loud, 20*math.Log10(0.95/float64(peak)))...)
	got, _ := controlled(in, chunk)
	clipped := 0
	for i := range got {
		if got[i] >= 1 || got[i] <= -1 {
			clipped++
		}
	}
	if clipped > 0 {
		t.Errorf("%d samples are clipped", clipped)
	}
	before := 0.0
	for at := 0; at+chunk <= len(far); at += chunk {
		if level := dB(in[at : at+chunk]); level > -110 {
			lifted := dB(got[at:at+chunk]) - level
			if at > 0 && lifted > before+0.1 {
				t.Fatalf("from %.2f to %.2f dB within 20 ms", before, lifted)
			}
			before = max(before, lifted)
		}
	}
}

func TestHighPass(t *testing.T) {
	for _, tc := range []struct{ hz, low, high float64 }{
		{10, -80, -30}, {60, -3.1, -2.9}, {100, -0.6, -0.4}, {200, -0.1, 0.01}, {4000, -0.01, 0.01},
	} {
		s := sine(tc.hz, 0.5, audio.SampleRate, 2*audio.SampleRate)
		in := dB(s[audio.SampleRate:])
		newHighPass().apply(s)
		if took := dB(s[audio.SampleRate:]) - in; took < tc.low || took > tc.high {
			t.Errorf("%g Hz: %.2f dB, want %g to %g", tc.hz, took, tc.low, tc.high)
		}
	}
	offset := make([]float32, audio.SampleRate)
	for i := range offset {
		offset[i] = 0.3
	}
	newHighPass().apply(offset)
	if level := dB(offset); level > -100 {
		t.Errorf("a constant offset leaves %.1f dBFS", level)
	}
}

// Recordings without speech hold no more of it behind filter and gain than before. The
// first seconds of a live source have no gain, so each is heard twice.
func TestNoFalseSpeech(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real model")
	}
	dir, err := filepath.Abs("../../../shared/audio/nonspeech")
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.*g"))
	waves, _ := filepath.Glob(filepath.Join(dir, "*.wav"))
	names = append(names, waves...)
	if len(names) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s holds no recordings", dir)
		}
		t.Skipf("%s holds no recordings", dir)
	}
	silero, err := vad.NewSilero(backendtest.Silero(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := wave.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			mono, err := resample.To16k(f)
			if err != nil {
				t.Fatal(err)
			}
			sound, err := audio.ReadAll(mono)
			if err != nil {
				t.Fatal(err)
			}
			sound = sound[:min(len(sound), 8*audio.SampleRate)]
			sound = append(sound, sound...)
			plain := spoken(t, silero, sound)
			filtered := slices.Clone(sound)
			newHighPass().apply(filtered)
			lifted, g := controlled(filtered, chunk)
			if with := spoken(t, silero, lifted); with > plain {
				t.Errorf("%v of speech with gain control (%.1f dB), %v without", with, g.current, plain)
			}
		})
	}
}

// clip is a recording in memory.
type clip struct{ left []float32 }

func (c *clip) Format() audio.Format { return audio.Format{Rate: audio.SampleRate, Channels: 1} }

func (c *clip) Read(dst []float32) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(dst, c.left)
	c.left = c.left[n:]
	return n, nil
}

// spoken is how long someone speaks, says the product's detector.
func spoken(t *testing.T, d vad.Detector, sound []float32) time.Duration {
	t.Helper()
	d.Reset()
	total := 0
	for piece, err := range vad.Speech(&clip{sound}, d, vad.FileOptions()) {
		if err != nil {
			t.Fatal(err)
		}
		total += len(piece.Samples)
	}
	return duration(int64(total))
}
