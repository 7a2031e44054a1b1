package capture

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// TestRing writes and reads at random, and compares with what must come out.
func TestRing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := newRing(1000)
	next := float32(0) // the value that stands at each position is its number
	wantMissing := int64(0)
	pos, missing, heard := int64(0), int64(0), int64(0)
	read := func() {
		b, ok, err := r.next()
		if err != nil || !ok {
			return
		}
		if b.Pos != pos {
			t.Fatalf("a block at %d, want %d", b.Pos, pos)
		}
		for i, s := range b.Samples {
			if s != float32(pos+int64(i)) {
				t.Fatalf("the sample at %d is that of %g", pos+int64(i), s)
			}
		}
		pos += int64(len(b.Samples)) + b.Missing
		heard += int64(len(b.Samples))
		missing += b.Missing
	}
	for range 20000 {
		switch random.IntN(4) {
		case 0, 1:
			block := make([]float32, 1+random.IntN(300))
			for i := range block {
				block[i] = next + float32(i)
			}
			next += float32(len(block))
			r.write(block)
		case 2:
			n := random.IntN(3) * random.IntN(500)
			r.miss(int64(n))
			next += float32(n)
			wantMissing += int64(n)
		default:
			for range random.IntN(6) {
				read()
			}
		}
		if next > 1<<23 { // float32 counts no further
			break
		}
	}
	for range 2 * maxMarks {
		read()
	}
	end, lost := r.written()
	if pos != end || int64(next) != end || missing != lost || heard+missing != end || missing < wantMissing {
		t.Errorf("read up to %d with %d missing, written %d with %d missing", pos, missing, end, lost)
	}
}

// More gaps than the ring tells apart swallow what lies between the last ones.
func TestRingManyGaps(t *testing.T) {
	r := newRing(1000)
	for range 3 * maxMarks {
		r.write([]float32{1})
		r.miss(2)
	}
	total, heard := int64(0), 0
	for {
		b, ok, _ := r.next()
		if !ok {
			break
		}
		if b.Pos != total {
			t.Fatalf("a block at %d, want %d", b.Pos, total)
		}
		total += int64(len(b.Samples)) + b.Missing
		heard += len(b.Samples)
	}
	if total != 9*maxMarks || heard != maxMarks || r.held != 0 {
		t.Errorf("%d in all, %d heard, %d left", total, heard, r.held)
	}
}

func TestRingEnd(t *testing.T) {
	r := newRing(100)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := r.read(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("reading nothing: %v", err)
	}
	r.write([]float32{1, 2})
	r.finish(io.EOF)
	if b, err := r.read(t.Context()); err != nil || len(b.Samples) != 2 {
		t.Errorf("the last block: %+v, %v", b, err)
	}
	for range 2 {
		if _, err := r.read(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("behind the end: %v", err)
		}
	}
}

// The clock of a device that runs for a century.
func TestDuration(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	if n := samples(century); n != 100*365*24*3600*16000 || duration(n) != century {
		t.Errorf("%d samples, %v", n, duration(n))
	}
}
