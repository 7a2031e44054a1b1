package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// productI8 is one call of GemmI8 with what surrounds its operands: poison around
// dst, 99 in the padding of A, NaN behind scales and bias.
type productI8 struct {
	m, n, k, ldd  int
	a             []int8
	aScales, bias []float32
	w             *PackedI8
}

func newProductI8(seed uint64, m, n, k int, bias bool) *productI8 {
	r := rand.New(rand.NewPCG(seed, uint64(m*n*k)))
	p := &productI8{m: m, n: n, k: k, ldd: n + 3}
	w := make([]float32, n*k)
	normals(r, w, 0.1)
	p.w = PackI8(w, n, k)
	stride := StrideI8(k)
	p.a = make([]int8, m*stride)
	for i := range p.a {
		p.a[i] = 99
		if i%stride < k {
			p.a[i] = int8(r.IntN(255) - 127)
		}
	}
	p.aScales = append(make([]float32, m, m+1), nan)[:m]
	normals(r, p.aScales, 0.01)
	if bias {
		p.bias = make([]float32, n, n+40)
		normals(r, p.bias, 1)
		for i := n; i < cap(p.bias); i++ {
			p.bias[:cap(p.bias)][i] = nan
		}
	}
	return p
}

// run computes the product and checks the poison. The bytes of A lie at an offset.
func (p *productI8) run(t *testing.T, offset int) []float32 {
	t.Helper()
	dst := make([]float32, 8+p.m*p.ldd+8)
	for i := range dst {
		dst[i] = poison
	}
	a := append(make([]int8, offset), p.a...)[offset:]
	GemmI8(dst[8:], p.ldd, a, p.aScales, p.m, p.w, p.bias)
	for i, v := range dst {
		inside := i >= 8 && i < 8+p.m*p.ldd && (i-8)%p.ldd < p.n
		if !inside && v != poison {
			t.Fatalf("%v: wrote %v beside dst, at %d", p, v, i-8)
		}
	}
	return dst[8 : 8+p.m*p.ldd]
}

func (p *productI8) String() string {
	return fmt.Sprintf("m %d, n %d, k %d, bias %v", p.m, p.n, p.k, p.bias != nil)
}

// at is the byte W[i,j].
func (p *PackedI8) at(i, j int) int8 {
	return p.data[((i/16*StrideI8(p.k)/4+j/4)*16+i%16)*4+j%4]
}

// want is the product by the equation.
func (p *productI8) want(i, j int) float32 {
	var sum int
	for c := range p.k {
		sum += int(p.a[i*StrideI8(p.k)+c]) * int(p.w.at(j, c))
	}
	v := float32(float32(sum) * float32(p.aScales[i]*p.w.scales[j]))
	if p.bias != nil {
		v += p.bias[j]
	}
	return v
}

func (p *productI8) check(t *testing.T, got []float32) {
	t.Helper()
	for i := range p.m {
		for j := range p.n {
			if g, want := got[i*p.ldd+j], p.want(i, j); g != want {
				t.Fatalf("%v: row %d, column %d is %v, want %v", p, i, j, g, want)
			}
		}
	}
}

func TestGemmI8(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for m := range 15 {
			for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 64, 65, 79, 129} {
				for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 129} {
					p := newProductI8(1, m, n, k, (m+n+k)%2 == 0)
					p.check(t, p.run(t, (m+n)%4))
				}
			}
		}
		for k := range 130 {
			p := newProductI8(2, 5, 19, k, true)
			p.check(t, p.run(t, k%7))
		}
		for _, s := range [][3]int{{97, 33, 1030}, {261, 18, 512}, {135, 65, 64}} {
			p := newProductI8(3, s[0], s[1], s[2], true)
			p.check(t, p.run(t, 1))
		}
	})
}

// TestGemmI8Extremes has the largest sums: all bytes at the ends of their range, in
// every combination of signs, and weights of −128, which a file may hold.
func TestGemmI8Extremes(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, k := range []int{8, 8192, maxColumnsI8} {
			for _, x := range []int8{127, -127} {
				for _, y := range []int8{127, -127, -128} {
					w := NewPackedI8(19, k)
					for i := range w.data {
						w.data[i] = y
					}
					for i := range w.scales {
						w.scales[i] = 1
					}
					for _, m := range []int{1, 7} {
						a, ones := make([]int8, m*StrideI8(k)), make([]float32, m)
						for i := range a {
							a[i] = x
						}
						for i := range ones {
							ones[i] = 1
						}
						dst := make([]float32, 19*m)
						GemmI8(dst, 19, a, ones, m, w, nil)
						want := float32(int(x) * int(y) * k)
						if slices.Min(dst) != want || slices.Max(dst) != want {
							t.Fatalf("%d·%d·%d in %d rows: got %v…%v, want %v", k, x, y, m, slices.Min(dst), slices.Max(dst), want)
						}
					}
				}
			}
		}
	})
}

