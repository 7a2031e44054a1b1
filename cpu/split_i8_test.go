package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// largest is one call of LargestI8, with poison around dst.
type largest struct {
	m, n, k, ldx, ldd int
	w, x              []float32
}

func newLargest(seed uint64, m, n, k int) *largest {
	r := rand.New(rand.NewPCG(seed, uint64(m*n*k)))
	l := &largest{m: m, n: n, k: k, ldx: k + 2, ldd: n + 3, w: make([]float32, n*k), x: make([]float32, m*(k+2))}
	normals(r, l.w, 0.1)
	normals(r, l.x, 3)
	return l
}

func (l *largest) run(t *testing.T, p *Pool, margin float32) []float32 {
	t.Helper()
	dst := slices.Repeat([]float32{poison}, 8+l.m*l.ldd+8)
	p.LargestI8(dst[8:], l.ldd, l.x, l.ldx, l.m, PackSplitI8(l.w, l.n, l.k), margin)
	for i, v := range dst {
		inside := i >= 8 && i < 8+l.m*l.ldd && (i-8)%l.ldd < l.n
		if inside == (v == poison) {
			t.Fatalf("%v: %v at %d", l, v, i-8)
		}
	}
	return dst[8 : 8+l.m*l.ldd]
}

// exact is what GemmI8 makes of the same operands.
func (l *largest) exact(p *Pool) []float32 {
	dst := make([]float32, l.m*l.ldd)
	p.GemmI8(dst, l.ldd, l.x, l.ldx, l.m, PackI8(l.w, l.n, l.k), nil)
	return dst
}

func (l *largest) String() string { return fmt.Sprintf("m %d, n %d, k %d", l.m, l.n, l.k) }

// check holds a result against the equations in LargestI8's comment.
func (l *largest) check(t *testing.T, got []float32, margin float32) {
	t.Helper()
	packed := PackI8(l.w, l.n, l.k)
	a, scales := make([]int8, l.m*StrideI8(l.k)), make([]float32, l.m)
	QuantizeI8(a, scales, l.x, l.ldx, l.m, l.k)
	for i := range l.m {
		rough, exact, top := make([]float32, l.n), make([]float32, l.n), float32(math.Inf(-1))
		for j := range rough {
			var twice, whole int
			for c := range l.k {
				q, a := int(packed.at(j, c)), int(a[i*StrideI8(l.k)+c])
				twice += a * (q>>4*32 + 15)
				whole += a * q
			}
			exact[j] = float32(whole) * float32(scales[i]*packed.scales[j])
			rough[j] = float32(twice) * float32(0.5*scales[i]*packed.scales[j])
			top = max(top, rough[j])
		}
		for j, v := range got[i*l.ldd:][:l.n] {
			want := rough[j]
			if slices.Max(rough[j/32*32:min(j/32*32+32, l.n)]) >= top-margin {
				want = exact[j]
			}
			if v != want {
				t.Fatalf("%v: (%d,%d) is %v, want %v (rough %v)", l, i, j, v, want, rough[j])
			}
		}
	}
}

func TestLargestI8(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		p := newPool(t, 2)
		for _, n := range []int{1, 15, 16, 17, 31, 32, 33, 70, 3000} {
			for _, k := range []int{1, 3, 8, 31, 32, 33, 64, 72, 384} {
				for _, m := range []int{1, 3, 33} {
					if m > 3 && n*k > 5000 {
						continue
					}
					l := newLargest(1, m, n, k)
					for _, margin := range []float32{0, 2} {
						l.check(t, l.run(t, p, margin), margin)
					}
				}
			}
		}
	})
}

// TestLargestI8Margin: an endless margin makes all exact, and none at all leaves the
// largest.
func TestLargestI8Margin(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		p := newPool(t, 2)
		l := newLargest(2, 2, 500, 100)
		want := l.exact(p)
		off := func(got []float32) (count int) {
			for i, v := range got {
				if i%l.ldd < l.n && v != want[i] {
					count++
				}
			}
			return count
		}
		if n := off(l.run(t, p, float32(math.Inf(1)))); n != 0 {
			t.Errorf("%d of %d are not exact", n, 2*l.n)
		}
		if n := off(l.run(t, p, 0)); n < l.n || n > 2*(l.n-32) {
			t.Errorf("%d of %d are rough", n, 2*l.n)
		}
	})
}

// TestLargestI8Extremes has the largest sums of bytes and of nibbles.
func TestLargestI8Extremes(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		p := newPool(t, 1)
		for _, signs := range [][2]float32{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			l := newLargest(3, 1, 40, 1280)
			for i := range l.w {
				l.w[i] = signs[0]
			}
			for i := range l.x {
				l.x[i] = signs[1]
			}
			l.check(t, l.run(t, p, 0), 0)
		}
	})
}

// TestLargestI8Specials: what is no number reaches its own row or column and no other.
func TestLargestI8Specials(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		p := newPool(t, 1)
		l := newLargest(4, 3, 100, 40)
		clean := l.run(t, p, 1)
		l.x[l.ldx+5], l.w[70*l.k+3] = inf, nan
		for i, v := range l.run(t, p, 1) {
			row, col := i/l.ldd, i%l.ldd
			switch bad := row == 1 || col == 70; {
			case col >= l.n:
			case bad && v == v:
				t.Fatalf("(%d,%d) is %v", row, col, v)
			case !bad && col/32 != 2 && v != clean[i]:
				t.Fatalf("(%d,%d) is %v, was %v", row, col, v, clean[i])
			}
		}
	})
}

// TestSplitI8 looks rows up, and takes a matrix apart and together.
func TestSplitI8(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, 16, 33} {
		for _, k := range []int{0, 1, 8, 29} {
			w := make([]float32, n*k)
			normals(r, w, 1)
			whole, p := PackI8(w, n, k), PackSplitI8(w, n, k)
			view, err := ViewSplitI8(n, k, p.High(), p.Low(), p.Scales())
			if err != nil {
				t.Fatal(err)
			}
			want, got := make([]float32, k), make([]float32, k)
			for i := range n {
				whole.Row(i, want)
				if view.Row(i, got); !slices.Equal(got, want) {
					t.Fatalf("%d×%d: row %d is %v, want %v", n, k, i, got, want)
				}
			}
			if _, err := ViewSplitI8(n, k, p.High(), append(p.Low(), 0), p.Scales()); err == nil {
				t.Errorf("%d×%d: a byte too many", n, k)
			}
		}
	}
	if _, err := ViewSplitI8(1, maxColumnsSplit+1, nil, nil, nil); err == nil {
		t.Error("sums could overflow")
	}
}

func BenchmarkLargestI8(b *testing.B) {
	const n, k = 51865, 384
	l := newLargest(6, 1, n, k)
	w, dst := PackSplitI8(l.w, n, k), make([]float32, n)
	for threads := range 2 {
		b.Run(fmt.Sprintf("threads %d", threads+1), func(b *testing.B) {
			p := newPool(b, threads+1)
			b.SetBytes(n * k / 2)
			for b.Loop() {
				p.LargestI8(dst, n, l.x, k, 1, w, 1)
			}
		})
	}
}
