package mel

// Stream computes log-mel of a waveform as its samples arrive. It holds 0.2 s of
// samples, however long the waveform is and however much of it comes at once.
type Stream struct {
	e       *Extractor
	buf     []float32 // samples first … first+len(buf) of the waveform
	first   int
	samples int // how many have come
	frames  int // how many have been yielded
}

// bufferSamples lets a few frames come out of the buffer between two moves of what
// is left.
const bufferSamples = 8 * window

// Stream starts a waveform at its first sample.
func (e *Extractor) Stream() *Stream {
	return &Stream{e: e, buf: make([]float32, 0, bufferSamples)}
}

// Write takes the next samples, 16 kHz mono, and appends to dst the frames that are
// complete now: unclamped log-mel, [frames, M] row-major. Frame t is complete with
// sample 160·t + 199, the first one with sample 200.
func (s *Stream) Write(dst, samples []float32) []float32 {
	for len(samples) > 0 {
		n := min(len(samples), cap(s.buf)-len(s.buf))
		s.buf = append(s.buf, samples[:n]...)
		s.samples += n
		samples = samples[n:]
		dst = s.yield(dst, endless)
	}
	return dst
}

// Finish ends the waveform, which is padded with zeros to whole hops, and appends
// its last frames to dst: with those yielded before there are Frames(n) after n
// samples. The Stream then starts a new waveform.
func (s *Stream) Finish(dst []float32) []float32 {
	dst = s.yield(dst, Frames(s.samples)*Hop)
	s.buf = s.buf[:0]
	s.first, s.samples, s.frames = 0, 0, 0
	return dst
}

// yield appends the frames that can be computed, with the end of the waveform at
// total, and drops the samples that no later frame needs.
func (s *Stream) yield(dst []float32, total int) []float32 {
	w := waveform{samples: s.buf, first: s.first, total: total}
	complete := s.complete()
	if total < endless {
		complete = total / Hop
	}
	dst = s.e.appendFrames(dst, w, s.frames, complete)
	s.frames = complete
	if unneeded := s.frames*Hop - reach - s.first; unneeded > 0 && total == endless {
		s.buf = append(s.buf[:0], s.buf[unneeded:]...)
		s.first += unneeded
	}
	return dst
}

// complete is the number of frames whose samples have come. The first frame reflects
// the start, sample 200 included.
func (s *Stream) complete() int {
	if s.samples <= reach {
		return 0
	}
	return (s.samples-reach)/Hop + 1
}
