//go:build cgo && (amd64 || arm64)

package cpu

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestPoolLeavesGo sees that other goroutines run while all threads compute.
func TestPoolLeavesGo(t *testing.T) {
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
