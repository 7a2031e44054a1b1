package vad

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"earshot/audio"
)

// span is where an utterance was put: samples from to to-1 of what was joined.
type span struct{ from, to int }

// longestInner is the longest pause within the sentences of TestEndpoints, in frames.
const longestInner = 40

// sentence is a clip from 100 ms before its first voiced frame to 100 ms behind its last
// one, which is in from and to, with the pauses longer than longestInner shortened to it.
func sentence(x []float32) (y []float32, said span) {
	voiced := voicedFrames(x, 15)
	for i := range voiced { // what is shorter than 60 ms is a bang
		if voiced[i] && (i == 0 || !voiced[i-1]) {
			n := 1
			for i+n < len(voiced) && voiced[i+n] {
				n++
			}
			if n < 6 {
				for k := range n {
					voiced[i+k] = false
				}
			}
		}
	}
	first, last := slices.Index(voiced, true), len(voiced)-1
	for !voiced[last] {
		last--
	}
	frame := func(i int) []float32 { return x[i*voicedFrame : min(len(x), (i+1)*voicedFrame)] }
	const around = 10
	for i := max(0, first-around); i < first; i++ {
		y = append(y, frame(i)...)
	}
	said.from = len(y)
	for i := first; i <= last; {
		n := 0
		for !voiced[i+n] {
			n++
		}
		for k := range n {
			if k < longestInner/2 || k >= n-longestInner/2 {
				y = append(y, frame(i+k)...)
			}
		}
		y = append(y, frame(i+n)...)
		i += n + 1
	}
	said.to = len(y)
	for i := last + 1; i < min(len(voiced), last+1+around); i++ {
		y = append(y, frame(i)...)
	}
	for i := range said.from {
		y[i] *= float32(i) / float32(said.from)
	}
	for i := range y[said.to:] {
		y[len(y)-1-i] *= float32(i) / float32(len(y)-said.to)
	}
	return y, said
}

// speechLevel is the level of the voiced frames.
func speechLevel(x []float32) float64 {
	var loud []float32
	for i, v := range voicedFrames(x, 15) {
		if v {
			loud = append(loud, x[i*voicedFrame:min(len(x), (i+1)*voicedFrame)]...)
		}
	}
	return levelDB(loud)
}

// atLevel is x with its voiced frames at a level.
func atLevel(x []float32, db float64) []float32 {
	y, gain := slices.Clone(x), float32(math.Pow(10, (db-speechLevel(x))/20))
	for i := range y {
		y[i] *= gain
	}
	return y
}

// joinedDB is the level of every voice.
const joinedDB = -26

// joinedClips are sentences of up to 12 s, five speakers in turn, with pauses of 1.2 to
// 3 s between them, in a quiet room; long are the clips that are left over.
func joinedClips(t *testing.T) (x []float32, said []span, long [][]float32) {
	r := rand.New(rand.NewPCG(11, 12))
	x = make([]float32, 2*audio.SampleRate)
	for i := range 10 {
		for _, clip := range clipsOf(t, fmt.Sprintf("librispeech-test-other/*-000%d.flac", i)) {
			whole := read(t, clip)
			y, in := sentence(whole)
			if len(y) > 12*audio.SampleRate {
				long = append(long, whole)
				continue
			}
			said = append(said, span{len(x) + in.from, len(x) + in.to})
			x = append(x, atLevel(y, joinedDB)...)
			x = append(x, make([]float32, audio.SampleRate*(12+r.IntN(19))/10)...)
		}
	}
	return mix(x, whiteNoise(len(x), -65)), said, long
}

func mix(a, b []float32) []float32 {
	sum := slices.Clone(a)
	for i, v := range b {
		sum[i] += v
	}
	return sum
}

// babble is six voices who talk all at once, with their pauses: what joinedClips leaves
// over, and another speaker.
func babble(t *testing.T, long [][]float32, n int, db float64) []float32 {
	for _, clip := range clipsOf(t, "ljspeech/*.flac") {
		long = append(long, read(t, clip))
	}
	talkers := make([][]float32, 6)
	for k, x := range long {
		talkers[k%6] = append(talkers[k%6], atLevel(x, 0)...)
	}
	sum := make([]float32, n)
	for k, talk := range talkers {
		for i := range sum {
			sum[i] += talk[(i+k*audio.SampleRate*7/3)%len(talk)]
		}
	}
	gain := float32(math.Pow(10, (db-levelDB(sum))/20))
	for i := range sum {
		sum[i] *= gain
	}
	return sum
}

