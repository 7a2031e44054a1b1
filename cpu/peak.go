package cpu

import (
	"runtime"
	"sync"
	"time"
)

// MeasurePeakF32 returns how many float32 operations a second the tier's
// multiply-add does at most, on so many threads at once: the loop works on
// registers alone. A multiply-add counts as two operations. It takes a quarter of a second.
func MeasurePeakF32(threads int) float64 {
	return measurePeak(threads, func(int) int { return active.peakF32(peakTurns) })
}

// MeasurePeakI8 is MeasurePeakF32 for products of bytes that are summed in 32 bits,
// with the instructions that the tier has for that.
func MeasurePeakI8(threads int) float64 {
	return measurePeak(threads, func(int) int { return active.peakI8(peakTurns) })
}

// MeasurePeakRead returns how many bytes a second so many threads read from memory
// at most, each its own part of readBytes, front to back.
func MeasurePeakRead(threads int) float64 {
	data := make([]float32, readBytes/4)
	for i := range data {
		data[i] = 1 // a page that was never written is the same for all
	}
	size := len(data) / threads / readStep * readStep
	return measurePeak(threads, func(thread int) int {
		active.peakRead(data[thread*size : (thread+1)*size])
		return size * 4
	})
}

const (
	// peakTurns take a fraction of a millisecond.
	peakTurns = 20_000
	// readBytes are more than caches hold.
	readBytes = 256 << 20
	// readStep is what the length of a read is a multiple of: eight of the widest vectors.
	readStep = 8 * 16
)

const (
	peakRounds = 6
	peakTime   = 40 * time.Millisecond // of a round
)

// measurePeak returns the units of work a second that so many threads do together,
// in the best of several rounds. work does some of it and says how much.
func measurePeak(threads int, work func(thread int) int) float64 {
	best := 0.0
	for range peakRounds {
		var ready, done sync.WaitGroup
		rates := make([]float64, threads)
		ready.Add(threads)
		for thread := range threads {
			done.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				ready.Done()
				ready.Wait() // for all to begin at once
				start, units := time.Now(), 0
				for time.Since(start) < peakTime {
					units += work(thread)
				}
				rates[thread] = float64(units) / time.Since(start).Seconds()
			})
		}
		done.Wait()
		sum := 0.0
		for _, r := range rates {
			sum += r
		}
		best = max(best, sum)
	}
	return best
}
