package cpu

import "math"

// largestI8Generic defines [Pool.LargestI8].
func largestI8Generic(p *Pool, dst []float32, ldd int, x []float32, ldx, m int, w *SplitI8, margin float32) {
	quantizeI8Generic(p.a, p.aScales, x, ldx, m, w.k)
	stride, pairs := StrideI8(w.k), ceilDiv(w.n, pairRows)
	row := func(i int) (a []int8, scale float32, sum int32) {
		a = p.a[i*stride : (i+1)*stride]
		for _, v := range a {
			sum += int32(v)
		}
		return a, p.aScales[i], sum
	}
	p.share(pairs, m*w.n*w.k, func(pair int) {
		from := pair * pairRows
		for i := range m {
			a, scale, sum := row(i)
			top := float32(math.Inf(-1))
			for j := from; j < min(from+pairRows, w.n); j++ {
				twice := 32*w.nibbleSum(w.high, j, a) - 241*sum
				v := float32(twice) * float32(0.5*scale*w.scales[j])
				if dst[i*ldd+j] = v; v > top {
					top = v
				}
			}
			p.tops[i*pairs+pair] = top
		}
	})
	for i := range m {
		tops := p.tops[i*pairs : (i+1)*pairs]
		top := float32(math.Inf(-1))
		for _, v := range tops {
			top = max(top, v)
		}
		a, scale, sum := row(i)
		for pair, v := range tops {
			if !(v >= top-margin) {
				continue
			}
			for j := pair * pairRows; j < min((pair+1)*pairRows, w.n); j++ {
				exact := 16*w.nibbleSum(w.high, j, a) + w.nibbleSum(w.low, j, a) - 128*sum
				dst[i*ldd+j] = float32(exact) * float32(scale*w.scales[j])
			}
		}
	}
}

// nibbleSum is Σ_c a[c]·u[j,c] over the nibbles u of a plane's row j.
func (p *SplitI8) nibbleSum(plane []int8, j int, a []int8) int32 {
	at, shift := p.place(j, 0)
	var sum int32
	for c := 0; c < len(a); c += groupI8 {
		for g, v := range (*[groupI8]int8)(a[c:]) {
			sum += int32(v) * int32(uint8(plane[at+g])>>shift&15)
		}
		at += panelRows * groupI8
	}
	return sum
}
