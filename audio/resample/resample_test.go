package resample

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"earshot/audio"
)

// clip is a Source over samples in memory that hands out at most most frames a call.
type clip struct {
	format  audio.Format
	samples []float32
	most    int
}

func (c *clip) Format() audio.Format { return c.format }

func (c *clip) Read(dst []float32) (int, error) {
	if len(c.samples) == 0 {
		return 0, io.EOF
	}
	n := copy(dst[:min(len(dst), c.most*c.format.Channels)], c.samples)
	c.samples = c.samples[n:]
	return n, nil
}

func mono(rate int, samples []float32) *clip {
	return &clip{audio.Format{Rate: rate, Channels: 1}, samples, 1 << 20}
}

func convert(t testing.TB, src audio.Source) []float32 {
	t.Helper()
	out, err := To16k(src)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := audio.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

func sine(rate, n int, hz, amplitude float64) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(amplitude * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
	}
	return s
}

// fit returns the amplitude of the sine of hz in s and the RMS of all else, by least
// squares. The ends, where the filter sees the silence around, are left out.
func fit(s []float32, hz float64) (amplitude, rest float64) {
	s = s[600 : len(s)-600]
	w := 2 * math.Pi * hz / audio.SampleRate
	var ss, sc, cc, sy, cy float64
	for i, v := range s {
		sin, cos := math.Sincos(w * float64(i))
		ss, sc, cc = ss+sin*sin, sc+sin*cos, cc+cos*cos
		sy, cy = sy+sin*float64(v), cy+cos*float64(v)
	}
	det := ss*cc - sc*sc
	a, b := (sy*cc-cy*sc)/det, (cy*ss-sy*sc)/det
	for i, v := range s {
		sin, cos := math.Sincos(w * float64(i))
		d := float64(v) - a*sin - b*cos
		rest += d * d / float64(len(s))
	}
	return math.Hypot(a, b), math.Sqrt(rest)
}

func rms(s []float32) float64 {
	sum := 0.0
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(s))))
}

func db(x float64) float64 { return 20 * math.Log10(x) }

// rates holds common ones, both limits, and odd ones that need phases between the
// tabulated ones.
var rates = []int{4000, 8000, 11025, 22050, 24000, 32000, 44100, 44101, 47999, 48000, 88200, 96000, 176400, 191999, 192000}

// C2: every rate, in level and free of distortion.
func TestSine(t *testing.T) {
	for _, rate := range rates {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			got := convert(t, mono(rate, sine(rate, rate, 1000, 0.5)))
			if len(got) != audio.SampleRate {
				t.Errorf("got %d samples, want %d", len(got), audio.SampleRate)
			}
			amplitude, rest := fit(got, 1000)
			if d := db(amplitude / 0.5); math.Abs(d) > 0.01 {
				t.Errorf("level is off by %.4f dB", d)
			}
			if db(rest) > -80 {
				t.Errorf("everything else is at %.1f dBFS", db(rest))
			}
		})
	}
}

// C2, C21: flat up to 0.9 of the smaller Nyquist frequency, nothing from it on.
func TestResponse(t *testing.T) {
	for _, rate := range rates {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			nyquist := float64(min(rate, audio.SampleRate)) / 2
			for _, f := range []float64{0.1, 0.5, 0.8, 0.9} {
				amplitude, rest := fit(convert(t, mono(rate, sine(rate, rate/4, f*nyquist, 0.5))), f*nyquist)
				if d := db(amplitude / 0.5); math.Abs(d) > 0.02 {
					t.Errorf("%.0f Hz: level is off by %.4f dB", f*nyquist, d)
				}
				if db(rest/0.5) > -80 { // for rates below 16 kHz: the images
					t.Errorf("%.0f Hz: everything else is at %.1f dB", f*nyquist, db(rest/0.5))
				}
			}
			for _, hz := range []float64{8000, 8500, 10000, 15000, 23000, 50000} {
				if 2*hz >= float64(rate) || rate < audio.SampleRate {
					break
				}
				got := convert(t, mono(rate, sine(rate, rate/4, hz, 0.5)))
				if d := db(rms(got[600:len(got)-600]) * math.Sqrt2 / 0.5); d > -80 {
					t.Errorf("%.0f Hz comes back at %.1f dB", hz, d)
				}
			}
		})
	}
}

// TestNoDelay compares with the sine as it would have been sampled at 16 kHz, over
// long enough a time to see drift.
func TestNoDelay(t *testing.T) {
	for _, rate := range []int{8000, 11025, 44100, 44101, 48000} {
		got := convert(t, mono(rate, sine(rate, 4*rate, 440, 0.5)))
		want := sine(audio.SampleRate, len(got), 440, 0.5)
		for i := 600; i < len(got)-600; i++ {
			if d := math.Abs(float64(got[i] - want[i])); d > 1e-4 {
				t.Fatalf("%d Hz: sample %d is %g, want %g", rate, i, got[i], want[i])
			}
		}
	}
}

