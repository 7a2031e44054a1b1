package cpu

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func TestPoolRun(t *testing.T) {
	for threads := 1; threads <= 5; threads++ {
		p := NewPool(threads)
		defer p.Close()
		if p.Threads() != threads {
			t.Errorf("Threads() = %d, want %d", p.Threads(), threads)
		}
		for n := range 40 {
			for range 20 {
				calls := make([]int32, n)
				var inside, most atomic.Int32
				p.Run(n, func(i int) {
					now := inside.Add(1)
					for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
					}
					atomic.AddInt32(&calls[i], 1)
					inside.Add(-1)
				})
				for i, c := range calls {
					if c != 1 {
						t.Fatalf("%d threads, n %d: body(%d) called %d times", threads, n, i, c)
					}
				}
				if int(most.Load()) > threads {
					t.Fatalf("%d threads, but %d calls at once", threads, most.Load())
				}
			}
		}
	}
}

// TestPoolCallers has several goroutines run loops on one pool.
func TestPoolCallers(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				var sum atomic.Int64
				p.Run(10, func(i int) { sum.Add(int64(i)) })
				if sum.Load() != 45 {
					t.Errorf("sum %d, want 45", sum.Load())
				}
			}
		})
	}
	wg.Wait()
}

func TestPoolGemmF32(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, s := range [][3]int{
			{0, 5, 5}, {3, 0, 5}, {200, 5, 0}, {1, 1, 1}, {1, 3001, 400}, {2, 700, 999}, {7, 1000, 257}, {97, 513, 170}, {300, 129, 64}, {500, 16, 600},
		} {
			product := newProduct(4, s[0], s[1], s[2], true)
			want := product.run(t, GemmF32)
			for threads := 1; threads <= 4; threads++ {
				p := NewPool(threads)
				if rows, cols, _ := p.split(s[0], s[1], s[2]); threads > 1 && s[0]*s[1]*s[2] > 1<<20 && rows*cols < 2 {
					t.Errorf("%v: not split over %d threads", product, threads)
				}
				if got := product.run(t, p.GemmF32); !slices.Equal(got, want) {
					t.Errorf("%v: differs on %d threads", product, threads)
				}
				p.Close()
			}
		}
	})
}

// BenchmarkPoolRun is the cost of sharing a loop out, beside nothing to do and
// beside 20 µs of work per index.
func BenchmarkPoolRun(b *testing.B) {
	w, x := NewPackedF32(768, 384), make([]float32, 768)
	for _, threads := range []int{1, 2} {
		p := NewPool(threads)
		defer p.Close()
		b.Run(fmt.Sprintf("empty/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				p.Run(2, func(int) {})
			}
		})
		b.Run(fmt.Sprintf("20µs/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				p.Run(2, func(int) {
					var out [768]float32
					GemmF32(out[:], 768, x, 0, 1, w, 768, 384, nil)
				})
			}
		})
	}
}