// TestGemmI8RowsAlone checks that a row's result has the same bits alone and among
// others.
func TestGemmI8RowsAlone(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, s := range [][3]int{{29, 70, 40}, {261, 37, 520}} {
			p := newProductI8(4, s[0], s[1], s[2], true)
			all := p.run(t, 0)
			for rows := 1; rows <= 13; rows++ {
				for i := 0; i+rows <= p.m; i += rows {
					part := *p
					part.m, part.a, part.aScales = rows, p.a[i*StrideI8(p.k):], p.aScales[i:]
					got := part.run(t, 0)
					for r := range rows {
						if !slices.Equal(got[r*p.ldd:][:p.n], all[(i+r)*p.ldd:][:p.n]) {
							t.Fatalf("%v: row %d differs when computed among %d", p, i+r, rows)
						}
					}
				}
			}
		}
	})
}

// TestGemmI8Accuracy compares with the product in float32 that it stands for. A channel
// that is much larger than all others, as Whisper has, must not cost the others their
// digits: it was off by 0.3 before rows were rotated.
func TestGemmI8Accuracy(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for large, limit := range map[float32]float64{
			1:   0.015, // two roundings by ±1/254 of the maximum
			100: 0.08,
		} {
			if e := errorI8(large); e > limit {
				t.Errorf("a channel %g times as large: relative error %.4f", large, e)
			}
		}
	})
}

// errorI8 is the relative error of a product one of whose channels is so many times larger
// among activations, and smaller among weights.
func errorI8(large float32) float64 {
	const m, n, k = 9, 70, 512
	r := rand.New(rand.NewPCG(2, 2))
	x, w, want, got := make([]float32, m*k), make([]float32, n*k), make([]float32, m*n), make([]float32, m*n)
	normals(r, x, 3)
	normals(r, w, 0.1)
	for i := range m {
		x[i*k+77] *= large
	}
	for j := range n {
		w[j*k+77] /= large
	}
	GemmF32(want, n, x, k, m, PackF32(w, n, k, k, 1), n, k, nil)
	a, scales := make([]int8, m*StrideI8(k)), make([]float32, m)
	QuantizeI8(a, scales, x, k, m, k)
	GemmI8(got, n, a, scales, m, PackI8(w, n, k), nil)
	var square, size float64
	for i := range got {
		square += math.Pow(float64(got[i]-want[i]), 2)
		size += math.Pow(float64(want[i]), 2)
	}
	return math.Sqrt(square / size)
}

func TestQuantizeI8(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		lengths := []int{144, 160, 192, 240, 256, 384, 512, 768, 1024, 1536, 2048, 2304, 3072, mostRotatedI8, mostRotatedI8 + 16} // by the passes of a rotation
		for k := range 130 {
			lengths = append(lengths, k)
		}
		for _, k := range lengths {
			for m := range 4 {
				x := make([]float32, 3*k+5+m)
				normals(r, x, math.Pow(10, float64(r.IntN(60)-30)))
				for _, ldx := range []int{0, 1, k, k + 1} {
					if len(x) < (m-1)*ldx+k {
						continue
					}
					quantizeBoth(t, fmt.Sprintf("%d rows of %d, ldx %d", m, k, ldx), x[m:], ldx, m, k)
				}
			}
		}
	})
}

// quantizeBoth compares the bytes and scales of the active tier with the equation.
func quantizeBoth(t *testing.T, what string, x []float32, ldx, m, k int) {
	t.Helper()
	stride := StrideI8(k)
	got, gotScales := make([]int8, 3+m*stride+1)[3:], make([]float32, m+1)
	got[m*stride], gotScales[m] = 99, poison
	QuantizeI8(got, gotScales, x, ldx, m, k)
	if got[m*stride] != 99 || gotScales[m] != poison {
		t.Fatalf("%s: wrote beyond", what)
	}
	for i := range m {
		var top float64
		row := slices.Clone(x[i*ldx:][:k])
		rotateI8(row)
		for _, v := range row {
			top = math.Max(top, math.Abs(float64(v))) // NaN wins
		}
		scale, factor := float32(top)/127, 127/float32(top)
		if float32(top) < 1e-36 {
			scale, factor = 0, 0
		} else if math.IsInf(top, 1) || top != top {
			scale, factor = nan, 0
		}
		if math.Float32bits(gotScales[i]) != math.Float32bits(scale) {
			t.Fatalf("%s: scale %d is %v, want %v", what, i, gotScales[i], scale)
		}
		for c := range stride {
			var want int8
			if c < k && factor != 0 {
				want = int8(math.RoundToEven(float64(float32(row[c] * factor))))
			}
			if g := got[i*stride+c]; g != want {
				t.Fatalf("%s: row %d, column %d is %d, want %d (%v)", what, i, c, g, want, row[c])
			}
		}
	}
}

