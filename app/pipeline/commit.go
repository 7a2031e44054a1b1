package pipeline

import (
	"context"
	"errors"
	"time"

	"earshot/store"
)

// commit is what is stored in one transaction.
type commit struct {
	recording *recording
	segments  []store.Segment
	events    []store.Event
	clip      int64
	until     time.Duration
	end       time.Duration // of the recording; 0 where it goes on
	decided   time.Time     // when the end of what was said was known; zero for what is old
	silent    time.Time     // when its last voiced sample was heard; zero where nobody knows
}

// mostUnstored bounds what waits in memory while nothing can be stored: some hours of
// speech.
const mostUnstored = 4096

// commit stores c, behind what could not be stored before. What can't be stored now
// waits, and is tried again with the next one and when nothing else is to be done.
func (s *scribe) commit(c commit) {
	p := s.Pipeline
	p.mu.Lock()
	p.state.unstored = append(p.state.unstored, c)
	if over := len(p.state.unstored) - mostUnstored; over > 0 {
		p.state.unstored = p.state.unstored[over:]
		p.state.lost += over
	}
	p.mu.Unlock()
	s.flush()
}

// flush stores what is waiting, in order.
func (s *scribe) flush() {
	for {
		p := s.Pipeline
		p.mu.Lock()
		if len(p.state.unstored) == 0 {
			p.mu.Unlock()
			s.solved("store")
			return
		}
		c := p.state.unstored[0]
		p.mu.Unlock()
		ids, err := s.append(c)
		switch {
		case errors.Is(err, store.ErrNotFound) && !c.decided.IsZero():
			// Somebody deleted the recording, but not what was said since.
			c.recording.id, c.clip = 0, 0
			p.mu.Lock()
			p.state.unstored[0] = c
			p.mu.Unlock()
			continue
		case errors.Is(err, store.ErrNotFound):
			c.segments = nil // it was deleted with its recording
		case err != nil:
			s.problem("store", err)
			s.reopen(err)
			return
		}
		p.mu.Lock()
		p.state.unstored = p.state.unstored[1:]
		p.mu.Unlock()
		s.tell(c, ids)
	}
}

// append makes the transaction. It is short, and nothing but the disk ends it.
func (s *scribe) append(c commit) ([]int64, error) {
	if err := s.begin(c.recording); err != nil {
		return nil, err
	}
	ctx, db, id := context.Background(), s.Store(), c.recording.id
	if c.end > 0 {
		return nil, db.FinishRecording(ctx, id, c.end)
	}
	return db.Append(ctx, id, store.Utterance{Segments: c.segments, Events: c.events, Clip: c.clip, Until: c.until})
}

// tell publishes what is stored now.
func (s *scribe) tell(c commit, ids []int64) {
	for i, g := range c.segments {
		g.ID, g.Recording = ids[i], c.recording.id
		s.Hub.publish(Message{Kind: Final, Recording: g.Recording, Start: g.Start, End: g.End, Text: g.Text, Segment: &g})
	}
	if len(c.segments) == 0 {
		return
	}
	now := s.opts.Now()
	s.mu.Lock()
	s.state.segments += len(c.segments)
	s.state.textAt = now
	if !c.decided.IsZero() {
		s.state.delay = now.Sub(c.decided)
	}
	s.mu.Unlock()
	if !c.silent.IsZero() {
		s.opts.Log.Debug("stored", "recording", c.recording.id, "segments", len(c.segments),
			"delay", now.Sub(c.decided), "silence", now.Sub(c.silent))
	}
}

// reopen sets a damaged database aside and goes on with a new one.
func (s *scribe) reopen(err error) {
	if !errors.Is(err, store.ErrDamaged) || s.opts.Reopen == nil {
		return
	}
	fresh, err := s.opts.Reopen(context.Background())
	if err != nil {
		s.problem("store", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store = fresh
	for _, c := range s.state.unstored {
		c.recording.id = 0 // it is not in there; what goes on begins anew
	}
	if s.state.now != nil {
		s.state.now.id = 0
	}
}

// begin stores the beginning of a recording that has no id yet.
func (s *scribe) begin(r *recording) error {
	if r.id != 0 {
		return nil
	}
	id, err := s.Store().StartRecording(context.Background(), store.Recording{
		Title: s.opts.Title, Source: s.opts.Source, Started: r.wall, Task: "transcribe",
		Language: s.opts.Language, Model: s.models[0].Name,
	})
	if err != nil {
		return err
	}
	r.id = id
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.recording = id
	return nil
}
