package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"earshot/app/export"
	"earshot/whisper/backendtest"
	"earshot/whisper/oncpu"
)

// say is a script that says the same in every window.
func say(s said) func([]float32, string) said {
	return func([]float32, string) said { return s }
}

// TestWindowsLeaveNoHole is case C44 for every length: what the windows hold, one behind
// the other, is the recording.
func TestWindowsLeaveNoHole(t *testing.T) {
	all := noise(66, -20, 44)
	for _, sequential := range []bool{false, true} {
		for seconds := 25.0; seconds <= 65; seconds += 0.5 {
			if (sequential || testing.Short()) && math.Mod(seconds, 2.5) > 0 {
				continue
			}
			want := all[:int(seconds*16000)]
			r := newRig(t, nil, transcribeFlags{engineFlags: engineFlags{language: "en"}, noVAD: true, sequential: sequential})
			r.stub.script = func(window []float32, _ string) said {
				until := min(28.5, float64(len(window))/16000)
				return said{text: talk(until), until: until}
			}
			at := 0 // up to here the windows hold the recording
			r.stub.heard = func(window []float32) {
				from := find(want, window[:8])
				if end := from + len(window); from < 0 || from > at || end <= at || !slices.Equal(window, want[from:end]) {
					t.Fatalf("%g s, sequential %v: a window of %d samples from %d on, behind %d", seconds, sequential, len(window), from, at)
				}
				at = from + len(window)
			}
			r.hearSamples(t, "noise", want)
			if at != len(want) {
				t.Errorf("%g s, sequential %v: the windows end at %d of %d samples", seconds, sequential, at, len(want))
			}
		}
	}
}

// talk is text for so many seconds: two words in each, all different.
func talk(seconds float64) string {
	var text strings.Builder
	for i := range int(2 * seconds) {
		fmt.Fprintf(&text, " %d", 10+i)
	}
	return text.String()
}

// TestTextThatEndsEarly is case C41: a decoder that says nothing about the last 8 s.
func TestTextThatEndsEarly(t *testing.T) {
	const end = 21.56
	path := backendtest.Shared(t, "audio/librispeech-misc/1272-128104-0004-8k.wav")
	early := said{text: talk(end), until: end, logProb: -0.2}
	for name, rest := range map[string]said{
		"the rest is heard": {text: " and the rest", until: 7.3, logProb: -0.2},
		"nothing is heard":  {},
	} {
		r := newRig(t, nil, transcribeFlags{noVAD: true, outputFlags: outputFlags{formats: []string{"json"}}})
		var second float64 // where the second decode begins
		r.stub.script = func(window []float32, _ string) said {
			if r.stub.count == 1 {
				return early
			}
			second = 29.4 - float64(len(window))/16000
			return rest
		}
		if err := r.run(context.Background(), []string{path}); err != nil {
			t.Fatal(err)
		}
		if math.Abs(second-end) > 0.3 {
			t.Errorf("%s: the second decode begins at %.2f s, want %.2f", name, second, end)
		}
		got := r.read(t, export.JSON)
		if lost := rest.text == ""; lost != (len(got.Warnings) == 1) || lost != (*got.Coverage < 1) {
			t.Errorf("%s: coverage %g, warnings %v", name, *got.Coverage, got.Warnings)
		}
		if rest.text == "" {
			w := got.Warnings[0]
			if math.Abs(w.Start-end) > 0.5 || math.Abs(w.End-28.92) > 0.5 || *got.Coverage < 0.5 || *got.Coverage > 0.9 {
				t.Errorf("%s: coverage %g, warning %+v", name, *got.Coverage, w)
			}
		}
		if !strings.HasSuffix(got.Text(), cmp.Or(rest.text, " 52")) {
			t.Errorf("%s: %q", name, got.Text())
		}
	}
}

