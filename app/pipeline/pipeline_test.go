package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"earshot/audio/capture"
	"earshot/store"
)

const second = time.Second

// TestUtterances: what is said three times is stored three times, where it was said, and
// decoded once: by the time that it is over its text is known.
func TestUtterances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(2 * second)
		for range 3 {
			s.voice(3 * second).quiet(2 * second)
		}
		db := openStore(t, t.TempDir())
		defer db.Close()
		engine := &stub{cost: 0.05}
		p := newPipeline(s, db, testOptions(), engine)
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if len(got.recordings) != 1 || len(got.segments[0]) != 3 {
			t.Fatalf("stored %+v", got)
		}
		for i, g := range got.segments[0] {
			if want := time.Duration(2+5*i) * second; !near(g.Start, want, 200*time.Millisecond) || !near(g.End, want+3*second, 600*time.Millisecond) {
				t.Errorf("segment %d lies at %v … %v, want %v … %v", i, g.Start, g.End, want, want+3*second)
			}
			if g.Model != "model 0" || g.Fallback != "" {
				t.Errorf("segment %d: %+v", i, g)
			}
		}
		if r := got.recordings[0]; r.State != store.Done || !near(r.Duration, 17*second, 100*time.Millisecond) {
			t.Errorf("recording: %+v", r)
		}
		if engine.calls != 3 {
			t.Errorf("decoded %d times", engine.calls)
		}
		if delay := p.Status().Delay; delay > 0.15 {
			t.Errorf("text came %v s behind the end", delay)
		}
	})
}

// TestSpeakerGoesOn: a text that was decoded ahead is thrown away when the speaker has
// not ended.
func TestSpeakerGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(second).voice(2 * second).quiet(400 * time.Millisecond).voice(2 * second).quiet(2 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		engine := &stub{cost: 0.05}
		if err := newPipeline(s, db, testOptions(), engine).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if len(got.segments) != 1 || len(got.segments[0]) != 1 || got.segments[0][0].End-got.segments[0][0].Start < 4*second {
			t.Errorf("stored %+v", got.segments)
		}
		if engine.calls != 2 {
			t.Errorf("decoded %d times", engine.calls)
		}
	})
}

// TestOutOfDate: a text that was decoded ahead does not keep the next one waiting when the
// speaker has gone on meanwhile.
func TestOutOfDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(second).voice(2 * second).quiet(300 * time.Millisecond).voice(300 * time.Millisecond).quiet(3 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		engine := &stub{cost: 0.4} // 1 s for what comes before the pause, 1.2 s for all
		p := newPipeline(s, db, testOptions(), engine)
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if delay := p.Status().Delay; engine.calls != 2 || delay > 1 {
			t.Errorf("decoded %d times, and the text came %v s behind the end", engine.calls, delay)
		}
	})
}

// TestForcedCommit: somebody who never stops speaking is written down all the same, at
// most 15 s later (cases.md, C94).
func TestForcedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 600 * second
		s := (&sound{paced: true}).voice(length)
		db := openStore(t, t.TempDir())
		defer db.Close()
		o := testOptions()
		o.Captions = 700 * time.Millisecond
		engine := &stub{cost: 0.05, say: func(call int, _ float64) string { return string(rune('a' + call%26)) }}
		p := newPipeline(s, db, o, engine)
		messages, cancel := p.Hub.Subscribe()
		defer cancel()
		began, worst := time.Now(), time.Duration(0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for m := range messages {
				if m.Kind == Caption && m.Text != "" {
					t.Errorf("%q is stable, though no two texts agree", m.Text)
				}
				if m.Kind == Final {
					worst = max(worst, time.Since(began)-m.Start)
				}
			}
		}()
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-done
		if worst > 15*second {
			t.Errorf("text came %v after it was said", worst)
		}
		var at time.Duration
		for _, g := range read(t, db).segments[0] {
			if !near(g.Start, at, 400*time.Millisecond) {
				t.Errorf("a segment begins at %v, the one before ended at %v", g.Start, at)
			}
			at = g.End
		}
		if !near(at, length, 300*time.Millisecond) {
			t.Errorf("the last segment ends at %v", at)
		}
	})
}

