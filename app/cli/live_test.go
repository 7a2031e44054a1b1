package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/app/export"
	"earshot/audio"
	"earshot/whisper/backendtest"
)

// These are the rows of shared/cases.md about silence, short words and times, as the
// service hears them from a microphone: with its gain and its filter.

// hearLive is what earshot serve writes down of samples that come as fast as it reads.
func hearLive(t *testing.T, x []float32) export.Transcript {
	t.Helper()
	path := waveFile(t, filepath.Join(t.TempDir(), "live.wav"), audio.SampleRate, x)
	address, _, end := startService(t, "--source", "file:"+path+"?speed=max&gain=on&filter=on")
	return whatWasHeard(t, address, end)
}

// whatWasHeard waits for the end of the source.
func whatWasHeard(t *testing.T, address string, end func() int) export.Transcript {
	t.Helper()
	eventually(t, "all is written down", func() bool {
		s, err := statusOf(address)
		return err == nil && s.Source.State == "ended" && s.Lag == 0 && s.Pending == 0 && !s.Speaking
	})
	if status := end(); status != exitOK {
		t.Fatalf("exit status %d", status)
	}
	_, out, _ := run(t, nil, "recordings", "--json")
	var listed struct{ Recordings []struct{ ID int } }
	if err := json.Unmarshal([]byte(out), &listed); err != nil || len(listed.Recordings) > 1 {
		t.Fatalf("%s: %v", out, err)
	}
	if len(listed.Recordings) == 0 {
		return export.Transcript{}
	}
	_, out, _ = run(t, nil, "export", "1", "--format", "json", "--word-timestamps")
	got, err := export.Read(strings.NewReader(out), export.JSON)
	if err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return got
}

// TestLiveNothingSaid is cases C25, C27, C28 and C32: no text where nobody speaks, and
// the speech behind it whole and in its place; then C26: nothing in the silence behind it.
func TestLiveNothingSaid(t *testing.T) {
	needModels(t, "tiny.en")
	silence := join(zeros(30), noise(30, -60, 2), repeatTo(load(t, "vad-aeneas/n.wav"), 30), load(t, "picovoice-leopard/empty.wav"))
	for _, file := range []string{"stp_background_noise.wav", "music_trumpet.ogg", "bird_robin.ogg", "music_strings_brahms.ogg"} {
		silence = join(silence, load(t, "nonspeech/"+file), zeros(2))
	}
	for i := range 166 {
		silence = join(silence, noise(0.005, -12, uint64(i)), zeros(0.175))
	}
	got := hearLive(t, join(silence, zeros(1), load(t, "jfk/jfk.wav"), zeros(5), noise(5, -60, 1)))
	near(t, "speech", got.Text(), jfkText, 2) // each utterance is decoded by itself: "so am I fellow" for "so my fellow"
	at := float64(len(silence))/audio.SampleRate + 1
	if n := len(got.Segments); n == 0 || got.Segments[0].Start < at || lastEnd(got.Segments) > at+11.2 {
		t.Errorf("%d segments from %.2f to %.2f, the speech begins at %.2f", n, got.Segments[0].Start, lastEnd(got.Segments), at)
	}
}

// TestLiveShortWords is case C22: each clip of one spoken digit is an utterance with text,
// but for one: 4_theo_5 comes to a probability of speech of 0.49 where 0.5 is wanted.
// The short run has the quietest speaker.
func TestLiveShortWords(t *testing.T) {
	needModels(t, "tiny.en")
	pattern := "/*_theo_*.wav"
	if long() {
		pattern = "/*.wav"
	}
	files, err := filepath.Glob(backendtest.Shared(t, "audio/fsdd-8khz") + pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	x := zeros(1)
	var places [][2]float64
	for _, file := range files {
		word := load(t, "fsdd-8khz/"+filepath.Base(file))
		at := float64(len(x)) / audio.SampleRate
		places = append(places, [2]float64{at, at + float64(len(word))/audio.SampleRate})
		x = join(x, word, zeros(1.5))
	}
	got := hearLive(t, x)
	var silent []string
	for i, p := range places {
		if !slices.ContainsFunc(got.Segments, func(s export.Segment) bool { return s.Start < p[1]+0.3 && s.End > p[0]-0.3 }) {
			silent = append(silent, filepath.Base(files[i]))
		}
	}
	if len(silent) > 1 {
		t.Errorf("no text for %v", silent)
	}
}

// TestLiveEdges is cases C70 and C33: speech that begins gently keeps its first word, and
// speech that is cut right behind its last sound its last one.
func TestLiveEdges(t *testing.T) {
	needModels(t, "tiny.en")
	gentle := slices.Clone(load(t, "librispeech-test-other/2033-164914-0001.flac")[7520:])
	for i := range 2400 {
		gentle[i] *= float32(i) / 2400
	}
	got := strings.ToLower(hearLive(t, join(zeros(1), gentle)).Text())
	if !strings.HasPrefix(strings.NewReplacer(",", "", ".", "").Replace(got), "but she said") {
		t.Errorf("it begins %.40q", got)
	}
	for _, c := range []struct {
		clip   string
		length int
		last   string
	}{
		{"1688-142285-0003", 80_320, "said"}, {"2033-164914-0001", 99_200, "reciter"},
		{"3080-5032-0000", 63_040, "lady"}, {"367-130732-0001", 60_640, "crayfish"},
	} {
		x := load(t, "librispeech-test-other/"+c.clip+".flac")[:c.length]
		if got := strings.ToLower(strings.Trim(hearLive(t, x).Text(), ".!? ")); !strings.HasSuffix(got, c.last) {
			t.Errorf("%s: it ends with %q, want %s", c.clip, got, c.last)
		}
	}
}

// TestLiveInPieces is case C49: times go on, and do not depend on how the bytes come.
func TestLiveInPieces(t *testing.T) {
	needModels(t, "tiny.en")
	x := slices.Repeat(load(t, "jfk/jfk.wav"), 6)[:1_040_000]
	file, err := os.ReadFile(waveFile(t, filepath.Join(t.TempDir(), "six.wav"), audio.SampleRate, x))
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{511}
	if long() {
		sizes = append(sizes, 1_600, 160_000)
	}
	for _, samples := range sizes {
		address, _, end := startServiceOn(t, &trickle{file[len(file)-2*len(x):], 2 * samples}, "--source", "stdin")
		got := whatWasHeard(t, address, end)
		var fellows []float64
		before := 0.0
		for _, s := range got.Segments {
			if s.Start < before {
				t.Errorf("pieces of %d: %q starts at %.2f, behind %.2f", samples, s.Text, s.Start, before)
			}
			before = s.Start
			for _, w := range s.Words {
				if strings.Trim(w.Text, " ,") == "fellow" {
					fellows = append(fellows, w.Start)
				}
			}
		}
		for i := 1; i < len(fellows); i++ {
			if d := fellows[i] - fellows[i-1]; math.Abs(d-11) > 0.3 {
				t.Errorf("pieces of %d: \"fellow\" %d comes %.2f s behind the one before", samples, i, d)
			}
		}
		if len(fellows) != 6 {
			t.Errorf("pieces of %d: %d times \"fellow\" in %q", samples, len(fellows), got.Text())
		}
	}
}
