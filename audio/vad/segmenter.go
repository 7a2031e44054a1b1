package vad

import (
	"slices"
)

// Segment is a stretch of a recording in which someone speaks: samples Start to
// End-1, 16 kHz mono.
type Segment struct {
	Start, End int
	Samples    []float32
	// Spoken is where the pause begins that the segment ends with, so far; End where
	// somebody speaks to the last.
	Spoken int
}

// Event is the begin of a segment, known once it has lasted for MinSpeech, or its end.
type Event struct {
	Ended   bool
	Segment // as far as it is known; Samples are valid until the next Feed or Flush
}

// Segmenter finds the segments of a recording whose samples come bit by bit. What it
// finds does not depend on how they are divided. It holds one segment in memory, and
// what it is given at a time.
//
// Segments do not overlap, and come in order. One that grows to Longest is cut in its
// last third, in the longest pause or else at the quietest moment; the next one then
// begins where it was cut.
type Segmenter struct {
	detector Detector
	opts     limits

	total int       // samples given so far
	buf   []float32 // those from base on, a multiple of ChunkSamples
	base  int
	probs []float32 // of the whole chunks in buf; 0 for background in a segment
	ahead []float32 // of chunks that the detector was asked about together

	behind background

	free  int // end of the last segment: none begins before it
	state state
	start int // of the segment, pre-roll included
	loud  int // its chunks that reach Threshold
	pause int // where the pause that it is in began, or -1
}

type state int

const (
	silent  state = iota
	perhaps       // speech of less than MinSpeech
	speech
)

// leadInChunks of zeros come in front of every recording. A detector that begins in
// the middle of a word takes it for noise: Silero finds 8 of 10 words of
// fsdd-8khz/*_theo_5.wav without, all 10 with half a second (2026-11-30).
const leadInChunks = 16

// NewSegmenter returns a Segmenter for recordings one after the other. The detector
// belongs to it from then on.
func NewSegmenter(d Detector, o Options) *Segmenter {
	s := &Segmenter{detector: d, opts: o.limits()}
	s.reset()
	return s
}

func (s *Segmenter) reset() {
	*s = Segmenter{detector: s.detector, opts: s.opts, buf: s.buf[:0], probs: s.probs[:0], ahead: s.ahead}
	s.behind.dropDB = s.opts.BackgroundDB
	s.detector.Reset()
	judge(s.detector, make([]float32, leadInChunks), make([]float32, leadInChunks*ChunkSamples))
}

// Feed takes the next samples, 16 kHz mono, and returns what became known with them.
func (s *Segmenter) Feed(samples []float32) []Event {
	s.forget()
	s.buf = append(s.buf, samples...)
	s.total += len(samples)
	return s.judge()
}

// Flush ends the recording and returns what was still open. The Segmenter is then
// ready for another one.
func (s *Segmenter) Flush() []Event {
	s.buf = append(s.buf, make([]float32, (ChunkSamples-len(s.buf)%ChunkSamples)%ChunkSamples)...)
	events := s.judge()
	if s.state == speech {
		events = append(events, s.ended(s.speechEnd()))
	}
	s.buf = nil // the events hold it
	s.reset()
	return events
}

// Open returns the segment that goes on, as far as it is known; ok is false when there
// is none. Nobody has spoken since Spoken. Samples are valid until the next Feed or Flush.
func (s *Segmenter) Open() (open Segment, ok bool) {
	if s.state != speech {
		return Segment{}, false
	}
	return s.segment(s.judged()), true
}

// judge asks the detector about every whole chunk that it has not seen yet.
func (s *Segmenter) judge() (events []Event) {
	from, to := len(s.probs), len(s.buf)/ChunkSamples
	s.ahead = slices.Grow(s.ahead[:0], to-from)[:to-from]
	judge(s.detector, s.ahead, s.buf[from*ChunkSamples:to*ChunkSamples])
	for i, p := range s.ahead {
		// In silence the detector alone decides: who is as quiet as the background is heard.
		h := heard{p, p < s.opts.EndThreshold, s.state != silent && s.pause >= 0}
		if s.behind.follow(chunkAt(s.buf, from+i), h) && s.state != silent {
			p = 0
			if s.pause < 0 {
				s.pause = max(s.start, s.judged()-(presenceChunks-1)*ChunkSamples)
			}
		}
		s.probs = append(s.probs, p)
		events = s.advance(events, p)
	}
	return events
}

