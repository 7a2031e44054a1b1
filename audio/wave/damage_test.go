package wave

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// zeroed returns file with n zero bytes from at on.
func zeroed(file []byte, at, n int) []byte {
	b := bytes.Clone(file)
	clear(b[at : at+n])
	return b
}

// without returns file without n bytes from at on.
func without(file []byte, at, n int) []byte {
	return slices.Concat(file[:at], file[at+n:])
}

// equalRun is how many samples at the start of a and b are the same.
func equalRun(a, b []float32) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// invented counts samples of got that are neither right nor silence.
func invented(got, want []float32) (n int) {
	for i, s := range got {
		if s != want[i] && s != 0 {
			n++
		}
	}
	return n
}

func reversed(s []float32) []float32 {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// TestFLACDamage: exactly the damaged frames are lost, and all others are in their
// place. Frames have 1024 samples.
func TestFLACDamage(t *testing.T) {
	file := flacFile(t, 16000, 1, 16, sound(20*1024, 16))
	want := decode(t, file).samples
	var frames []int // where they start
	for i := range file {
		if frameSync(file[i:]) && bytes.Equal(file[i+2:i+4], file[44:46]) && int(file[i+4]) == len(frames) {
			frames = append(frames, i)
		}
	}
	if len(frames) != 20 {
		t.Fatalf("found %d frames", len(frames))
	}
	at := frames[10]
	for _, tc := range []struct {
		name   string
		file   []byte
		before int // sound frames before the damage
		after  int // and behind it
	}{
		{"a flipped bit in the samples", flip(file, at+700, 4), 10, 9},
		{"a flipped bit in the header", flip(file, at+5, 1), 10, 9},
		{"the first frame", flip(file, frames[0]+700, 0), 0, 19},
		{"zeros", zeroed(file, at+100, frames[12]-at), 10, 7},
		{"missing bytes", without(file, at+100, frames[12]-at-100), 10, 8},
		{"bytes too many", slices.Concat(file[:at], make([]byte, 9999), file[at:]), 10, 10},
		{"a tag behind the end", slices.Concat(file, []byte("TAG"), make([]byte, 125)), 20, 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := decode(t, tc.file)
			if got.frames() != len(want) {
				t.Fatalf("got %d frames, want %d; %q", got.frames(), len(want), got.warnings)
			}
			if n := equalRun(got.samples, want); n < tc.before*1024 {
				t.Errorf("the first %d samples are right, want %d", n, tc.before*1024)
			}
			if n := equalRun(reversed(got.samples), reversed(want)); n < tc.after*1024 {
				t.Errorf("the last %d samples are right, want %d", n, tc.after*1024)
			}
			if n := invented(got.samples, want); n > 0 {
				t.Errorf("%d samples are neither right nor silent", n)
			}
			if n := len(got.warnings); n != 1 && tc.before != 20 {
				t.Errorf("warnings %q", got.warnings)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		got := decode(t, file[:at+700])
		if !slices.Equal(got.samples, want[:10*1024]) || len(got.warnings) != 1 {
			t.Errorf("got %d frames, warnings %q", got.frames(), got.warnings)
		}
	})
}

func flip(file []byte, at, bit int) []byte {
	b := bytes.Clone(file)
	b[at] ^= 1 << bit
	return b
}

// TestMP3Damage: the frames around the damage are in their place, within a frame.
func TestMP3Damage(t *testing.T) {
	file := load(t, "jfk", "jfk.mp3")
	want := decode(t, file)
	for _, tc := range []struct {
		name string
		file []byte
		off  int // frames of 576 samples that the length may be off
	}{
		{"zeros", zeroed(file, 40000, 2500), 5},
		{"noise", noisy(file, 40000, 2500), 8},
		{"ID3 tag in the middle", slices.Concat(file[:343], []byte("ID3\x04\x00\x00\x00\x01\x00\x00"), make([]byte, 1<<14), file[343:]), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := decode(t, tc.file)
			if d := got.frames() - want.frames(); d < -(tc.off+1)*576 || d > (tc.off+3)*576 {
				t.Errorf("got %d frames, want %d; warnings %q", got.frames(), want.frames(), got.warnings)
			}
			if tc.off > 0 && len(got.warnings) == 0 {
				t.Error("no warning")
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		got := decode(t, file[:40000])
		if n := equalRun(got.samples, want.samples); n != got.frames() || n < 80000 || len(got.warnings) != 1 {
			t.Errorf("%d of %d frames are right; warnings %q", n, got.frames(), got.warnings)
		}
	})
	t.Run("without its start", func(t *testing.T) {
		// What follows is exact as soon as the bit reservoir has filled up, and silent
		// before: no frame is decoded from bits that are not its own.
		got := decode(t, file[40000:])
		var peak, wrong float32
		for _, s := range want.samples {
			peak = max(peak, s, -s)
		}
		for _, s := range got.samples[:8*576] {
			wrong = max(wrong, s, -s)
		}
		if wrong > peak || len(got.warnings) > 0 {
			t.Errorf("the start peaks at %g, the sound at %g; warnings %q", wrong, peak, got.warnings)
		}
		tail := reversed(got.samples)[832-529:] // the padding that the tag would have told
		if n := equalRun(tail, reversed(want.samples)); n < 60000 {
			t.Errorf("the last %d samples are right, of %d", n, got.frames())
		}
	})
}

// TestMP3Joined: the length that the first frame declares is that of its own file. One
// that another follows, and one that declares too little, are read to their ends.
func TestMP3Joined(t *testing.T) {
	file := load(t, "jfk", "jfk.mp3")
	want := decode(t, file).samples
	got := decode(t, slices.Concat(file, file))
	if n, m := equalRun(got.samples, want), equalRun(reversed(got.samples), reversed(want)); got.frames() != 2*len(want) ||
		n != len(want) || m < len(want)-20*576 || len(got.warnings) > 0 {
		t.Errorf("joined: %d frames, the first %d and the last %d are right, of %d; warnings %q", got.frames(), n, m, len(want), got.warnings)
	}
	short := bytes.Clone(file)
	at := bytes.Index(short, []byte("Xing")) + 8
	binary.BigEndian.PutUint32(short[at:], 100)
	got = decode(t, short)
	if n := equalRun(got.samples, want); n < 99*576-2000 || got.frames() < len(want)-2*1152 || len(got.warnings) != 1 {
		t.Errorf("100 frames declared: %d frames, the first %d are right; warnings %q", got.frames(), n, got.warnings)
	}
}

func noisy(file []byte, at, n int) []byte {
	b := bytes.Clone(file)
	r := rand.New(rand.NewPCG(5, 5))
	for i := range n {
		b[at+i] = byte(r.Uint32())
	}
	return b
}

// TestOggDamage: a lost page is a hole of its exact length.
func TestOggDamage(t *testing.T) {
	file := load(t, "nonspeech", "music_trumpet.ogg")
	want := decode(t, file)
	var pages []int // where they start
	for at := 0; at < len(file); {
		_, size, ok := parseOgg(file[at:])
		if !ok {
			t.Fatal("the recording is damaged")
		}
		pages = append(pages, at)
		at += size
	}
	start, end := pages[4], pages[5]
	for name, damaged := range map[string][]byte{
		"a page is missing": without(file, start, end-start),
		"a flipped bit":     flip(file, start+1000, 3),
		"zeros":             zeroed(file, start+50, 500),
		"half a page":       without(file, start+1000, 2000),
	} {
		got := decode(t, damaged)
		if got.frames() != want.frames() || len(got.warnings) != 1 {
			t.Errorf("%s: got %d frames, want %d; warnings %q", name, got.frames(), want.frames(), got.warnings)
			continue
		}
		if n := equalRun(got.samples, want.samples); n < 35456 {
			t.Errorf("%s: the first %d samples are right, want 35456", name, n)
		}
		if n := equalRun(reversed(got.samples), reversed(want.samples)); n < 117601-54400-1024 {
			t.Errorf("%s: the last %d samples are right", name, n)
		}
		if n := invented(got.samples, want.samples); n > 0 {
			t.Errorf("%s: %d samples are neither right nor silent", name, n)
		}
	}
	cut := decode(t, file[:end-10])
	if n := equalRun(cut.samples, want.samples); n != cut.frames() || n < 35000 || len(cut.warnings) != 1 {
		t.Errorf("cut: %d of %d frames are right; warnings %q", n, cut.frames(), cut.warnings)
	}
	chained := decode(t, slices.Concat(file, file))
	if !slices.Equal(chained.samples, want.samples) || len(chained.warnings) != 1 {
		t.Errorf("chained: %d frames, warnings %q", chained.frames(), chained.warnings)
	}
}

// C63: two pages of Opus, exactly 2 s, are missing. The hole is marked and filled, so
// the time of all behind it is right.
func TestOpusDamage(t *testing.T) {
	if !haveOpus(opusFile(1, 10)) {
		t.Skip("libopusfile is not here")
	}
	file := load(t, "commonvoice-mls-aishell", "mls_es_13697_11991_000000.opus")
	want := decode(t, file)
	got := decode(t, without(file, 17960, 26574-17960))
	if got.frames() != want.frames() || len(got.warnings) != 1 || !strings.Contains(got.warnings[0], "silence") {
		t.Errorf("got %d frames, want %d; warnings %q", got.frames(), want.frames(), got.warnings)
	}
	if n := equalRun(got.samples, want.samples); n < 191000 {
		t.Errorf("the first %d samples are right", n)
	}
	// Behind the hole the decoder converges; it need not be exact.
	if d := db(sub(got.samples[400000:], want.samples[400000:])) - db(want.samples[400000:]); d > -40 {
		t.Errorf("behind the hole it differs by %.1f dB", d)
	}
	cut := decode(t, file[:30000])
	if n := equalRun(cut.samples, want.samples); n != cut.frames() || len(cut.warnings) != 1 {
		t.Errorf("cut: %d of %d frames are right; warnings %q", n, cut.frames(), cut.warnings)
	}
}

func sub(a, b []float32) []float32 {
	d := slices.Clone(a)
	for i := range d {
		d[i] -= b[i]
	}
	return d
}

// summed makes the checksums of Ogg pages right, so that the packets in them are
// decoded, whatever they hold.
func summed(file []byte) []byte {
	resum(file)
	return file
}

// TestDamageCorpus: whatever happens to a file, there is an error that explains it, or
// there are samples; in bounded time, and not many more of them than there should be.
func TestDamageCorpus(t *testing.T) {
	files := containers(t, 6000)
	for name, path := range map[string][2]string{
		"recorded MP3":    {"jfk", "jfk.mp3"},
		"recorded FLAC":   {"speech-to-phrase-tts", "fi_4.flac"},
		"recorded Vorbis": {"nonspeech", "bird_robin.ogg"},
		"recorded Opus":   {"commonvoice-mls-aishell", "mls_es_13697_11991_000000.opus"},
	} {
		b := load(t, path[0], path[1])
		files[name] = b[:min(len(b), 15000)]
	}
	r := rand.New(rand.NewPCG(7, 7))
	for name, file := range files {
		start := time.Now()
		whole, err := tryDecode(file)
		if err != nil {
			continue // Opus without libopusfile
		}
		const rounds = 5
		for range rounds {
			at := r.IntN(len(file))
			n := min(len(file)-at, 1+r.IntN(3000))
			for how, damaged := range map[string][]byte{
				"cut":     file[:at],
				"flipped": flip(file, at, r.IntN(8)),
				"zeroed":  zeroed(file, at, n),
				"noise":   noisy(file, at, n),
				"missing": without(file, at, n),
				"summed":  summed(flip(file, at, r.IntN(8))),
			} {
				got, err := tryDecode(damaged)
				if err != nil && !isAbout(err) {
					t.Errorf("%s, %s at %d: %v", name, how, at, err)
				}
				if err == nil && len(got.samples) > 2*len(whole.samples)+maxHoleSeconds*got.info.Rate*got.info.Channels {
					t.Errorf("%s, %s at %d: %d samples of %d", name, how, at, len(got.samples), len(whole.samples))
				}
			}
		}
		if d := time.Since(start); d > 60*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}