// TestLoopIsTold is case C37: where the decoder looped, the listener hears of it.
func TestLoopIsTold(t *testing.T) {
	const loop = 2
	r := newRig(t, nil, transcribeFlags{noVAD: true, outputFlags: outputFlags{formats: []string{"json"}}})
	var all []float32
	for k := range 4 {
		part := noise(25, -20, uint64(k))
		clear(part[len(part)-320:]) // it is cut here
		all = append(all, part...)
	}
	r.stub.script = func(window []float32, prompt string) said {
		k := find(all, window[1000:1008]) / (25 * 16000)
		switch {
		case strings.Contains(prompt, "and and"):
			return said{}
		case k == loop:
			return said{text: strings.Repeat(" and", 50), until: 24, logProb: -0.001}
		}
		until := float64(len(window)) / 16000
		return said{text: fmt.Sprint(" line", k, talk(until)), until: until, logProb: -0.2}
	}
	h := r.hearSamples(t, "noise", all)
	for k := range 4 {
		if has := strings.Contains(h.text(), fmt.Sprintf("line%d", k)); has != (k != loop) {
			t.Errorf("line%d in the text: %v", k, has)
		}
	}
	if strings.Contains(h.text(), "and and") || len(h.warnings) != 1 || math.Abs(h.warnings[0].Start-25*loop) > 2 {
		t.Errorf("warnings %v, text %q", h.warnings, h.text())
	}
}

// find is where x has part.
func find(x, part []float32) int {
	for i := range len(x) - len(part) + 1 {
		if slices.Equal(x[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// TestCapLosesNothing is case C40 with a real model: segments of 32 tokens at most.
func TestCapLosesNothing(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	x := load(t, "librispeech-test-other/2609-156975-0007.flac")
	want := l.hearSamples(t, "no cap", x).text()
	for _, words := range []bool{false, true} {
		l.options.MaxTokens, l.options.Words = 32, words
		got := l.hearSamples(t, "cap 32", x).text()
		near(t, "cap 32", got, want, 0)
		if !strings.HasSuffix(strings.ToLower(strings.Trim(got, " .")), " israel's history") {
			t.Errorf("words %v: the end is %q", words, got)
		}
	}
}

// TestLastWords is case C44: clips of nearly a window, to their last words.
func TestLastWords(t *testing.T) {
	l := ear(t, "base", "auto")
	for file, want := range map[string]string{
		"azure-customspeech/ja-JP_training_audio.flac":  "検査できます",
		"azure-customspeech/fr-FR_training_audio2.flac": "données audio",
		"librispeech-misc/1272-128104-0004-8k.wav":      "next man",
	} {
		h := l.hearSamples(t, file, load(t, file))
		if got := strings.ToLower(strings.Trim(h.text(), " .,。!")); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want it to end with %q", file, h.text(), want)
		}
	}
}

// TestEdges is cases C33 and C43: speech cut right behind its last sound, and with
// its last 0.1 s muted. The last word is there, and in float32 so are all others; in
// int8, what is rounded elsewhere may change words that the model is not sure of
// ("whomsoever", "whom so ever"), and their number tells that nothing is lost.
func TestEdges(t *testing.T) {
	t.Run("float32", func(t *testing.T) {
		edges(t, earIn(t, "tiny.en", "auto", oncpu.Float32), near)
	})
	t.Run("int8", func(t *testing.T) {
		edges(t, ear(t, "tiny.en", "auto"), func(t *testing.T, what, got, want string, _ int) {
			t.Helper()
			if d := len(strings.Fields(got)) - len(strings.Fields(want)); d < -1 || d > 3 {
				t.Errorf("%s: got %q, want %q", what, got, want)
			}
		})
	})
}

func edges(t *testing.T, l *listener, near func(t *testing.T, what, got, want string, differ int)) {
	for _, c := range []struct {
		file string
		keep int
		last string
	}{
		{"1688-142285-0003", 80_320, "said"},
		{"2033-164914-0001", 99_200, "reciter"},
		{"3080-5032-0000", 63_040, "lady"},
		{"367-130732-0001", 60_640, "crayfish"},
	} {
		x := load(t, "librispeech-test-other/"+c.file+".flac")
		whole := l.hearSamples(t, c.file, x).text()
		cut := l.hearSamples(t, c.file, x[:c.keep]).text()
		if !strings.HasSuffix(strings.ToLower(strings.Trim(cut, " .!?")), c.last) {
			t.Errorf("%s cut: %q, want it to end with %q", c.file, cut, c.last)
		}
		near(t, c.file+" cut", cut, whole, 0)
		near(t, c.file+" muted", l.hearSamples(t, c.file, muted(x)).text(), whole, 1)
	}
	x := load(t, "librispeech-test-other/2609-156975-0000.flac")
	near(t, "2609-156975-0000 muted", l.hearSamples(t, "muted", muted(x)).text(), l.hearSamples(t, "whole", x).text(), 1)
}

// muted is x with zeros in its last 0.1 s.
func muted(x []float32) []float32 {
	x = slices.Clone(x)
	clear(x[len(x)-1600:])
	return x
}
