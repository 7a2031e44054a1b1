package whisper_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"earshot/whisper"
	"earshot/whisper/backendtest"
)

// TestSpokenRepeats joins a recording with itself: what was said several times is
// written as often, although a short window's guard takes it for a loop.
func TestSpokenRepeats(t *testing.T) {
	r := newRig(t, "tiny.en")
	for _, c := range []struct {
		clip  string
		times int
		word  string
		want  int // how often the word is said
	}{
		{"1688-142285-0008.flac", 2, "miserable", 2},
		{"367-130732-0000.flac", 3, "lobsters", 6},
	} {
		samples, _ := readClip(t, backendtest.Shared(t, "audio/librispeech-test-other/"+c.clip))
		got, err := r.engine.Transcribe(context.Background(), slices.Repeat(samples, c.times), whisper.Options{Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(strings.ToLower(got.Text), c.word); n != c.want {
			t.Errorf("%s × %d: %q, want %q %d times", c.clip, c.times, got.Text, c.word, c.want)
		}
	}
}