// endpoints is what became of utterances that were joined.
type endpoints struct {
	utterances, started, ended, whole int
	segments                          int
	voiced, found                     int // frames of the utterances
}

func (e endpoints) percent(n int) float64 { return 100 * float64(n) / float64(e.utterances) }

func (e endpoints) String() string {
	return fmt.Sprintf("%d utterances in %d segments: %.1f %% starts kept, %.1f %% ends in time, %.1f %% not split, %.2f %% of the voiced frames found",
		e.utterances, e.segments, e.percent(e.started), e.percent(e.ended), e.percent(e.whole), 100*float64(e.found)/float64(e.voiced))
}

// lateSamples is how long behind the last voiced frame the end may become known.
const lateSamples = audio.SampleRate * 8 / 10

// endpointsOf feeds x as a microphone would and compares.
func endpointsOf(s *Segmenter, x []float32, said []span, voiced []bool) (e endpoints) {
	var all []Segment
	var known []int // when the end of each was reported
	for i := 0; i < len(x); i += ChunkSamples {
		for _, event := range s.Feed(x[i:min(len(x), i+ChunkSamples)]) {
			if event.Ended {
				all = append(all, event.Segment)
				known = append(known, i+ChunkSamples)
			}
		}
	}
	for _, event := range s.Flush() {
		all = append(all, event.Segment)
		known = append(known, len(x))
	}
	e.utterances, e.segments = len(said), len(all)
	for _, u := range said {
		kept, inTime, whole := false, false, true
		for i, seg := range all {
			kept = kept || seg.Start <= u.from && u.from < seg.End
			inTime = inTime || seg.End >= u.to && known[i] <= u.to+lateSamples
			whole = whole && (seg.End <= u.from || seg.End >= u.to)
		}
		e.started += count(kept)
		e.ended += count(inTime)
		e.whole += count(whole)
		for at := u.from / voicedFrame * voicedFrame; at < u.to; at += voicedFrame {
			if voiced[at/voicedFrame] {
				e.voiced++
				e.found += count(slices.ContainsFunc(all, func(seg Segment) bool { return seg.Start <= at && at < seg.End }))
			}
		}
	}
	return e
}

// TestEndpoints has what the options for microphones are to reach, alone and in noise 10
// dB below the voices: utterances whose first word is kept, whose end is known within 0.8
// s, and which are not split in pauses of 0.4 s. Measured (2026-12-01), in percent of the
// 41 utterances: 100, 100, 100 in quiet; 100, 98, 100 in pink noise; 100, 93, 95 in babble.
// This mixture and four others of such talkers, 91 and 93 together, are those that the
// limits in background.go were chosen on; eight more gave 88 and 96. BackgroundDB 11 finds
// fewer ends in the five (89) and splits fewer sentences (95).
func TestEndpoints(t *testing.T) {
	if testing.Short() {
		t.Skip("minutes of audio")
	}
	d := NewGate(realSilero(t))
	x, said, long := joinedClips(t)
	voiced := voicedFrames(x, 15)
	for name, c := range map[string]struct {
		noise        []float32
		ended, whole float64 // least, in percent
	}{
		"quiet":      {nil, 95, 95},
		"pink noise": {pinkNoise(len(x), joinedDB-10), 95, 95},
		"babble":     {babble(t, long, len(x), joinedDB-10), 90, 93},
	} {
		t.Run(name, func(t *testing.T) {
			e := endpointsOf(NewSegmenter(d, LiveOptions()), mix(x, c.noise), said, voiced)
			t.Log(e)
			if e.percent(e.started) < 98 || e.percent(e.ended) < c.ended || e.percent(e.whole) < c.whole {
				t.Errorf("%v; want 98, %g and %g", e, c.ended, c.whole)
			}
		})
	}
}
