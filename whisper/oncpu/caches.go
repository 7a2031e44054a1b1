package oncpu

import (
	"earshot/cpu"
	"earshot/whisper"
)

// Caches are kept from window to window, since a large model's are tens of
// megabytes, and from beam to beam.

// newAudio returns an audio with room for so many positions.
func (d *Decoder) newAudio(positions int) *audio {
	a := pop(&d.freeAudios)
	if a == nil {
		a = &audio{}
	}
	a.positions = positions
	if len(a.caches) == 0 || a.caches[0].Capacity() < positions {
		a.caches = d.newCaches(positions)
	}
	return a
}

// newSequence returns an empty sequence.
func (d *Decoder) newSequence(a *audio, heads []whisper.Head) *sequence {
	s := pop(&d.freeSequences)
	if s == nil {
		s = &sequence{}
	}
	s.audio, s.heads, s.length = a, heads, 0
	return s
}

// newCaches returns an empty cache for each layer.
func (d *Decoder) newCaches(positions int) []*cpu.KVCache {
	caches := make([]*cpu.KVCache, len(d.blocks))
	for i := range caches {
		caches[i] = cpu.NewKVCache(d.dims.TextHeads, d.dims.TextState/d.dims.TextHeads, positions)
	}
	return caches
}

// hold lets a sequence forget its tokens from position at on and makes room for n new
// ones. Room is doubled: most utterances need a fraction of the 448 positions, and
// large models many caches.
func (d *Decoder) hold(s *sequence, at, n int) {
	held := s.caches
	s.length = at + n
	if len(held) == 0 || held[0].Capacity() < s.length {
		room := 64
		if len(held) > 0 {
			room = max(room, 2*held[0].Capacity())
		}
		s.caches = d.newCaches(min(d.dims.TextCtx, max(room, s.length)))
		for i, c := range held {
			s.caches[i].CopyFrom(c, at)
		}
	}
}

// clone returns a copy of s.
func (d *Decoder) clone(s *sequence) *sequence {
	c := d.newSequence(s.audio, s.heads)
	if s.length > 0 {
		d.hold(c, 0, s.caches[0].Capacity())
		c.length = s.length
		for i := range c.caches {
			c.caches[i].CopyFrom(s.caches[i], s.length)
		}
	}
	return c
}

// pop takes the last element off a list; it is nil where there is none.
func pop[T any](list *[]*T) *T {
	n := len(*list)
	if n == 0 {
		return nil
	}
	last := (*list)[n-1]
	*list = (*list)[:n-1]
	return last
}
