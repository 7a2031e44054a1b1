package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"earshot/store"
	"earshot/whisper"
)

// scribe is what writing down remembers.
type scribe struct {
	*Pipeline
	ahead   *request // whose text is known
	heard   whisper.Heard
	caption caption
	model   Model // of heard

	retry    time.Time // before which no clip is tried again
	failures int       // in a row
}

// idleFor is how long nothing has to come before a clip is tried.
const idleFor = 300 * time.Millisecond

// clipPause is how long after there was none, or one could not be transcribed, the next is
// looked for.
const clipPause = 5 * time.Second

// write does what the queue holds, until it is closed and empty. When ctx ends, what is
// waiting is kept as clips.
func (s *scribe) write(ctx context.Context) {
	for {
		j, ok := s.queue.next(idleFor)
		s.ladder.see(s.queue.lag())
		switch {
		case !ok:
			s.settle(ctx)
			return
		case j.utterance != nil && (ctx.Err() != nil || s.queue.full()):
			s.keep(j.utterance, "more was said than could be written down in time")
		case j.utterance != nil:
			s.final(ctx, j.utterance)
		case j.request != nil:
			s.decodeAhead(ctx, j.request)
		case j.event != nil:
			s.commit(commit{recording: j.recording, events: []store.Event{*j.event}})
		case j.end > 0:
			s.commit(commit{recording: j.recording, end: j.end})
		default:
			s.flush()
			s.clip(ctx)
		}
	}
}

// decodeAhead writes down what may go on.
func (s *scribe) decodeAhead(ctx context.Context, r *request) {
	model := s.models[s.ladder.model()]
	listener := model.Caption
	if r.quiet || listener == nil {
		listener = model.Final
	}
	ctx, done := s.queue.yielding(ctx, r)
	defer done()
	heard, err := listener.Piece(ctx, r.samples)
	if err != nil {
		return // the utterance will tell, if it was not that it was given up
	}
	if r.quiet {
		s.ahead, s.heard, s.model = r, heard, model
	}
	if heard.Dropped == "" && heard.Text != "" {
		s.Hub.publish(s.caption.update(r.utterance, heard))
		if !r.wall.IsZero() {
			s.opts.Log.Debug("caption", "recording", r.recording.id, "start", r.from(), "age", s.opts.Now().Sub(r.wall))
		}
	}
}

// final writes down what has been said to its end.
func (s *scribe) final(ctx context.Context, u *utterance) {
	if s.opts.KeepAudio && u.clip == 0 {
		if err := s.saveClip(u); err != nil {
			s.problem("clips", err)
		}
	}
	if !s.ahead.same(u) {
		s.model = s.models[s.ladder.model()]
		limited, stop := context.WithTimeout(ctx, deadline(len(u.samples)))
		heard, err := s.model.Final.Piece(limited, u.samples)
		stop()
		if err != nil {
			s.failed(u, err)
			return
		}
		s.heard = heard
	}
	s.failures = 0
	s.solved("engine")
	c := commit{recording: u.recording, segments: s.segments(u), clip: u.clip, until: u.until(), decided: u.decided, silent: u.wallAt(u.spoken)}
	s.ahead = nil
	s.commit(c)
}

// deadline is how long so many samples may take: far more than they do on the slowest
// board, so that a decoder that stands still does not stop everything.
func deadline(samples int) time.Duration { return 30*time.Second + 10*timeOf(samples) }

// failed keeps the sound of what could not be written down.
func (s *scribe) failed(u *utterance, err error) {
	s.failures++
	s.problem("engine", err)
	s.keep(u, err.Error())
}

// keep saves an utterance as a clip that is transcribed later. Where that can't be done
// either, it is lost, and the recording says so.
func (s *scribe) keep(u *utterance, why string) {
	if u.clip != 0 {
		return // it is kept
	}
	if err := s.saveClip(u); err != nil {
		s.commit(commit{recording: u.recording, until: u.until(), events: []store.Event{{
			Kind: "lost", At: u.from(), Until: u.until(), Wall: u.wall,
			Amount: int64(len(u.samples)), Detail: fmt.Sprintf("%s, and its sound could not be kept: %v", why, err),
		}}})
		s.problem("lost", err)
		return
	}
	s.Hub.publish(Message{Kind: Kept, Recording: u.recording.id, Start: u.from(), End: u.until(), Reason: why})
}