func TestLength(t *testing.T) {
	for _, rate := range rates {
		for _, n := range []int{0, 1, 2, 3, 10, 441, 1000, 1023, 1024, 1025, 5000} {
			got := len(convert(t, mono(rate, make([]float32, n))))
			want := int(math.Ceil(float64(n) * audio.SampleRate / float64(rate)))
			if got != want || Length(int64(n), rate) != int64(want) {
				t.Errorf("%d frames at %d Hz: got %d samples, Length says %d, want %d", n, rate, got, Length(int64(n), rate), want)
			}
		}
	}
}

func TestPassThrough(t *testing.T) {
	want := sine(audio.SampleRate, 1000, 7900, 1)
	if got := convert(t, mono(audio.SampleRate, want)); !slices.Equal(got, want) {
		t.Error("16 kHz mono was changed")
	}
}

// TestBlocks: the result does not depend on how the input arrives or is asked for.
func TestBlocks(t *testing.T) {
	for _, rate := range []int{8000, 44100, 44101, 192000} {
		samples := sine(rate, rate/4, 300, 0.5)
		want := convert(t, mono(rate, samples))
		src := mono(rate, samples)
		src.most = 7
		out, err := To16k(src)
		if err != nil {
			t.Fatal(err)
		}
		var got []float32
		for buf := make([]float32, 3); ; {
			n, err := out.Read(buf)
			got = append(got, buf[:n]...)
			if errors.Is(err, io.EOF) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d Hz: other samples in small blocks", rate)
		}
	}
}

// TestGroups compares samples that are computed in groups with the same ones by
// themselves.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rate := range []int{4000, 8000, 11025, 22050, 44100, 48000, 192000} {
		noise := make([]float32, rate/3+r.IntN(rate/3))
		for i := range noise {
			noise[i] = r.Float32() - 0.5
		}
		plain := newConverter(mono(rate, noise))
		if plain.polyphase == nil {
			t.Errorf("%d Hz: samples are computed one by one", rate)
		}
		plain.polyphase = nil
		want, err := audio.ReadAll(plain)
		if err != nil {
			t.Fatal(err)
		}
		got := convert(t, mono(rate, noise))
		if len(got) != len(want) {
			t.Fatalf("%d Hz: %d samples, want %d", rate, len(got), len(want))
		}
		for i, v := range got {
			if d := math.Abs(float64(v - want[i])); d > 1e-6 {
				t.Fatalf("%d Hz: sample %d is %g, want %g", rate, i, v, want[i])
			}
		}
	}
}

func TestRateLimits(t *testing.T) {
	for _, rate := range []int{-1, 0, 3999, 192001} {
		if _, err := To16k(mono(rate, nil)); err == nil {
			t.Errorf("%d Hz was accepted", rate)
		}
	}
}

// TestMemory: a stream does not grow the converter.
func TestMemory(t *testing.T) {
	for _, rate := range []int{44100, 191999} {
		out, err := To16k(&endless{audio.Format{Rate: rate, Channels: 2}})
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]float32, 4096)
		read := func(blocks int) uint64 {
			for range blocks {
				if _, err := out.Read(buf); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		early := read(10)
		if late := read(200); late > early+1<<17 {
			t.Errorf("%d Hz: heap grew from %d to %d bytes", rate, early, late)
		}
	}
}

type endless struct{ format audio.Format }

func (e *endless) Format() audio.Format            { return e.format }
func (e *endless) Read(dst []float32) (int, error) { return len(dst), nil }

// BenchmarkTo16k reports how many times faster than real time a stream is converted.
func BenchmarkTo16k(b *testing.B) {
	for _, f := range []audio.Format{{Rate: 8000, Channels: 1}, {Rate: 22050, Channels: 1}, {Rate: 44100, Channels: 2}, {Rate: 44101, Channels: 2}, {Rate: 48000, Channels: 2}, {Rate: 192000, Channels: 2}} {
		b.Run(fmt.Sprintf("%dHz-%dch", f.Rate, f.Channels), func(b *testing.B) {
			out, err := To16k(&endless{f})
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]float32, 1600)
			total := 0
			for b.Loop() {
				n, err := out.Read(buf)
				if err != nil {
					b.Fatal(err)
				}
				total += n
			}
			b.ReportMetric(float64(total)/audio.SampleRate/b.Elapsed().Seconds(), "x-real-time")
		})
	}
}
