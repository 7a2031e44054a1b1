package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// product is one call of GemmF32 with what surrounds its operands: poison around
// dst, NaN in every part of A, W and bias that must not be read into a result.
type product struct {
	m, n, k  int
	ldd, lda int
	dst      []float32
	a, bias  []float32
	w        *PackedF32
	rows     [][]float32 // W unpacked
}

func newProduct(seed uint64, m, n, k int, bias bool) *product {
	r := rand.New(rand.NewPCG(seed, uint64(m*n*k)))
	p := &product{m: m, n: n, k: k, ldd: n + 3, lda: k + 5}
	p.a = make([]float32, m*p.lda)
	for i := range p.a {
		p.a[i] = nan
	}
	for i := range m {
		normals(r, p.a[i*p.lda:i*p.lda+k], 1)
	}
	if bias {
		p.bias = make([]float32, n, n+40)
		normals(r, p.bias, 1)
		for i := n; i < cap(p.bias); i++ {
			p.bias[:cap(p.bias)][i] = nan
		}
	}
	p.w = NewPackedF32(n+21, k+7)
	for i := range p.w.data {
		p.w.data[i] = nan
	}
	for i := range n {
		p.rows = append(p.rows, make([]float32, k))
		normals(r, p.rows[i], 1)
		p.w.SetRow(i, p.rows[i])
	}
	return p
}

// run computes the product by gemm and checks the poison.
func (p *product) run(t *testing.T, gemm func(dst []float32, ldd int, a []float32, lda, m int, w *PackedF32, n, k int, bias []float32)) []float32 {
	t.Helper()
	dst := make([]float32, 8+p.m*p.ldd+8)
	for i := range dst {
		dst[i] = poison
	}
	gemm(dst[8:], p.ldd, p.a, p.lda, p.m, p.w, p.n, p.k, p.bias)
	for i, v := range dst {
		inside := i >= 8 && i < 8+p.m*p.ldd && (i-8)%p.ldd < p.n
		if !inside && v != poison {
			t.Fatalf("%v: wrote %v beside dst, at %d", p, v, i-8)
		}
	}
	return dst[8 : 8+p.m*p.ldd]
}

func (p *product) String() string {
	return fmt.Sprintf("m %d, n %d, k %d, bias %v", p.m, p.n, p.k, p.bias != nil)
}

// check compares got with float64 sums; the error of a chain of k roundings is
// bounded by k·2⁻²⁴·Σ|a·w|, of which random signs leave far less.
func (p *product) check(t *testing.T, got []float32) {
	t.Helper()
	for i := range p.m {
		for j, row := range p.rows {
			var want, size float64
			for c, w := range row {
				term := float64(p.a[i*p.lda+c]) * float64(w)
				want += term
				size += math.Abs(term)
			}
			if p.bias != nil {
				want += float64(p.bias[j])
			}
			tol := 2e-7 + size*(1+math.Sqrt(float64(p.k)))*6e-8
			if g := float64(got[i*p.ldd+j]); !(math.Abs(g-want) <= tol) {
				t.Fatalf("%v: row %d, column %d is %v, want %v", p, i, j, g, want)
			}
		}
	}
}

func TestGemmF32(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for m := range 14 {
			for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 64, 65, 79, 129} {
				for _, k := range []int{0, 1, 2, 3, 31, 64, 129} {
					p := newProduct(1, m, n, k, (m+n+k)%2 == 0)
					p.check(t, p.run(t, GemmF32))
				}
			}
		}
		for _, s := range [][3]int{{97, 33, 1030}, {200, 18, 512}, {103, 65, 64}} {
			p := newProduct(2, s[0], s[1], s[2], true)
			p.check(t, p.run(t, GemmF32))
		}
	})
}

// TestGemmF32RowsAlone checks that a row's result has the same bits alone, among
// a few, and in a product that is cut into blocks of rows and of K.
func TestGemmF32RowsAlone(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, s := range [][3]int{{13, 70, 40}, {13, 130, 1100}, {205, 37, 1100}, {100, 64, 513}} {
			p := newProduct(3, s[0], s[1], s[2], true)
			all := p.run(t, GemmF32)
			for rows := 1; rows <= 7; rows++ {
				for i := 0; i+rows <= p.m; i += rows {
					part := *p
					part.m, part.a = rows, p.a[i*p.lda:]
					got := part.run(t, GemmF32)
					for r := range rows {
						want := all[(i+r)*p.ldd:][:p.n]
						if !slices.Equal(got[r*p.ldd:][:p.n], want) {
							t.Fatalf("%v: row %d differs when computed among %d", p, i+r, rows)
						}
					}
				}
			}
		}
	})
}

