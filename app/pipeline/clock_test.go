package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"earshot/store"
)

// TestClockJumps: the clock is not set at first, and then jumps ahead and back by an hour
// while somebody speaks. Order and times are those of the sample clock, all text is there,
// jumps are told, and no time of day is made up.
func TestClockJumps(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const year = 365 * 24 * time.Hour
		unset := -30 * year // the bubble begins in 2000
		off := unset
		now := func() time.Time { return time.Now().Round(0).Add(off) }
		db, err := store.Open(t.Context(), store.Options{Dir: dir, Now: now, Retention: store.Retention{TextAge: 24 * time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		s := (&sound{paced: true}).quiet(second)
		for range 5 {
			s.voice(3 * second).quiet(7 * second)
		}
		jumps := []time.Duration{27*year - unset, time.Hour, -time.Hour, -2 * time.Hour}
		for i, jump := range jumps {
			time.AfterFunc(time.Duration(8+10*i)*second, func() { off += jump })
		}
		o := testOptions()
		o.Now = now
		o.Apart = time.Minute
		if err := newPipeline(s, db, o, &stub{cost: 0.05}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := db.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := read(t, db)
		if len(got.recordings) != 1 || len(got.segments[0]) != 5 || !got.recordings[0].Started.IsZero() {
			t.Fatalf("stored %+v", got)
		}
		for i, g := range got.segments[0] {
			if want := time.Duration(1+10*i) * second; !near(g.Start, want, 300*time.Millisecond) || g.ID != int64(i+1) {
				t.Errorf("segment %d is %d, at %v, want %v", i, g.ID, g.Start, want)
			}
			if known := !g.Wall.IsZero(); known != (i > 0) {
				t.Errorf("segment %d: %v", i, g.Wall)
			}
		}
		var told []time.Duration
		for _, e := range got.events[0] {
			if e.Kind == "clock" {
				told = append(told, (time.Duration(e.Amount) * time.Millisecond).Round(time.Minute))
			}
		}
		if len(told) != 3 || told[0] != time.Hour || told[1] != -time.Hour || told[2] != -2*time.Hour {
			t.Errorf("events tell of jumps by %v", told)
		}
	})
}
