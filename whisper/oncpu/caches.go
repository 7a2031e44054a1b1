package oncpu

import (
	"runtime"
	"slices"

	"earshot/cpu"
	"earshot/whisper"
)

// Caches are kept from window to window, since a large model's are tens of
// megabytes, and from beam to beam.

// newAudio returns an audio with room for so many positions, and not for many more: a
// free one, if one is like that. The other free ones go, so that there is never more than
// what is in use at a time.
func (d *Decoder) newAudio(positions int) *audio {
	free := d.freeAudios
	d.freeAudios = nil
	for _, a := range free {
		if n := a.capacity(); n >= positions && n <= positions+positions/4+cacheStep {
			a.positions = positions
			return a
		}
	}
	if len(free) > 0 {
		// Megabytes that are to be had again at once: what is allocated while the collector
		// works of itself would come on top of them (4 MB of tiny.en's peak).
		clear(free)
		runtime.GC()
	}
	return &audio{positions: positions, caches: d.newCrossCaches(positions)}
}

// release keeps the caches of a session that ends for another one. No more is kept than
// one window and half the longest text take, however much was in use at a time: a beam
// has a cache for each text, and a batch for each window.
func (d *Decoder) release(audios []*audio, sequences []*sequence) {
	d.freeAudios = newest(append(d.freeAudios, audios...), d.dims.AudioCtx, (*audio).capacity)
	d.freeSequences = newest(append(d.freeSequences, sequences...), d.dims.TextCtx/2, (*sequence).capacity)
}

// newest is the end of a list, as far as that is no more than so many positions, or one
// element.
func newest[T any](list []T, positions int, capacity func(T) int) []T {
	from := len(list)
	for from > 0 {
		positions -= capacity(list[from-1])
		if positions <= -cacheStep && from < len(list) {
			break
		}
		from--
	}
	return slices.Delete(list, 0, from)
}

// cacheStep is what cpu.NewKVCache rounds up to.
const cacheStep = 16

func (a *audio) capacity() int { return a.caches[0].Capacity() }

func (s *sequence) capacity() int {
	if len(s.caches) == 0 {
		return 0
	}
	return s.caches[0].Capacity()
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

// newCaches returns an empty cache for each layer's self-attention.
func (d *Decoder) newCaches(positions int) []*cpu.KVCache {
	caches := make([]*cpu.KVCache, len(d.blocks))
	for i := range caches {
		caches[i] = cpu.NewKVCache(d.dims.TextHeads, d.dims.TextState/d.dims.TextHeads, positions)
	}
	return caches
}

// newCrossCaches returns an empty cache for each layer's cross-attention. These hold most
// of what a decoder has in memory and are read whole for every token: behind a matrix of
// bytes, half precision is enough.
func (d *Decoder) newCrossCaches(positions int) []*cpu.KVCache {
	caches := make([]*cpu.KVCache, len(d.blocks))
	for i := range caches {
		newCache := cpu.NewKVCache
		if d.blocks[i].cross.kv.weight.i8 != nil {
			newCache = cpu.NewKVCacheF16
		}
		caches[i] = newCache(d.dims.TextHeads, d.dims.TextState/d.dims.TextHeads, positions)
	}
	return caches
}

// hold lets a sequence forget its tokens from position at on and makes room for n
// new ones. Room comes in steps: most utterances need a fraction of the 448 positions,
// large models have many caches, and copying one is nothing beside a step's work.
func (d *Decoder) hold(s *sequence, at, n int) {
	held := s.caches
	s.length = at + n
	if s.capacity() < s.length {
		s.caches = d.newCaches(min(d.dims.TextCtx, (s.length+textStep-1)/textStep*textStep))
		for i, c := range held {
			s.caches[i].CopyFrom(c, at)
		}
	}
}

const textStep = 64 // positions

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