// TestTooSlow: an engine slower than speech for ten minutes costs no sound. What does not
// fit the queue is kept and written down later, with its true times; when the engine is
// quick again, nothing waits any longer (cases.md, C95).
func TestTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sound{paced: true}
		const slow, quick = 60, 20
		for range slow + quick {
			s.voice(9 * second).quiet(second)
		}
		s.quiet(10 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		began := time.Now()
		engine := &stub{now: func() float64 {
			if time.Since(began) < slow*10*second {
				return 1.5
			}
			return 0.5
		}}
		p := newPipeline(s, db, testOptions(), engine)
		var worst, then float64
		kept := 0
		messages, cancel := p.Hub.Subscribe()
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for m := range messages {
				worst = max(worst, p.Status().Lag)
				if time.Since(began) > (slow+10)*10*second {
					then = max(then, p.Status().Lag)
				}
				if m.Kind == Kept {
					kept++
				}
			}
		}()
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-done
		got := read(t, db)
		var text time.Duration
		for _, g := range got.segments[0] {
			text += g.End - g.Start
		}
		if n := len(got.segments[0]); n != slow+quick || !near(text, (slow+quick)*9*second, 53*second) {
			t.Errorf("%d segments of %v in all", n, text)
		}
		for i, g := range got.segments[0] {
			if !near(g.Start, time.Duration(i)*10*second, 300*time.Millisecond) {
				t.Errorf("segment %d begins at %v", i, g.Start)
			}
		}
		if kept == 0 || worst > 50 { // 30 s, and two that end while one is decoded
			t.Errorf("%d utterances kept for later, up to %.1f s waited", kept, worst)
		}
		if then >= 2 {
			t.Errorf("%.1f s wait, though the engine is quick again", then)
		}
		if st, err := db.Status(t.Context()); err != nil || st.Pending != 0 {
			t.Errorf("%d clips wait, %v", st.Pending, err)
		}
	})
}

// TestUnpaced: a source that can wait is read as fast as it can be written down, and no
// faster; and what it gives was not said just now.
func TestUnpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sound{}
		for range 60 {
			s.voice(9 * second).quiet(second)
		}
		db := openStore(t, t.TempDir())
		defer db.Close()
		o := testOptions()
		o.Now = func() time.Time { return time.Now().AddDate(26, 0, 0) } // the bubble's clock counts as not set
		p := newPipeline(s, db, o, &stub{cost: 0.1})
		messages, cancel := p.Hub.Subscribe()
		defer cancel()
		worst := 0.0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for m := range messages {
				if m.Kind == Kept {
					t.Errorf("a clip is kept: %s", m.Reason)
				}
				worst = max(worst, p.Status().Lag)
			}
		}()
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-done
		if got := read(t, db); len(got.segments[0]) != 60 || len(got.events[0]) != 0 || !got.segments[0][59].Wall.IsZero() || got.recordings[0].Started.IsZero() {
			t.Errorf("%d segments, the last %+v, events %+v", len(got.segments[0]), got.segments[0][59], got.events[0])
		}
		if worst > 30 {
			t.Errorf("up to %.1f s waited", worst)
		}
	})
}

// TestSmallerModel: before sound is put off, a smaller model is tried, and says so.
func TestSmallerModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sound{paced: true}
		for range 30 {
			s.voice(9 * second).quiet(second)
		}
		s.quiet(60 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		large, small := &stub{cost: 1.5}, &stub{cost: 0.2}
		if err := newPipeline(s, db, testOptions(), large, small).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		models := map[string]int{}
		for _, g := range read(t, db).segments[0] {
			models[g.Model]++
			if (g.Model == "model 1") != (g.Fallback == "model 0 was too slow") {
				t.Errorf("model %q, reason %q", g.Model, g.Fallback)
			}
		}
		if models["model 0"] < 3 || models["model 1"] < 10 || models["model 0"]+models["model 1"] != 30 {
			t.Errorf("models: %v", models)
		}
	})
}

