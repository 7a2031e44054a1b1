package pipeline

import (
	"context"
	"slices"
	"time"

	"earshot/audio/capture"
	"earshot/audio/vad"
	"earshot/store"
	"earshot/whisper"
)

// ears is what listening remembers from block to block. Positions are on the source's
// sample clock.
type ears struct {
	*Pipeline
	segmenter *vad.Segmenter
	zero      int  // position of the segmenter's sample 0
	heard     int  // position up to which all is known
	live      bool // the source's clock is one

	recording *recording // that goes on; nil for none
	spokenAt  int        // when somebody last spoke

	first bool // no recording has begun yet, and nothing was muted
	hole  hole // that e.heard lies behind, if it has a kind

	unpaced bool // the source waits, and what it gives was not said just now
	most    int  // samples that may wait to be written down before the source is read on

	asked int // position up to which a caption was asked for
	ahead int // Spoken of what was last decoded ahead
}

// hole is a stretch that was not heard.
type hole struct {
	kind     string // gap or muted; empty for none
	from, to int
}

// shortGap is the longest gap that is listened over as if it were silence; a longer one
// ends an utterance.
const shortGap = whisper.SampleRate / 2

// backlog is how much more than Options.Waiting may wait when not even clips can be
// stored in time. Then the source has to drop sound, which it counts and marks.
const backlog = 5 * time.Minute

// lead is what models hear in front of the pre-roll: with it they are better at the first
// words. Cut as here, the 50 clips of test-other (1052 words) had 163 word errors on
// average with it, 171 without, from tiny.en, in three arrangements that had no part in its
// choice (2026-12-01). It is no help in noise.
const lead = 100 * time.Millisecond

// listen reads the source to its end. It goes no further ahead of the scribe than there
// is room for; a source that can wait never needs clips.
func (p *Pipeline) listen(ctx context.Context) error {
	endpoints, source := p.opts.Endpoints, p.source.Status()
	endpoints.PreRoll += lead
	e := &ears{Pipeline: p, segmenter: vad.NewSegmenter(p.detector, endpoints), live: source.Live, unpaced: source.Unpaced, first: true, ahead: -1}
	e.most = p.queue.room + samplesIn(backlog)
	if e.unpaced {
		e.most = p.queue.room / 2
	}
	for {
		p.queue.wait(ctx, e.most)
		block, err := p.source.Read(ctx)
		if err != nil {
			e.take(e.segmenter.Flush())
			e.endRecording()
			p.note(e)
			return err
		}
		e.hear(block)
		p.note(e)
	}
}

// hear takes the next block.
func (e *ears) hear(b capture.Block) {
	missing := int(b.Missing)
	switch {
	case e.muted.Load():
		e.first = false
		e.skip("muted", missing+len(b.Samples))
	case missing > shortGap:
		e.skip("gap", missing)
	case missing > 0:
		e.lack("gap", missing)
		e.feed(make([]float32, missing))
	default:
		e.fill()
		e.feed(b.Samples)
	}
	if _, speaking := e.segmenter.Open(); !speaking && e.recording != nil && e.heard-e.spokenAt > samplesIn(e.opts.Apart) {
		e.endRecording()
	}
}

// skip leaves out what was not heard. What was said before is at its end.
func (e *ears) skip(kind string, samples int) {
	e.take(e.segmenter.Flush())
	e.lack(kind, samples)
	e.heard += samples
	e.zero = e.heard
}

// lack takes note that so many samples, from here on, were not heard.
func (e *ears) lack(kind string, samples int) {
	if e.hole.kind != kind {
		e.fill()
		e.hole = hole{kind: kind, from: e.heard}
	}
	e.hole.to = e.heard + samples
}

// fill stores the hole, which is over: one event, however long it was.
func (e *ears) fill() {
	h := e.hole
	e.hole = hole{}
	if h.kind == "" || e.recording == nil {
		return
	}
	e.queue.put(job{recording: e.recording, event: &store.Event{
		Kind: h.kind, At: e.place(h.from), Until: e.place(h.to), Wall: e.wall(h.from), Amount: int64(h.to - h.from),
	}})
}

// feed listens to samples.
func (e *ears) feed(samples []float32) {
	e.heard += len(samples)
	e.take(e.segmenter.Feed(samples))
	if open, ok := e.segmenter.Open(); ok {
		e.spokenAt = e.zero + open.Spoken
		e.peek(open)
	}
}

// take deals with what the segmenter found.
func (e *ears) take(events []vad.Event) {
	for _, v := range events {
		if !v.Ended {
			e.begin(e.zero + v.Start)
			e.asked, e.ahead = e.zero+v.Start, -1
			continue
		}
		u := e.utterance(v.Segment)
		u.decided = time.Now()
		e.spokenAt = u.end
		e.queue.put(job{recording: u.recording, utterance: u})
	}
}

// begin starts a recording if none goes on. The first one begins with the source.
func (e *ears) begin(at int) {
	if e.recording != nil {
		return
	}
	if e.first {
		at = 0
	}
	e.first, e.spokenAt = false, at
	e.recording = &recording{began: at, wall: e.wall(at)}
}

func (e *ears) endRecording() {
	e.fill()
	if e.recording != nil {
		e.queue.put(job{recording: e.recording, end: max(1, e.place(e.heard))})
		e.recording = nil
	}
}

// peek asks for the text of what is not said to its end.
func (e *ears) peek(open vad.Segment) {
	spoken, now := e.zero+open.Spoken, e.heard
	switch {
	case now-spoken >= samplesIn(e.opts.Ahead):
		if e.ahead != spoken {
			e.ahead, e.asked = spoken, now
			e.queue.ask(&request{utterance: e.utterance(open), quiet: true})
		}
	case e.opts.Captions > 0 && open.Spoken == open.End && now-e.asked >= samplesIn(e.opts.Captions) && e.ladder.captions() && e.queue.idle():
		e.asked = now
		e.queue.ask(&request{utterance: e.utterance(open)})
	}
}

// utterance is a segment with a copy of its samples.
func (e *ears) utterance(s vad.Segment) *utterance {
	return &utterance{
		recording: e.recording,
		start:     e.zero + s.Start,
		end:       e.zero + s.End,
		spoken:    e.zero + s.Spoken,
		wall:      e.said(e.zero + s.Start),
		samples:   slices.Clone(s.Samples),
	}
}

// place is a position in the recording that goes on.
func (e *ears) place(at int) time.Duration { return e.recording.place(at) }

// wall is what the wall clock showed at a position.
func (e *ears) wall(at int) time.Time { return e.opts.Now().Add(-timeOf(e.heard - at)) }

// said is when somebody spoke there, by the wall clock; zero where nobody knows.
func (e *ears) said(at int) time.Time {
	if e.unpaced {
		return time.Time{}
	}
	return e.wall(at)
}
