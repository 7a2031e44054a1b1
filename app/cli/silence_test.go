package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"earshot/app/export"
	"earshot/whisper"
	"earshot/whisper/backendtest"
)

// TestSilenceBehindSpeech is case C26.
func TestSilenceBehindSpeech(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	jfk := load(t, "jfk/jfk.wav")
	for _, sequential := range []bool{false, true} { // without and with timestamp tokens
		l.sequential = sequential
		for _, seconds := range []float64{1, 2, 3, 5, 10} {
			if !long() && (seconds == 2 || seconds == 5) {
				continue
			}
			for name, tail := range map[string][]float32{"zeros": zeros(seconds), "noise": noise(seconds, -60, 1)} {
				name = fmt.Sprintf("%g s of %s, sequential %v", seconds, name, sequential)
				h := l.hearSamples(t, name, join(jfk, tail))
				near(t, name, h.text(), jfkText, 0)
				if end := lastEnd(h.segments); end > 11.2 {
					t.Errorf("%s: last end %.2f", name, end)
				}
			}
		}
	}
}

func lastEnd(segments []export.Segment) float64 {
	if len(segments) == 0 {
		return 0
	}
	return segments[len(segments)-1].End
}

// TestNothingSaid is cases C25, C27, C28 and C32: no text where nobody speaks, and
// nothing of the recording before.
func TestNothingSaid(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	room := load(t, "vad-aeneas/n.wav")
	var clicks []float32
	for i := range 166 {
		clicks = append(clicks, join(noise(0.005, -12, uint64(i)), zeros(0.175))...)
	}
	repeat := func(x []float32, n int) (all []float32) {
		for range n {
			all = append(all, x...)
		}
		return all
	}
	for name, x := range map[string][]float32{
		"zeros":          zeros(30),
		"quiet noise":    noise(30, -60, 2),
		"room":           repeat(room, 20),
		"one room":       room,
		"knock":          load(t, "nonspeech/stp_background_noise.wav"),
		"machine":        repeat(load(t, "nonspeech/tflm_noise_1000ms.wav"), 10),
		"clicks":         clicks,
		"loud noise":     load(t, "picovoice-leopard/empty.wav"),
		"digital zeros":  load(t, "vad-aeneas/zero.wav"),
		"strings":        load(t, "nonspeech/music_strings_brahms.ogg"),
		"trumpet":        load(t, "nonspeech/music_trumpet.ogg"),
		"bird":           load(t, "nonspeech/bird_robin.ogg"),
		"nothing at all": nil,
	} {
		if strings.HasPrefix(name, "loud") || strings.HasPrefix(name, "digital") {
			h := l.hearSamples(t, "speech", load(t, "jfk/jfk.wav"))
			near(t, "speech before "+name, h.text(), jfkText, 0)
		}
		if h := l.hearSamples(t, name, x); len(h.segments) > 0 {
			t.Errorf("%s: %q", name, h.text())
		}
	}
}

// TestShortWords is case C22: every clip of one spoken digit gives text.
func TestShortWords(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	files, err := filepath.Glob(backendtest.Shared(t, "audio/fsdd-8khz") + "/*.wav")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	digits := strings.Fields("zero one two three four five six seven eight nine")
	right := map[string]int{}
	for _, file := range files {
		name := filepath.Base(file)
		h := l.hearSamples(t, name, load(t, "fsdd-8khz/"+name))
		if h.text() == "" {
			t.Errorf("%s: no text", name)
		}
		speaker := strings.Split(name, "_")[1]
		right[speaker] += 0
		if strings.EqualFold(strings.Trim(h.text(), " .!?,"), digits[name[0]-'0']) || strings.Trim(h.text(), " .!?,") == name[:1] {
			right[speaker]++
		}
	}
	t.Logf("digits right of 10: %v", right)
	if h := l.hearSamples(t, "first 0.6 s", load(t, "jfk/jfk.wav")[:9600]); h.text() == "" {
		t.Error("first 0.6 s of jfk: no text")
	}
}

// TestModelIsNotAsked is case C27: where there is no sound to speak of, a model that
// would say something is not asked, whatever the language.
func TestModelIsNotAsked(t *testing.T) {
	env := &Env{Stderr: io.Discard, StateDir: stateDir(t)}
	detector, err := openDetector(env)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string][]float32{
		"zeros":       zeros(30),
		"quiet noise": noise(30, -60, 27),
		"a room":      repeatTo(load(t, "vad-aeneas/n.wav"), 30),
	} {
		for _, language := range []string{"", "en", "ja", "tr"} {
			r := newRig(t, say(said{text: "Thank you.", until: 2, logProb: -0.1}), transcribeFlags{engineFlags: engineFlags{language: language}})
			if name == "a room" {
				r.detector = detector
			}
			h := r.hearSamples(t, name, x)
			if len(h.segments) > 0 || r.stub.count > 0 {
				t.Errorf("%s, language %q: %d windows were decoded: %q", name, language, r.stub.count, h.text())
			}
		}
	}
}

// TestPromptIsNotHeard is case C29: silence does not say what the prompt holds, speech
// may.
func TestPromptIsNotHeard(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	l.detector = nil
	const names = "Helstone, Merneptah, Delmonico"
	for _, options := range []whisper.Options{{Words: true, Prompt: names}, {Words: true, Hotwords: names}} {
		l.options = options
		if h := l.hearSamples(t, "zeros", zeros(2)); h.text() != "" {
			t.Errorf("prompt %q, hotwords %q: zeros say %q", options.Prompt, options.Hotwords, h.text())
		}
	}
	l = ear(t, "tiny.en", "auto")
	l.options.Prompt = "crayfish, lobster"
	text := strings.ToLower(l.hearSamples(t, "speech", load(t, "librispeech-test-other/367-130732-0001.flac")).text())
	if !strings.Contains(text, "crayfish") || !strings.Contains(text, "lobster") {
		t.Errorf("got %q", text)
	}
}

// TestQuietEnd is the second half of case C33: however long the speech, what reaches the
// encoder ends with silence.
func TestQuietEnd(t *testing.T) {
	const quiet = 4800
	const length = 29.9
	jfk := load(t, "jfk/jfk.wav")
	for name, x := range map[string][]float32{
		"speech":           join(jfk, jfk, jfk)[:length*16000],
		"a pause too late": join(noise(length, -20, 33), zeros(0.1), noise(20, -20, 34)),
	} {
		r := newRig(t, nil, transcribeFlags{noVAD: name != "speech"})
		r.stub.script = func(window []float32, _ string) said {
			until := float64(len(window)) / 16000
			return said{text: talk(until), until: until, logProb: -0.2}
		}
		longest := 0
		r.stub.heard = func(window []float32) { longest = max(longest, len(window)) }
		r.hearSamples(t, name, x)
		if longest < 18*16000 || longest > 30*16000-quiet {
			t.Errorf("%s: the longest window has %d samples, want %d at most", name, longest, 30*16000-quiet)
		}
	}
}
