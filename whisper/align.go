package whisper

import (
	"math"
	"slices"
)

// alignTokens gives each of n text tokens the encoder position at which it starts,
// and the position at which the last one ends: n+1 positions that never fall.
//
// rows[i] holds the alignment heads' weights with which token i was chosen for the
// positions that hold audio, [heads, used], and rows[n] those behind the last token. The
// method is that of timing.py in the reference
// implementation: per head the weights are normalised over the tokens and median
// filtered over time, the heads are averaged, and dynamic time warping finds the
// monotone path with the most weight.
func alignTokens(rows [][]float32, used int) []int {
	heads := len(rows[0]) / used
	mean := make([]float64, len(rows)*used) // [rows, used]
	head := make([]float64, len(rows)*used)
	for h := range heads {
		for r, row := range rows {
			crop(head[r*used:(r+1)*used], row[h*used:(h+1)*used])
		}
		standardise(head, len(rows), used)
		for r := range rows {
			addMedian(mean[r*used:(r+1)*used], head[r*used:(r+1)*used])
		}
	}
	return warp(mean, len(rows), used)
}

// crop copies softmax weights over the audio alone, scaled to sum to 1 again.
func crop(dst []float64, weights []float32) {
	var sum float64
	for _, w := range weights {
		sum += float64(w)
	}
	for i, w := range weights {
		dst[i] = float64(w) / math.Max(sum, 1e-30)
	}
}

// standardise gives each column of x [rows, columns] mean 0 and deviation 1.
func standardise(x []float64, rows, columns int) {
	for c := range columns {
		var mean, square float64
		for r := range rows {
			mean += x[r*columns+c]
		}
		mean /= float64(rows)
		for r := range rows {
			d := x[r*columns+c] - mean
			square += d * d
		}
		scale := 1 / math.Max(math.Sqrt(square/float64(rows)), 1e-12)
		for r := range rows {
			x[r*columns+c] = (x[r*columns+c] - mean) * scale
		}
	}
}

// medianWidth is the reference's medfilt_width, in encoder positions.
const medianWidth = 7

// addMedian adds the running median of x, mirrored at its ends, to dst. The window is
// kept in order: one value leaves it and one comes in at each step, which takes a
// fifth of the time of sorting it.
func addMedian(dst, x []float64) {
	const half = medianWidth / 2
	at := func(i int) float64 {
		if i < 0 {
			i = -i
		}
		if i >= len(x) {
			i = 2*(len(x)-1) - i
		}
		return x[min(max(i, 0), len(x)-1)]
	}
	var window [medianWidth]float64
	for j := range window {
		window[j] = at(j - half)
	}
	slices.Sort(window[:])
	for i := range x {
		dst[i] += window[half]
		slide(&window, at(i-half), at(i+half+1))
	}
}

// slide replaces old by v in a window in order.
func slide(window *[medianWidth]float64, old, v float64) {
	j := 0
	for j < medianWidth-1 && window[j] != old {
		j++
	}
	for ; j > 0 && window[j-1] > v; j-- {
		window[j] = window[j-1]
	}
	for ; j < medianWidth-1 && window[j+1] < v; j++ {
		window[j] = window[j+1]
	}
	window[j] = v
}

// warp returns, for each row of x [rows, columns], the first column of the monotone
// path from the first to the last cell along which the sum is largest (dtw_cpu in
// timing.py).
func warp(x []float64, rows, columns int) []int {
	const diagonal, down, right = 0, 1, 2
	width := columns + 1
	cost := make([]float64, width)
	previous := make([]float64, width)
	steps := make([]uint8, (rows+1)*width)
	for j := 1; j < width; j++ {
		previous[j] = math.Inf(1)
	}
	for i := 1; i <= rows; i++ {
		cost[0] = math.Inf(1)
		for j := 1; j < width; j++ {
			best, step := previous[j-1], uint8(diagonal)
			if c := previous[j]; c < best {
				best, step = c, down
			}
			if c := cost[j-1]; c < best {
				best, step = c, right
			}
			cost[j] = best - x[(i-1)*columns+j-1]
			steps[i*width+j] = step
		}
		cost, previous = previous, cost
	}
	first := make([]int, rows)
	for i, j := rows, columns; i > 0 && j > 0; {
		first[i-1] = j - 1
		switch steps[i*width+j] {
		case diagonal:
			i, j = i-1, j-1
		case down:
			i--
		default:
			j--
		}
	}
	return first
}