func TestGemmF32Specials(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, c := range []struct{ a, w, want float32 }{
			{inf, 1, inf}, {inf, -1, -inf}, {inf, 0, nan}, {nan, 1, nan}, {0, nan, nan},
			{math.MaxFloat32, 2, inf}, {denorm, 1, denorm}, {denorm, 0.5, denorm / 2},
		} {
			for m := 1; m < 8; m++ {
				w := NewPackedF32(33, 3)
				w.SetRow(32, []float32{0, c.w, 0})
				a := make([]float32, 3*m)
				a[3*m-2] = c.a
				dst := make([]float32, 33*m)
				GemmF32(dst, 33, a, 3, m, w, 33, 3, nil)
				if got := dst[33*m-1]; !near(got, c.want, 0) {
					t.Errorf("%v·%v in row %d of %d: got %v, want %v", c.a, c.w, m-1, m, got, c.want)
				}
			}
		}
	})
}

// TestGemmF32Overlap multiplies overlapping windows, as a convolution does.
func TestGemmF32Overlap(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		a := make([]float32, 20*2+6-2)
		for i := range a {
			a[i] = float32(i)
		}
		w := PackF32([]float32{1, 0, 0, 0, 0, 2}, 1, 6, 6, 1)
		dst := make([]float32, 20)
		GemmF32(dst, 1, a, 2, 20, w, 1, 6, nil)
		for i, got := range dst {
			if want := float32(2*i + 2*(2*i+5)); got != want {
				t.Errorf("window %d: got %v, want %v", i, got, want)
			}
		}
	})
}

func TestGemmF32Bounds(t *testing.T) {
	w, x := NewPackedF32(20, 5), make([]float32, 100)
	for name, call := range map[string]func(){
		"n beyond W":      func() { GemmF32(x, 21, x, 5, 1, w, 21, 5, nil) },
		"k beyond W":      func() { GemmF32(x, 20, x, 6, 1, w, 20, 6, nil) },
		"rows overlap":    func() { GemmF32(x, 19, x, 5, 2, w, 20, 5, nil) },
		"dst short":       func() { GemmF32(x[:39], 20, x, 5, 2, w, 20, 5, nil) },
		"a short":         func() { GemmF32(x, 20, x[:9], 5, 2, w, 20, 5, nil) },
		"bias short":      func() { GemmF32(x, 20, x, 5, 2, w, 20, 5, x[:19]) },
		"negative m":      func() { GemmF32(x, 20, x, 5, -1, w, 20, 5, nil) },
		"negative stride": func() { w.Pack(x, 20, 5, -1, 1) },
		"pack short":      func() { w.Pack(x[:99], 20, 5, 5, 1) },
		"set row":         func() { w.SetRow(20, x[:5]) },
		"set column":      func() { w.SetCol(4, x[:21]) },
		"add":             func() { AddF32(x, x[1:]) },
		"layer norm":      func() { LayerNormF32(x, x, x[1:], x) },
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

// BenchmarkGemmF32 has the shapes of Whisper tiny and base: encoder layers,
// the output layer and a decoder layer for one token. The best run counts.
func BenchmarkGemmF32(b *testing.B) {
	for _, s := range [][3]int{
		{1500, 384, 384}, {1500, 1536, 384}, {1500, 384, 1536},
		{1500, 512, 512}, {1500, 2048, 512}, {1500, 512, 2048},
		{483, 384, 384}, {483, 1536, 384}, {483, 384, 1536}, {483, 512, 2048}, {483, 2048, 512},
		{1, 51865, 384}, {1, 51865, 512}, {5, 51865, 512},
		{1, 384, 384}, {1, 1536, 384}, {1, 384, 1536}, {1, 512, 512}, {1, 2048, 512},
	} {
		m, n, k := s[0], s[1], s[2]
		w := NewPackedF32(n, k)
		normals(rand.New(rand.NewPCG(1, 1)), w.data, 1)
		a, dst, bias := make([]float32, m*k), make([]float32, m*n), make([]float32, n)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%dx%d/threads=%d", m, n, k, threads), func(b *testing.B) {
				p := newPool(b, threads)
				seconds := best(b, func() { p.GemmF32(dst, n, a, k, m, w, n, k, bias) })
				b.ReportMetric(2*float64(m*n*k)/seconds/1e9, "GFLOP/s")
				b.ReportMetric(4*float64(n*k)/seconds/1e9, "GB/s")
			})
		}
	}
}
