package audio

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// clip is a Source over samples in memory that hands out odd numbers of frames.
type clip struct {
	format  Format
	samples []float32
}

func (c *clip) Format() Format { return c.format }

func (c *clip) Read(dst []float32) (int, error) {
	if len(c.samples) == 0 {
		return 0, io.EOF
	}
	n := copy(dst[:min(len(dst), 777*c.format.Channels)], c.samples)
	c.samples = c.samples[n:]
	return n, nil
}

const rate = 16000

// speech is noise whose level comes and goes four times a second, peak 0.5.
func speech(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	s := make([]float32, n)
	for i := range s {
		s[i] = float32((r.Float64() - 0.5) * math.Abs(math.Sin(4*math.Pi*float64(i)/rate)))
	}
	return s
}

// noise is white, at level dB RMS.
func noise(seed uint64, n int, db float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.NormFloat64() * math.Pow(10, db/20))
	}
	return s
}

func scaled(s []float32, by float32) []float32 {
	out := slices.Clone(s)
	for i := range out {
		out[i] *= by
	}
	return out
}

func magnitude(s []float32) []float32 {
	out := slices.Clone(s)
	for i, v := range out {
		out[i] = max(v, -v)
	}
	return out
}

func sum(a, b []float32) []float32 {
	out := slices.Clone(a)
	for i := range out {
		out[i] += b[i]
	}
	return out
}

// channels interleaves.
func channels(ch ...[]float32) *clip {
	s := make([]float32, 0, len(ch)*len(ch[0]))
	for k := range ch[0] {
		for _, c := range ch {
			s = append(s, c[k])
		}
	}
	return &clip{Format{rate, len(ch)}, s}
}

func mix(t *testing.T, src Source) []float32 {
	t.Helper()
	m, err := Mono(src, Mix)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ReadAll(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func level(s []float32) float64 {
	sum := 0.0
	for _, v := range s {
		sum += float64(v) * float64(v)
	}
	return 10 * math.Log10(sum/float64(len(s)))
}

func farthest(t *testing.T, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d samples, want %d", len(got), len(want))
	}
	far := 0.0
	for i := range got {
		far = max(far, math.Abs(float64(got[i]-want[i])))
	}
	return far
}

// C17, C18: what the mix of each kind of recording must be.
func TestMix(t *testing.T) {
	const n = 2 * rate
	s, quiet, other := speech(1, n), make([]float32, n), speech(2, n)
	hiss := noise(3, n, -50)
	for _, tc := range []struct {
		name string
		src  *clip
		want []float32
		off  float64
	}{
		{"speech on the left only", channels(s, quiet), s, 0},
		{"speech in channel 3 of 6", channels(quiet, quiet, s, quiet, quiet, quiet), s, 0},
		{"equal", channels(s, s), s, 0},
		{"two speakers", channels(s, other), sum(scaled(s, 0.5), scaled(other, 0.5)), 1e-6},
		{"opposite phase", channels(s, scaled(s, -1)), s, 0},
		{"opposite phase, louder on the right", channels(scaled(s, -0.5), s), s, 0},
		{"opposite phase and a third speaker", channels(s, scaled(s, -1), other), sum(scaled(s, 0.5), scaled(other, 0.5)), 1e-6},
		{"all silent", channels(quiet, quiet), quiet, 0},
		{"hiss 40 dB below", channels(s, scaled(hiss, 0.3)), s, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if off := farthest(t, mix(t, tc.src), tc.want); off > tc.off {
				t.Errorf("off by %g, accepted is %g", off, tc.off)
			}
		})
	}
	t.Run("opposite phase with noise on one side", func(t *testing.T) {
		for _, src := range []*clip{channels(s, sum(scaled(s, -1), hiss)), channels(sum(s, hiss), scaled(s, -1))} {
			got := mix(t, src)
			if d := level(got) - level(s); math.Abs(d) > 0.1 {
				t.Errorf("the level is off by %.2f dB", d)
			}
			// In the second half it has long come to the side without the noise.
			if d := level(sum(magnitude(got), scaled(magnitude(s), -1))[n/2:]); d > -80 {
				t.Errorf("the noise is at %.1f dBFS", d)
			}
		}
	})
}

// C17: full scale in all channels does not clip.
func TestMixHeadroom(t *testing.T) {
	full := make([]float32, rate)
	for i := range full {
		full[i] = float32(1 - 2*(i/40%2))
	}
	for n := 2; n <= 32; n++ {
		all := slices.Repeat([][]float32{full}, n)
		for i, s := range mix(t, channels(all...)) {
			if s > 1 || s < -1 {
				t.Fatalf("%d channels: sample %d is %g", n, i, s)
			}
		}
	}
}

