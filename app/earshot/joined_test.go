package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/app/eval"
	"earshot/app/export"
	"earshot/audio"
	"earshot/audio/wave"
	"earshot/whisper/backendtest"
)

// joined is known speech, clip behind clip with pauses in between.
type joined struct {
	t     *testing.T
	path  string // WAV, 16 kHz
	clips []joinedClip
}

// joinedClip is a clip, and what became of it. Times are seconds of what is played.
type joinedClip struct {
	eval.Row
	at, end       float64
	first, last   between // where somebody begins to speak, and ends
	heard         string
	starts, stops float64 // of what was heard
}

// between is a moment as far as it is known.
type between struct{ early, late float64 }

func (b between) middle() float64 { return (b.early + b.late) / 2 }

// off is by how much x is outside.
func (b between) off(x float64) float64 { return min(x-b.early, 0) + max(x-b.late, 0) }

// join takes every other clip of read speech, of several speakers, for three minutes. The
// pauses are 0.8 to 1.5 s, and what the clips begin and end with.
func join(t *testing.T) *joined {
	t.Helper()
	dir := backendtest.Shared(t, "audio/librispeech-test-other")
	f, err := os.Open(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := eval.ReadManifest(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	j := &joined{t: t}
	random := rand.New(rand.NewPCG(6, 0))
	var all []float32
	pause := func() {
		all = append(all, make([]float32, int((0.8+0.7*random.Float64())*audio.SampleRate))...)
	}
	pause()
	const first = 10 // before, noises are as loud as speech: by the level it can't be told from them
	for i := first; i < len(rows) && len(all) < 180*audio.SampleRate; i += 2 {
		c := joinedClip{Row: rows[i], at: seconds(len(all))}
		c.Path = filepath.Join(dir, c.Path)
		x := readClip(t, c.Path)
		from, to := voiced(x, 35, 3, 3) // with a quiet first or last sound, or a click before or after
		from2, to2 := voiced(x, 20, 10, 8)
		c.first, c.last = between{c.at + from, c.at + from2}, between{c.at + to2, c.at + to}
		all = append(all, x...)
		c.end = seconds(len(all))
		j.clips = append(j.clips, c)
		pause()
	}
	j.path = writeClip(t, all)
	return j
}

// writeClip makes a WAV file of samples at 16 kHz.
func writeClip(t *testing.T, x []float32) (path string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "clip.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := wave.WriteMono16(out, audio.SampleRate, x); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}

func seconds(samples int) float64 { return float64(samples) / audio.SampleRate }

func readClip(t *testing.T, path string) []float32 {
	t.Helper()
	f, err := wave.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := audio.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if f.Format() != (audio.Format{Rate: audio.SampleRate, Channels: 1}) {
		t.Fatalf("%s: %+v", path, f.Format())
	}
	return x
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

// evaluate decodes the clips one by one.
func (j *joined) evaluate(p program) *eval.Report {
	j.t.Helper()
	var rows strings.Builder
	fmt.Fprintln(&rows, "path\tlanguage\treference")
	for _, c := range j.clips {
		fmt.Fprintf(&rows, "%s\ten\t%s\n", c.Path, c.Reference)
	}
	dir := j.t.TempDir()
	manifest, report := filepath.Join(dir, "manifest.tsv"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(manifest, []byte(rows.String()), 0o666); err != nil {
		j.t.Fatal(err)
	}
	p.output("eval", "--model", "tiny.en", "--json", report, manifest)
	f, err := os.Open(report)
	if err != nil {
		j.t.Fatal(err)
	}
	defer f.Close()
	r, err := eval.ReadReport(f, report)
	if err != nil {
		j.t.Fatal(err)
	}
	return r
}

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

// checkText compares what was heard with what is said, and with the text of each clip by
// itself.
func (j *joined) checkText(t *testing.T, alone *eval.Report) {
	t.Helper()
	live := eval.NewReport("live")
	for i, c := range j.clips {
		if c.heard == "" {
			t.Errorf("nothing was heard of %s: %s", filepath.Base(c.Path), c.Reference)
		}
		live.Add(c.Row, c.heard, c.end-c.at, eval.Took{})
		if a, b := live.Rows[i], alone.Rows[i]; a.Errors != b.Errors {
			t.Logf("%s: live %d errors, alone %d\n  said  %s\n  live  %s\n  alone %s", filepath.Base(c.Path), a.Errors, b.Errors, c.Reference, a.Hypothesis, b.Hypothesis)
		}
	}
	t.Logf("%d clips, %d words: %d errors live (%.2f %%), %d alone (%.2f %%)", live.Clips, live.Words, live.Errors, 100**live.WER, alone.Errors, 100**alone.WER)
	// The aim is 1 point, to which the long tests hold it. It is not met: runs of 2026-11-30
	// were between 0.5 below and 3.0 above. 4 points, 16 words, are a regression.
	most := 0.04
	if os.Getenv("EARSHOT_LONG") == "1" {
		most = 0.01
	}
	if *live.WER > *alone.WER+most {
		t.Errorf("the word error rate is %.2f points above that of the clips by themselves", 100*(*live.WER-*alone.WER))
	}
}

// reportLatency says how long things took, by the service's own log.
func reportLatency(t *testing.T, log string) {
	t.Helper()
	figures := map[string][]float64{}
	take := func(what, duration string) {
		d, err := time.ParseDuration(duration)
		if err != nil {
			t.Fatal(err)
		}
		figures[what] = append(figures[what], d.Seconds())
	}
	for _, m := range regexp.MustCompile(`msg=stored .*delay=(\S+) silence=(\S+)`).FindAllStringSubmatch(log, -1) {
		take("from the end that was found to stored text", m[1])
		take("from the last speech to stored text", m[2])
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`msg=caption .*start=(\S+) age=(\S+)`).FindAllStringSubmatch(log, -1) {
		if !seen[m[1]] {
			take("from the start, pre-roll included, to the first caption", m[2])
		}
		seen[m[1]] = true
	}
	for what, x := range figures {
		t.Logf("%s: %s s (%d)", what, spread(x), len(x))
	}
}

// spread is the least, the middle, the 95th percentile and the most of x.
func spread(x []float64) string {
	slices.Sort(x)
	if len(x) == 0 {
		return "-"
	}
	at := func(q float64) float64 { return x[min(len(x)-1, int(q*float64(len(x))))] }
	return fmt.Sprintf("%.3f, p50 %.3f, p95 %.3f, %.3f", x[0], at(0.5), at(0.95), x[len(x)-1])
}