// TestQuantizeI8Specials puts every special value at every place of a row, and
// halves, which are rounded to even.
func TestQuantizeI8Specials(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, special := range []float32{
			nan, inf, -inf, -nan, denorm, 1e-36, 0.99e-36, 0, math.MaxFloat32, -math.MaxFloat32, math.Float32frombits(0xff800001),
		} {
			for k := 1; k < 40; k++ {
				for at := range k {
					x := make([]float32, k)
					for i := range x {
						x[i] = special / 4 * float32(i%3-1)
						if special != special || special-special != 0 {
							x[i] = float32(i)
						}
					}
					x[at] = special
					quantizeBoth(t, fmt.Sprintf("%v at %d of %d", special, at, k), x, k, 1, k)
				}
			}
		}
		halves := make([]float32, 0, 256)
		for i := -127; i < 127; i++ {
			halves = append(halves, float32(i)+0.5)
		}
		quantizeBoth(t, "halves", append(halves, 127), 0, 1, 255)
	})
}

// TestNonFiniteI8 checks that a NaN or an infinity on either side shows up in the
// results that depend on it and in no others.
func TestNonFiniteI8(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, bad := range []float32{nan, inf, -inf} {
			const m, n, k = 5, 20, 9
			x, w, dst := make([]float32, m*k), make([]float32, n*k), make([]float32, m*n)
			x[2*k+3], w[7*k+1] = bad, bad
			a, scales := make([]int8, m*StrideI8(k)), make([]float32, m)
			QuantizeI8(a, scales, x, k, m, k)
			GemmI8(dst, n, a, scales, m, PackI8(w, n, k), nil)
			for i, v := range dst {
				if isNaN := v != v; isNaN != (i/n == 2 || i%n == 7) {
					t.Fatalf("%v: row %d, column %d is %v", bad, i/n, i%n, v)
				}
			}
		}
	})
}

func TestI8Bounds(t *testing.T) {
	w, a, x := NewPackedI8(20, 5), make([]int8, 100), make([]float32, 100)
	for name, call := range map[string]func(){
		"rows overlap":      func() { GemmI8(x, 19, a, x, 2, w, nil) },
		"dst short":         func() { GemmI8(x[:39], 20, a, x, 2, w, nil) },
		"a short":           func() { GemmI8(x, 20, a[:15], x, 2, w, nil) },
		"scales short":      func() { GemmI8(x, 20, a, x[:1], 2, w, nil) },
		"bias short":        func() { GemmI8(x, 20, a, x, 2, w, x[:19]) },
		"negative m":        func() { GemmI8(x, 20, a, x, -1, w, nil) },
		"quantise from":     func() { QuantizeI8(a, x, x[:9], 5, 2, 5) },
		"quantise into":     func() { QuantizeI8(a[:15], x, x, 5, 2, 5) },
		"quantise scales":   func() { QuantizeI8(a, x[:1], x, 5, 2, 5) },
		"quantise negative": func() { QuantizeI8(a, x, x, -1, 2, 5) },
		"pack":              func() { PackI8(x, 20, 4) },
		"set row":           func() { w.SetRow(20, x[:5]) },
		"row":               func() { w.Row(0, x[:4]) },
		"too many columns":  func() { NewPackedI8(1, maxColumnsI8+1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

// shapesI8 are the layers of Whisper tiny and base: the encoder's in a short and in
// the full window, and the decoder's and the output layer for one token and for a
// beam.
var shapesI8 = [][3]int{
	{500, 384, 384}, {500, 1152, 384}, {500, 1536, 384}, {500, 384, 1536},
	{500, 512, 512}, {500, 1536, 512}, {500, 2048, 512}, {500, 512, 2048},
	{1500, 512, 512}, {1500, 1536, 512}, {1500, 2048, 512}, {1500, 512, 2048},
	{1, 384, 384}, {1, 512, 512}, {1, 2048, 512}, {1, 512, 2048},
	{1, 51865, 384}, {1, 51865, 512}, {2, 51865, 512}, {5, 51865, 512}, {8, 51865, 512},
}

func BenchmarkGemmI8(b *testing.B) {
	for _, s := range shapesI8 {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
			p := newProductI8(1, m, n, k, true)
			dst := make([]float32, m*n)
			for b.Loop() {
				GemmI8(dst, n, p.a, p.aScales, m, p.w, p.bias)
			}
			perSecond := float64(b.N) / b.Elapsed().Seconds() / 1e9
			b.ReportMetric(2*float64(m*n*k)*perSecond, "GOP/s")
			b.ReportMetric(float64(n*k)*perSecond, "GB/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkQuantizeI8(b *testing.B) {
	for _, k := range []int{384, 2048} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			x, dst, scales := make([]float32, 100*k), make([]int8, 100*k), make([]float32, 100)
			normals(rand.New(rand.NewPCG(1, 1)), x, 1)
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				QuantizeI8(dst, scales, x, k, 100, k)
			}
		})
	}
}