// TestEngineFails: while the engine is out of order, what is said is kept, and written
// down later with its true times, even after a restart (cases.md, C113).
func TestEngineFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sound{paced: true}
		for range 30 {
			s.voice(9 * second).quiet(second)
		}
		dir := t.TempDir()
		db := openStore(t, dir)
		broken := &stub{cost: 0.05, fail: func() bool { return true }}
		ctx, stop := context.WithTimeout(t.Context(), 150*second)
		p := newPipeline(s, db, testOptions(), broken)
		if err := p.Run(ctx); err != nil {
			t.Fatal(err)
		}
		stop()
		st, err := db.Status(t.Context())
		if err != nil || st.Pending != 15 {
			t.Fatalf("%d clips wait, %v", st.Pending, err)
		}
		if problems := p.Status().Problems; len(problems) != 1 || problems[0].Kind != "engine" {
			t.Errorf("problems: %+v", problems)
		}
		db.Close()

		db = openStore(t, dir)
		defer db.Close()
		began := time.Now()
		works := &stub{cost: 0.05, fail: func() bool { return time.Since(began) < 60*second }}
		if err := newPipeline(s, db, testOptions(), works).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		count := 0
		for i, segments := range got.segments {
			count += len(segments)
			for j, g := range segments {
				if !near(g.Start, g.Start.Round(10*second), 300*time.Millisecond) {
					t.Errorf("recording %d: segment %d begins at %v", i, j, g.Start)
				}
			}
		}
		if count != 30 || len(got.recordings) != 2 {
			t.Errorf("%d segments in %d recordings", count, len(got.recordings))
		}
	})
}

// TestGaps: what was not heard is marked, and what follows lies where it was said.
func TestGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(second).voice(2 * second).gap(4 * second).voice(2 * second).quiet(second).
			voice(second).gap(200 * time.Millisecond).voice(second).quiet(2 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		if err := newPipeline(s, db, testOptions(), &stub{}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		starts := []time.Duration{1 * second, 7 * second, 10 * second}
		if len(got.segments[0]) != len(starts) || len(got.events[0]) != 2 {
			t.Fatalf("stored %+v", got)
		}
		for i, g := range got.segments[0] {
			if !near(g.Start, starts[i], 300*time.Millisecond) {
				t.Errorf("segment %d begins at %v, want %v", i, g.Start, starts[i])
			}
		}
		for i, want := range []time.Duration{4 * second, 200 * time.Millisecond} {
			if e := got.events[0][i]; e.Kind != "gap" || e.Until-e.At != want || e.Amount != int64(samplesIn(want)) {
				t.Errorf("event %d: %+v", i, e)
			}
		}
	})
}

// TestOutage: a device that is away is told of ten times a second; that is one gap.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).voice(2 * second)
		for range 50 {
			s.gap(100 * time.Millisecond)
		}
		s.gap(second).voice(2 * second).quiet(second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		if err := newPipeline(s, db, testOptions(), &stub{}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if e := got.events[0]; len(e) != 1 || e[0].Kind != "gap" || e[0].At != 2*second || e[0].Until != 8*second || e[0].Amount != int64(samplesIn(6*second)) {
			t.Errorf("events: %+v", e)
		}
		if g := got.segments[0]; len(g) != 2 || !near(g[1].Start, 8*second, 400*time.Millisecond) {
			t.Errorf("segments: %+v", g)
		}
	})
}

// TestMuted: what is said while nobody shall listen is not heard.
func TestMuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).voice(2 * second).quiet(2 * second).voice(2 * second).quiet(2 * second).voice(2 * second).quiet(2 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		engine := &stub{}
		p := newPipeline(s, db, testOptions(), engine)
		time.AfterFunc(3550*time.Millisecond, func() { p.SetMuted(true) }) // between two blocks
		time.AfterFunc(7050*time.Millisecond, func() { p.SetMuted(false) })
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if len(got.segments[0]) != 2 || engine.calls != 2 || !near(got.segments[0][1].Start, 8*second, 300*time.Millisecond) {
			t.Errorf("decoded %d times, stored %+v", engine.calls, got.segments[0])
		}
		if events := got.events[0]; len(events) != 1 || events[0].Kind != "muted" || !near(events[0].At, 3500*time.Millisecond, 100*time.Millisecond) ||
			!near(events[0].Until-events[0].At, 3500*time.Millisecond, 200*time.Millisecond) {
			t.Errorf("events: %+v", events)
		}
	})
}