// advance takes in the probability of the chunk that ends at judged().
func (s *Segmenter) advance(events []Event, p float32) []Event {
	from := s.judged() - ChunkSamples
	switch {
	case p >= s.opts.Threshold:
		if s.state == silent {
			s.state, s.loud = perhaps, 0
			s.start = max(s.free, from-s.opts.preRoll)
		}
		s.loud++
		s.pause = -1
	case s.state != silent && s.pause < 0 && p < s.opts.EndThreshold:
		s.pause = from
	}
	if s.state == perhaps && s.loud*ChunkSamples >= s.opts.minSpeech {
		s.state = speech
		events = append(events, s.begun())
	}
	switch {
	case s.state == silent:
	case s.pause >= 0 && s.judged()-s.pause >= s.opts.minSilence:
		events = s.end(events)
	case s.judged()-s.start >= s.opts.longest:
		events = s.cut(events)
	}
	return events
}

// end closes the segment at its pause; too little speech is forgotten.
func (s *Segmenter) end(events []Event) []Event {
	if s.state == speech {
		s.free = s.speechEnd()
		events = append(events, s.ended(s.free))
	}
	s.state = silent
	return events
}

// cut closes the segment because it is long enough. What is behind the cut begins
// another one, if it has speech. What is not known to be speech by then is forgotten.
func (s *Segmenter) cut(events []Event) []Event {
	if s.state == perhaps {
		s.state = silent
		return events
	}
	at := s.cutPoint()
	events = append(events, s.ended(at))
	s.free, s.start = at, at
	s.loud = 0
	for _, p := range s.probs[(at-s.base)/ChunkSamples:] {
		if p >= s.opts.Threshold {
			s.loud++
		}
	}
	if s.loud == 0 || at == s.total {
		s.state = silent
		return events
	}
	if s.pause >= 0 {
		s.pause = max(s.pause, at)
	}
	return append(events, s.begun())
}

// cutPoint is the quietest moment of the longest pause in the last third of the
// longest segment, or of that third where there is no pause.
func (s *Segmenter) cutPoint() int {
	from, to := s.start+s.opts.longest*2/3, min(s.total, s.start+s.opts.longest)
	first, last := from, from // the longest pause
	for at, begin := from/ChunkSamples*ChunkSamples, -1; at < to; at += ChunkSamples {
		if s.probs[(at-s.base)/ChunkSamples] >= s.opts.EndThreshold {
			begin = -1
			continue
		}
		if begin < 0 {
			begin = max(at, from)
		}
		if end := min(at+ChunkSamples, to); end-begin > last-first {
			first, last = begin, end
		}
	}
	if first == last {
		last = to
	}
	return first + quietest(s.buf[first-s.base:last-s.base], 0)
}

// speechEnd is where the segment ends if nobody goes on speaking.
func (s *Segmenter) speechEnd() int {
	end := min(s.total, s.start+s.opts.longest)
	if s.pause < 0 {
		return end
	}
	return min(end, s.pause+s.opts.trail)
}

// judged is the number of samples that the detector has seen.
func (s *Segmenter) judged() int { return s.base + len(s.probs)*ChunkSamples }

// segment is what has begun, up to end.
func (s *Segmenter) segment(end int) Segment {
	end = min(end, s.total)
	spoken := end
	if s.pause >= 0 {
		spoken = min(spoken, s.pause)
	}
	return Segment{s.start, end, s.buf[s.start-s.base : end-s.base], spoken}
}

func (s *Segmenter) begun() Event        { return Event{false, s.segment(s.judged())} }
func (s *Segmenter) ended(end int) Event { return Event{true, s.segment(end)} }

// forget drops the chunks in front of everything that may still be needed.
func (s *Segmenter) forget() {
	keep := s.start
	if s.state == silent {
		keep = max(s.free, s.judged()-s.opts.preRoll)
	}
	if n := (keep - s.base) / ChunkSamples; n > 0 {
		s.base += n * ChunkSamples
		s.buf = s.buf[:copy(s.buf, s.buf[n*ChunkSamples:])]
		s.probs = s.probs[:copy(s.probs, s.probs[n:])]
	}
}
