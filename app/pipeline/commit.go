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

// settle stores what is waiting, and tries again until it is stored or ctx ends.
func (s *scribe) settle(ctx context.Context) {
	for !s.flush() {
		select {
		case <-ctx.Done():
			s.opts.Log.Error("some texts could not be stored", "texts", s.Status().Unstored)
			return
		case <-time.After(idleFor):
		}
	}
}

// flush stores what is waiting, in order. It returns whether nothing is.
func (s *scribe) flush() (all bool) {
	for {
		p := s.Pipeline
		p.mu.Lock()
		if len(p.state.unstored) == 0 {
			p.mu.Unlock()
			if err := s.with(func(*store.Store) error { return nil }); err != nil {
				s.problem("store", err)
			} else {
				s.solved("store")
			}
			return true
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
			return false
		}
		p.mu.Lock()
		p.state.unstored = p.state.unstored[1:]
		p.mu.Unlock()
		s.tell(c, ids)
	}
}

// append makes the transaction. It is short, and nothing but the disk ends it.
func (s *scribe) append(c commit) (ids []int64, err error) {
	err = s.with(func(db *store.Store) error {
		if r := c.recording; c.end > 0 && r.id != 0 && r.in != db {
			return nil // it ended with the store that it was in
		}
		if err := s.begin(db, c.recording); err != nil {
			return err
		}
		ctx, id := context.Background(), c.recording.id
		if c.end > 0 {
			return db.FinishRecording(ctx, id, c.end)
		}
		ids, err = db.Append(ctx, id, store.Utterance{Segments: c.segments, Events: c.events, Clip: c.clip, Until: c.until})
		return err
	})
	return ids, err
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
		s.state.delay = time.Since(c.decided)
	}
	s.mu.Unlock()
	if !c.silent.IsZero() {
		s.opts.Log.Debug("stored", "recording", c.recording.id, "segments", len(c.segments),
			"delay", time.Since(c.decided), "silence", now.Sub(c.silent))
	}
}

// begin stores the beginning of a recording that has no id in this store yet.
func (s *scribe) begin(db *store.Store, r *recording) error {
	if r.id != 0 && (r.in == db || r.in == nil) {
		return nil
	}
	id, err := db.StartRecording(context.Background(), store.Recording{
		Title: s.opts.Title, Source: s.opts.Source, Started: r.wall, Task: "transcribe",
		Language: s.opts.Language, Model: s.models[0].Name,
	})
	if err != nil {
		return err
	}
	r.id, r.in = id, db
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.recording = id
	return nil
}
