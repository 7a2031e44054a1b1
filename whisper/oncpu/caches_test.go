package oncpu

import (
	"strings"
	"testing"

	"earshot/cpu"
	"earshot/whisper"
)

// TestCachesKept sees that what is kept for later windows fits, and does not grow with
// what was in use at a time.
func TestCachesKept(t *testing.T) {
	d := &Decoder{dims: whisper.Dims{AudioCtx: 1500, TextCtx: 448, TextState: 64, TextHeads: 1}, blocks: make([]decoderBlock, 1), pool: cpu.NewPool(1)}
	defer d.pool.Close()
	for _, c := range []struct {
		name string
		used []int
		kept int // positions
	}{
		{"three", []int{400, 800, 160}, 1360},
		{"smaller ones", []int{100, 300, 700}, 1120},
		{"too many", []int{800, 800, 800}, 800},
		{"larger than all", []int{1500}, 1504},
		{"many", []int{1500, 1500, 1500, 1500, 20}, 32},
	} {
		var audios []*audio
		var sequences []*sequence
		for _, n := range c.used {
			a := d.newAudio(n)
			q := d.newSequence(a, nil)
			d.hold(q, 0, n/4)
			if a.capacity() < n || q.capacity() < n/4 {
				t.Errorf("%s: room for %d of %d and %d of %d positions", c.name, a.capacity(), n, q.capacity(), n/4)
			}
			audios, sequences = append(audios, a), append(sequences, q)
		}
		d.release(audios, sequences)
		kept, texts := 0, 0
		for _, a := range d.freeAudios {
			kept += a.capacity()
		}
		for _, q := range d.freeSequences {
			texts += q.capacity()
		}
		if kept != c.kept || texts > 224+16 && len(d.freeSequences) > 1 {
			t.Errorf("%s: %d positions of %d audios kept, want %d; %d of %d texts", c.name, kept, len(d.freeAudios), c.kept, texts, len(d.freeSequences))
		}
	}
}

// TestCachesFit sees that a window gets no cache much larger than itself, and that those
// which do not fit go.
func TestCachesFit(t *testing.T) {
	d := &Decoder{dims: whisper.Dims{AudioCtx: 1500, TextCtx: 448, TextState: 64, TextHeads: 1}, blocks: make([]decoderBlock, 1)}
	for positions, want := range map[int]int{800: 800, 640: 800, 600: 608, 804: 816, 100: 112} {
		d.freeAudios = nil
		d.release([]*audio{d.newAudio(400), d.newAudio(800)}, nil)
		if got := d.newAudio(positions).capacity(); got != want || len(d.freeAudios) > 0 {
			t.Errorf("%d positions: got room for %d, want %d; %d others kept", positions, got, want, len(d.freeAudios))
		}
	}
}

// TestCrossCaches sees that half precision is for what bytes are multiplied for.
func TestCrossCaches(t *testing.T) {
	d := &Decoder{dims: whisper.Dims{TextState: 64, TextHeads: 1}, blocks: make([]decoderBlock, 1)}
	weight := &d.blocks[0].cross.kv.weight
	for want, m := range map[string]matrix{"float16": {i8: cpu.PackI8(make([]float32, 16), 4, 4)}, "float32": {f32: cpu.NewPackedF32(4, 4)}} {
		*weight = m
		if got := d.newCrossCaches(20)[0].String(); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		if got := d.newCaches(20)[0].String(); !strings.Contains(got, "float32") {
			t.Errorf("%s for self-attention", got)
		}
	}
}