// segments is the text of an utterance as it is stored.
func (s *scribe) segments(u *utterance) (out []store.Segment) {
	h := &s.heard
	if h.Dropped != "" {
		return nil
	}
	from := u.from()
	for _, x := range h.Segments {
		g := store.Segment{
			Start: from + timeAt(x.Start), End: from + timeAt(x.End), Text: x.Text, Language: x.Language,
			Model: s.model.Name, Backend: s.opts.Backend, Fallback: s.ladder.reason(s.model.Name, s.models[0].Name),
			Decoding: &store.Decoding{AvgLogProb: h.LogProb, NoSpeechProb: h.NoSpeech, CompressionRatio: h.CompressionRatio, Temperature: h.Temperature},
		}
		for _, w := range x.Words {
			g.Words = append(g.Words, store.Word{Start: from + timeAt(w.Start), End: from + timeAt(w.End), Text: w.Text, Probability: w.Probability})
		}
		if n := len(g.Words); n > 0 {
			g.Start, g.End = g.Words[0].Start, g.Words[n-1].End
		}
		g.Wall = u.wallAt(u.start + samplesIn(g.Start-from))
		out = append(out, g)
	}
	return out
}

// clips works off all clips that wait.
func (s *scribe) clips(ctx context.Context) {
	for ctx.Err() == nil && s.clip(ctx) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(s.retry)):
		}
	}
}

// clip works off one clip that waits, unless somebody speaks. It returns whether there
// may be more.
func (s *scribe) clip(ctx context.Context) bool {
	if time.Now().Before(s.retry) || s.opts.ReadClip == nil {
		return s.opts.ReadClip != nil
	}
	ctx, done := s.queue.yielding(ctx, nil)
	defer done()
	var clips []store.Clip
	err := s.with(func(db *store.Store) (err error) {
		clips, err = db.Pending(ctx, 1)
		return err
	})
	if err != nil || len(clips) == 0 {
		s.retry = time.Now().Add(clipPause)
		return err != nil
	}
	c := clips[0]
	samples, err := s.opts.ReadClip(c.Path)
	if err != nil {
		s.failClip(ctx, c, err, false) // there is no use in it
		return true
	}
	limited, stop := context.WithTimeout(ctx, deadline(len(samples)))
	defer stop()
	heard, err := s.models[0].Final.Piece(limited, samples)
	switch {
	case ctx.Err() != nil: // something more important came
		return true
	case err != nil:
		s.failures++
		s.problem("engine", err)
		s.failClip(ctx, c, err, true)
		s.retry = time.Now().Add(clipPause)
		return true
	}
	s.failures = 0
	s.solved("engine")
	s.heard, s.model, s.ahead = heard, s.models[0], nil
	u := &utterance{recording: &recording{id: c.Recording}, start: samplesIn(c.Start), end: samplesIn(c.End), wall: c.Wall}
	s.commit(commit{recording: u.recording, segments: s.segments(u), clip: c.ID, until: c.End})
	return true
}

// failClip notes why a clip could not be transcribed.
func (s *scribe) failClip(ctx context.Context, c store.Clip, why error, again bool) {
	s.problem("clips", s.with(func(db *store.Store) error { return db.FailClip(ctx, c.ID, why.Error(), again) }))
}

// saveClip keeps an utterance's sound until it is written down.
func (s *scribe) saveClip(u *utterance) error {
	if s.opts.WriteClip == nil {
		return errors.New("no clips are kept")
	}
	var c store.Clip
	err := store.ErrNotFound
	for try := 0; try < 2 && errors.Is(err, store.ErrNotFound); try++ {
		if try > 0 {
			u.recording.id = 0 // somebody deleted it, but not what was said since
		}
		err = s.with(func(db *store.Store) error {
			if err := s.begin(db, u.recording); err != nil {
				return err
			}
			c, err = db.SaveClip(context.Background(), store.Clip{
				Recording: u.recording.id, Start: u.from(), End: u.until(),
				Wall: u.wall, Type: s.opts.ClipType, Pending: true,
			}, func(w io.WriteSeeker) error { return s.opts.WriteClip(w, u.samples) })
			return err
		})
	}
	if err == nil && c.ID == 0 {
		err = errors.New("without history no clips are kept")
	}
	if err == nil {
		s.solved("clips")
	}
	u.clip = c.ID
	return err
}
