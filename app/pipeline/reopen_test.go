package pipeline

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"earshot/store"
)

// TestReopen: while the store is replaced, and cannot be opened at first, what is said
// waits; it is stored in the next one, in a recording of its own.
func TestReopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&sound{paced: true}).quiet(second)
		for range 6 {
			s.voice(3 * second).quiet(2 * second)
		}
		first, next := openStore(t, t.TempDir()), t.TempDir()
		p := newPipeline(s, first, testOptions(), &stub{cost: 0.05})
		full := errors.New("no room")
		time.AfterFunc(9*second, func() {
			if err := p.Reopen(func() (*store.Store, error) { return nil, full }); !errors.Is(err, full) {
				t.Errorf("got %v", err)
			}
		})
		time.AfterFunc(19*second, func() {
			if st := p.Status(); st.Unstored != 2 || len(st.Problems) != 1 || st.Problems[0].Kind != "store" || st.Problems[0].Reason != "no room" {
				t.Errorf("status: %+v", st)
			}
			if err := p.Reopen(func() (*store.Store, error) { return store.Open(t.Context(), store.Options{Dir: next}) }); err != nil {
				t.Error(err)
			}
		})
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer p.Store().Close()
		if st := p.Status(); st.Unstored != 0 || st.Lost != 0 || len(st.Problems) != 0 {
			t.Errorf("status: %+v", st)
		}
		got := read(t, p.Store())
		if len(got.recordings) != 1 || len(got.segments[0]) != 5 || got.recordings[0].State != store.Done {
			t.Fatalf("stored %+v", got)
		}
		for i, g := range got.segments[0] {
			if want := time.Duration(6+5*i) * second; !near(g.Start, want, 300*time.Millisecond) {
				t.Errorf("segment %d begins at %v, want %v", i, g.Start, want)
			}
		}
	})
}
