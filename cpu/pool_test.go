package cpu

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// newPool returns a pool that is closed when the test ends.
func newPool(t testing.TB, threads int) *Pool {
	p := NewPool(threads)
	t.Cleanup(p.Close)
	return p
}

// TestPool sees every index of a loop run once, whatever the length, with helpers
// that are awake and with ones that sleep.
func TestPool(t *testing.T) {
	for threads := 1; threads <= 5; threads++ {
		p := newPool(t, threads)
		if p.Threads() != threads {
			t.Errorf("Threads() = %d, want %d", p.Threads(), threads)
		}
		for n := range 40 {
			for round := range 20 {
				if round == 10 {
					time.Sleep(200 * time.Microsecond)
				}
				checkProbe(t, p, n, n%4*100)
			}
		}
	}
}

func checkProbe(t *testing.T, p *Pool, n, turns int) {
	t.Helper()
	hits := make([]int32, n)
	p.probe(hits, turns)
	for i, h := range hits {
		if h != 1 {
			t.Fatalf("%d threads, n %d: index %d ran %d times", p.Threads(), n, i, h)
		}
	}
}

// TestPoolCallers has several goroutines run loops on one pool.
func TestPoolCallers(t *testing.T) {
	p := newPool(t, 3)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				checkProbe(t, p, 10, 50)
			}
		})
	}
	wg.Wait()
}

// TestPoolOversubscribed has far more threads than processors at work: it must not
// take much longer than the work itself.
func TestPoolOversubscribed(t *testing.T) {
	const loops, turns = 300, 3000
	alone := newPool(t, 1)
	start := time.Now()
	for range loops {
		checkProbe(t, alone, 16, turns)
	}
	one := time.Since(start)

	start = time.Now()
	pools := 2 * runtime.NumCPU()
	var wg sync.WaitGroup
	for range pools {
		p := newPool(t, 4)
		wg.Go(func() {
			for range loops {
				checkProbe(t, p, 16, turns)
			}
		})
	}
	wg.Wait()
	all := time.Since(start)
	t.Logf("%v for one pool of 1 thread, %v for %d of 4", one, all, pools)
	if all > 10*time.Duration(pools)*one {
		t.Errorf("%d pools take %v, one %v", pools, all, one)
	}
}

// TestPoolLeavesGo sees that other goroutines run while all threads compute.
func TestPoolLeavesGo(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("one processor")
	}
	p := newPool(t, runtime.NumCPU())
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				checkProbe(t, p, 64, 20_000)
			}
		}
	})
	ticks, late := 0, time.Duration(0)
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; ticks++ {
		before := time.Now()
		time.Sleep(time.Millisecond)
		late = max(late, time.Since(before)-time.Millisecond)
	}
	close(stop)
	wg.Wait()
	t.Logf("%d ticks of 1 ms in 300 ms, the worst %v late", ticks, late)
	if ticks < 30 {
		t.Errorf("%d ticks", ticks)
	}
}

func TestPoolClosed(t *testing.T) {
	before := runtime.NumGoroutine()
	p := NewPool(4)
	checkProbe(t, p, 20, 10)
	p.Close()
	p.Close()
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	defer func() {
		if recover() == nil {
			t.Error("a loop on a closed pool does not panic")
		}
	}()
	p.GeluF32(make([]float32, 3))
}

func TestPoolBound(t *testing.T) {
	cpus := Cores()
	p := NewPool(3, cpus[:1]...)
	defer p.Close()
	for range 100 {
		checkProbe(t, p, 20, 10)
	}
}

func TestPoolGemmF32(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, s := range [][3]int{
			{0, 5, 5}, {3, 0, 5}, {200, 5, 0}, {1, 1, 1}, {1, 3001, 400}, {2, 700, 999}, {7, 1000, 257}, {97, 513, 170}, {300, 129, 64}, {500, 16, 600},
		} {
			product := newProduct(4, s[0], s[1], s[2], true)
			want := product.run(t, GemmF32)
			for threads := 1; threads <= 4; threads++ {
				p := newPool(t, threads)
				if got := product.run(t, p.GemmF32); !slices.Equal(got, want) {
					t.Errorf("%v: differs on %d threads", product, threads)
				}
			}
		}
	})
}

// TestPoolRows compares the row kernels on several threads with one row at a time.
func TestPoolRows(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		p := newPool(t, 3)
		r := rand.New(rand.NewPCG(1, 7))
		for _, rows := range []int{0, 1, 3, 50, 333} {
			for _, d := range []int{1, 17, 384} {
				x, y, gamma, beta := make([]float32, rows*d), make([]float32, rows*d), make([]float32, d), make([]float32, d)
				for _, v := range [][]float32{x, y, gamma, beta} {
					normals(r, v, 2)
				}
				for name, f := range map[string]struct{ all, row func(dst, x []float32) }{
					"layer norm": {func(dst, x []float32) { p.LayerNormF32(dst, x, gamma, beta) }, func(dst, x []float32) { LayerNormF32(dst, x, gamma, beta) }},
					"gelu":       {func(dst, _ []float32) { p.GeluF32(dst) }, func(dst, _ []float32) { GeluF32(dst) }},
					"add":        {p.AddF32, AddF32},
				} {
					got := inPlace([][]float32{y, x}, 1, func(r [][]float32) { f.all(r[0], r[1]) })
					want := inPlace([][]float32{y, x}, 1, func(r [][]float32) {
						for i := range rows {
							f.row(r[0][i*d:(i+1)*d], r[1][i*d:(i+1)*d])
						}
					})
					compare(t, fmt.Sprintf("%s of %d×%d", name, rows, d), got, want, 0)
				}
			}
		}
	})
}

// best is the time of the fastest run of f, in seconds.
func best(b *testing.B, f func()) float64 {
	least := time.Hour
	for b.Loop() {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	b.ReportMetric(0, "ns/op")
	return least.Seconds()
}

// BenchmarkPool is the cost of a loop on threads that are awake, beside nothing to
// do and beside some work an index. The best run counts.
func BenchmarkPool(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, turns := range []int{0, 1000, 10_000} {
			b.Run(fmt.Sprintf("turns=%d/threads=%d", turns, threads), func(b *testing.B) {
				p := newPool(b, threads)
				hits := make([]int32, 2)
				seconds := best(b, func() {
					for range 10 {
						p.probe(hits, turns)
					}
				})
				b.ReportMetric(seconds*1e9/10, "ns/loop")
			})
		}
	}
}
