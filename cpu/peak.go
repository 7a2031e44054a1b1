package cpu

import "time"

// Peak measures the most operations per second, multiplications and additions
// counted apart, that the calling thread could do in float32 and in int8 products
// with all operands in registers: what [GemmF32] and [GemmI8] are to be compared
// with. It takes a few milliseconds; both are 0 in the generic tier.
func Peak() (f32, i8 float64) { return peak(active.peakF32), peak(active.peakI8) }

// peak returns the best of several short runs: others use the processor too.
func peak(loop func(x []float32, rounds int) int) float64 {
	const runs, rounds = 10, 20000
	if loop == nil {
		return 0
	}
	var best float64
	for range runs {
		x := []float32{1}
		start := time.Now()
		operations := loop(x, rounds)
		best = max(best, float64(operations)/time.Since(start).Seconds())
	}
	return best
}