// TestMixChanges: a speaker who starts late is there from the first sample on, and the
// change of the gains makes no click.
func TestMixChanges(t *testing.T) {
	const n = 4 * rate
	tone := make([]float32, n)
	for i := range tone {
		tone[i] = float32(0.5 * math.Sin(2*math.Pi*200*float64(i)/rate))
	}
	late := slices.Clone(tone)
	clear(late[:n/2])
	got := mix(t, channels(tone, late))
	steepest := 0.5 * 2 * math.Pi * 200 / rate
	for i := 1; i < n; i++ {
		if d := math.Abs(float64(got[i] - got[i-1])); d > 1.05*steepest {
			t.Fatalf("sample %d jumps by %g, the tone by %g at most", i, d, steepest)
		}
	}
	other := speech(5, n)
	clear(other[:n/2])
	got = mix(t, channels(speech(4, n), other))
	if d := level(got[n/2+rate/2:]) - level(speech(4, n)[n/2+rate/2:]); math.Abs(d+3) > 0.5 {
		t.Errorf("two equally loud speakers mix to %.1f dB against one, want -3", d)
	}
}

func TestPick(t *testing.T) {
	a, b := speech(1, rate), speech(2, rate)
	for ch, want := range map[Channel][]float32{1: a, 2: b} {
		src, err := Mono(channels(a, b), ch)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadAll(src)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("channel %d: other samples, error %v", ch, err)
		}
	}
	for _, ch := range []Channel{Each, 3} {
		if _, err := Mono(channels(a, b), ch); err == nil {
			t.Errorf("channel %d of 2 was found", ch)
		}
	}
}

func TestParseChannel(t *testing.T) {
	for in, want := range map[string]Channel{"mix": Mix, "each": Each, "1": 1, "12": 12} {
		if got, err := ParseChannel(in); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "-1", "left", "1.5"} {
		if got, err := ParseChannel(in); err == nil {
			t.Errorf("%q: got %d, want an error", in, got)
		}
	}
}

// C19: which channels are one speaker line.
func TestSameChannels(t *testing.T) {
	const n = 2 * rate
	s, other, quiet := speech(1, n), speech(2, n), make([]float32, n)
	late := func(s []float32, by int) []float32 { return append(make([]float32, by), s[:n-by]...) }
	for _, tc := range []struct {
		name string
		src  *clip
		want []int
	}{
		{"equal", channels(s, s), []int{0, 0}},
		{"half as loud, one frame later", channels(s, scaled(late(s, 1), 0.5)), []int{0, 0}},
		{"earlier", channels(late(s, 9), s), []int{0, 0}},
		{"opposite phase", channels(s, scaled(s, -1)), []int{0, 0}},
		{"with noise", channels(s, sum(s, noise(3, n, -45))), []int{0, 0}},
		{"two speakers", channels(s, other), []int{0, 1}},
		{"two speakers who hear each other", channels(sum(s, scaled(other, 0.3)), sum(other, scaled(s, 0.3))), []int{0, 1}},
		{"silent", channels(s, quiet, quiet), []int{0, 1, 2}},
		{"two pairs", channels(s, other, late(other, 3), s), []int{0, 1, 1, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := SameChannels(tc.src)
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

// LiveMono decides without a look at what comes: it must give what Mono gives wherever
// the channels stay what they are, and be no later than a block.
func TestLiveMono(t *testing.T) {
	const n = 2 * rate
	s, quiet := speech(1, n), make([]float32, n)
	for _, tc := range []struct {
		name string
		src  *clip
		want []float32
	}{
		{"one channel", channels(s), s},
		{"equal", channels(s, s), s},
		{"C17 speech in channel 3 of 6", channels(quiet, quiet, s, quiet, quiet, quiet), s},
		{"C18 opposite phase", channels(s, scaled(s, -1)), s},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src, err := LiveMono(tc.src, Mix)
			if err != nil {
				t.Fatal(err)
			}
			out, err := ReadAll(src)
			if err != nil {
				t.Fatal(err)
			}
			if off := farthest(t, out, tc.want); off > 0 {
				t.Errorf("off by %g", off)
			}
		})
	}
	t.Run("delay", func(t *testing.T) {
		src := channels(s, s)
		mixed, err := LiveMono(src, Mix)
		if err == nil {
			_, err = mixed.Read(make([]float32, 1))
		}
		if err != nil {
			t.Fatal(err)
		}
		if took := 2*n - len(src.samples); took > 2*777 {
			t.Errorf("%d samples were read for the first", took)
		}
	})
}