// TestMutedWhileSpeaking: who mutes in the middle of a sentence gets the text of what was
// said before, and nothing shows how loud it is then.
func TestMutedWhileSpeaking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(second).voice(10 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		p := newPipeline(s, db, testOptions(), &stub{})
		messages, cancel := p.Hub.Subscribe()
		defer cancel()
		var changes []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for m := range messages {
				if m.Kind == Changed {
					changes = append(changes, m.Reason)
				}
			}
		}()
		time.AfterFunc(4050*time.Millisecond, func() { p.SetMuted(true); p.SetMuted(true) })
		time.AfterFunc(6*second, func() {
			if st := p.Status(); !st.Muted || st.Speaking || st.Source.LevelDB != capture.Quietest {
				t.Errorf("status: %+v", st)
			}
		})
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-done
		got := read(t, db)
		if len(got.segments[0]) != 1 || !near(got.segments[0][0].End, 4*second, 200*time.Millisecond) {
			t.Errorf("stored %+v", got.segments)
		}
		if len(changes) != 1 || changes[0] != "muted" {
			t.Errorf("subscribers were told %q", changes)
		}
	})
}

// TestMutedForLong: a recording ends while nobody listens, as it does while nobody
// speaks, and what was muted before the first one is no part of it.
func TestMutedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).voice(30 * second).quiet(10 * second).voice(2 * second).quiet(200 * second).voice(2 * second).quiet(2 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		o := testOptions()
		o.Apart = 60 * second
		p := newPipeline(s, db, o, &stub{})
		p.SetMuted(true)
		time.AfterFunc(35*second, func() { p.SetMuted(false) })
		time.AfterFunc(50*second, func() { p.SetMuted(true) })
		time.AfterFunc(200*second, func() { p.SetMuted(false) })
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if len(got.recordings) != 2 || len(got.segments[0]) != 1 || len(got.segments[1]) != 1 {
			t.Fatalf("stored %+v", got)
		}
		if start := got.segments[0][0].Start; start > second {
			t.Errorf("the first text begins at %v", start)
		}
		if e := got.events[0]; len(e) != 1 || e[0].Kind != "muted" || !near(e[0].Until, got.recordings[0].Duration, time.Millisecond) || len(got.events[1]) != 0 {
			t.Errorf("events: %+v", got.events)
		}
	})
}

// TestRecordings: a long silence ends a recording, and the next one has times of its own.
func TestRecordings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(second).voice(2 * second).quiet(70 * second).voice(2 * second).quiet(5 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		o := testOptions()
		o.Apart = 60 * second
		o.Now = func() time.Time { return time.Now().AddDate(26, 0, 0) } // the bubble's clock counts as not set
		if err := newPipeline(s, db, o, &stub{}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if len(got.recordings) != 2 || got.recordings[0].State != store.Done || got.recordings[1].State != store.Done {
			t.Fatalf("recordings: %+v", got.recordings)
		}
		if start := got.segments[1][0].Start; start > second {
			t.Errorf("the second recording's text begins at %v", start)
		}
		if apart := got.recordings[1].Started.Sub(got.recordings[0].Started); !near(apart, 73*second, second) {
			t.Errorf("the recordings begin %v apart", apart)
		}
	})
}

// TestEnds: when it is told to end, what is being said is written down first.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(second).voice(60 * second)
		db := openStore(t, t.TempDir())
		defer db.Close()
		ctx, stop := context.WithTimeout(t.Context(), 6*second)
		defer stop()
		if err := newPipeline(s, db, testOptions(), &stub{cost: 0.1}).Run(ctx); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if len(got.segments[0]) != 1 || got.segments[0][0].End < 5500*time.Millisecond || got.recordings[0].State != store.Done {
			t.Errorf("stored %+v", got)
		}
	})
}

// TestDeletedMeanwhile: who deletes the recording that goes on does not delete what is said
// from then on.
func TestDeletedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).voice(2 * second).quiet(2 * second).voice(2 * second).quiet(2 * second)
		for _, keep := range []bool{false, true} {
			db := openStore(t, t.TempDir())
			o := testOptions()
			o.KeepAudio = keep
			time.AfterFunc(3500*time.Millisecond, func() {
				if err := db.Delete(context.Background(), 1); err != nil {
					t.Error(err)
				}
			})
			again := &sound{paced: true, blocks: s.blocks}
			if err := newPipeline(again, db, o, &stub{}).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := read(t, db)
			if len(got.recordings) != 1 || got.recordings[0].ID != 2 || len(got.segments[0]) != 1 || got.recordings[0].State != store.Done {
				t.Errorf("audio kept %v: %+v", keep, got)
			}
			db.Close()
		}
	})
}
