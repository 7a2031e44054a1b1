package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/app/export"
	"earshot/audio"
)

// assign gives each clip the text that was heard while it was played. What was heard has a
// clock of its own: the first text shows how far it is ahead, all of them how far exactly.
func (j *joined) assign(cues []export.Segment) {
	j.t.Helper()
	if len(cues) == 0 {
		j.t.Fatal("nothing was heard")
	}
	ahead := cues[0].Start - j.clips[0].first.middle()
	for _, cue := range cues {
		const around = 0.4 // half a pause
		middle := (cue.Start+cue.End)/2 - ahead
		i := slices.IndexFunc(j.clips, func(c joinedClip) bool { return c.at-around <= middle && middle < c.end+around })
		if i < 0 {
			j.t.Errorf("at %.2f nobody says %q", middle, cue.Text)
			continue
		}
		c := &j.clips[i]
		if c.heard == "" {
			c.starts = cue.Start
		}
		c.heard, c.stops = strings.TrimSpace(c.heard+" "+cue.Text), cue.End
	}
	var off []float64
	for _, c := range j.clips {
		if c.heard != "" {
			off = append(off, c.starts-c.first.middle(), c.stops-c.last.middle())
		}
	}
	slices.Sort(off)
	for i := range j.clips {
		j.clips[i].starts -= off[len(off)/2]
		j.clips[i].stops -= off[len(off)/2]
	}
}

// checkTimes compares where text begins and ends with where somebody speaks. One time in
// twenty may be off: the end of a word that fades away in a room is anybody's guess.
func (j *joined) checkTimes(t *testing.T) {
	t.Helper()
	const allowed = 0.3
	off := 0
	var starts, stops []float64
	for _, c := range j.clips {
		if c.heard == "" {
			continue // checkText says so
		}
		start, stop := c.first.off(c.starts), c.last.off(c.stops)
		if max(math.Abs(start), math.Abs(stop)) > allowed {
			off++
			t.Logf("%s: spoken from %.2f to %.2f s, heard from %.2f to %.2f", filepath.Base(c.Path), c.first, c.last, c.starts, c.stops)
		}
		starts, stops = append(starts, start), append(stops, stop)
	}
	if off > 2*len(j.clips)/20 {
		t.Errorf("%d of %d times are off by more than %.1f s", off, 2*len(j.clips), allowed)
	}
	t.Logf("the text of %d clips begins %s s late, and ends %s", len(starts), spread(starts), spread(stops))
}

// voiced is where the first and the last run of frames of 10 ms lie in which so many are
// no quieter than that below the loudest, in dB, and 6 dB above the quietest tenth.
func voiced(x []float32, below float64, run, most int) (from, to float64) {
	const frame = audio.SampleRate / 100
	var level []float64
	for i := 0; i+frame <= len(x); i += frame {
		sum := 1e-9
		for _, v := range x[i : i+frame] {
			sum += float64(v) * float64(v)
		}
		level = append(level, 10*math.Log10(sum/frame))
	}
	sorted := slices.Sorted(slices.Values(level))
	limit := max(sorted[len(sorted)-1]-below, sorted[len(sorted)/10]+6)
	first, last := -1, 0
	for i := 0; i+run <= len(level); i++ {
		loud := 0
		for _, l := range level[i : i+run] {
			if l >= limit {
				loud++
			}
		}
		if loud < most {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i + run
	}
	return seconds(first * frame), seconds(last * frame)
}
