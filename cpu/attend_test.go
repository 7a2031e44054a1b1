package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// attention is one call of AttendF32 over caches that are full of NaN wherever the
// rows must not look.
type attention struct {
	heads, d int
	queries  []Query
	q        []float32
	ldq, ldo int
	k, v     [][]float32 // by query: [positions, heads·d]
}

// newCache is NewKVCache or NewKVCacheF16.
type newCache func(heads, d, positions int) *KVCache

// eachCache runs f under every tier of this machine with both kinds of cache.
func eachCache(t *testing.T, f func(t *testing.T, newCache newCache)) {
	eachTier(t, func(t *testing.T) {
		t.Run("float32", func(t *testing.T) { f(t, NewKVCache) })
		t.Run("float16", func(t *testing.T) { f(t, NewKVCacheF16) })
	})
}

// fill puts x wherever the cache has room.
func (c *KVCache) fill(x float32) {
	for i := range c.f32 {
		c.f32[i] = x
	}
	for i := range c.f16 {
		c.f16[i] = roundF16Generic(x)
	}
}

// hold is what the cache makes of x.
func (c *KVCache) hold(x []float32) []float32 {
	x = slices.Clone(x)
	for i := range x {
		if c.f16 != nil {
			x[i] = fromF16(roundF16Generic(x[i]))
		}
	}
	return x
}

func newAttention(p *Pool, newCache newCache, heads, d int, spare int, queries ...Query) *attention {
	r := rand.New(rand.NewPCG(uint64(heads*d), 5))
	width := heads * d
	a := &attention{heads: heads, d: d, queries: slices.Clone(queries), ldq: width + 3, ldo: width + 5}
	for i := range a.queries {
		query := &a.queries[i]
		n := query.last()
		k, v := make([]float32, n*width), make([]float32, n*width)
		normals(r, k, 1)
		normals(r, v, 1)
		query.Cache = newCache(heads, d, n+spare)
		query.Cache.fill(nan)
		a.k, a.v = append(a.k, query.Cache.hold(k)), append(a.v, query.Cache.hold(v))
		// In two parts, as a decoder's cache that starts with a prompt.
		p.PutKV(query.Cache, 0, n/2, k, width, v, width)
		p.PutKV(query.Cache, n/2, n-n/2, k[n/2*width:], width, v[n/2*width:], width)
		for range query.Rows {
			row := make([]float32, a.ldq)
			normals(r, row[:width], 1.5/math.Sqrt(math.Sqrt(float64(d))))
			for j := width; j < a.ldq; j++ {
				row[j] = nan
			}
			a.q = append(a.q, row...)
		}
	}
	return a
}

func (a *attention) rows() int { return len(a.q) / a.ldq }

// run returns out and the weights, having checked the poison around out.
func (a *attention) run(t *testing.T, p *Pool, ldw int) (out, weights []float32) {
	t.Helper()
	if ldw > 0 {
		weights = make([]float32, a.rows()*a.heads*ldw)
		for i := range weights {
			weights[i] = poison
		}
	}
	all := make([]float32, 8+a.rows()*a.ldo+8)
	for i := range all {
		all[i] = poison
	}
	p.AttendF32(all[8:], a.ldo, a.q, a.ldq, a.queries, weights, ldw)
	for i, v := range all {
		inside := i >= 8 && i < 8+a.rows()*a.ldo && (i-8)%a.ldo < a.heads*a.d
		if !inside && v != poison {
			t.Fatalf("wrote %v beside out, at %d", v, i-8)
		}
	}
	return all[8 : 8+a.rows()*a.ldo], weights
}

// check compares with float64.
func (a *attention) check(t *testing.T, what string, out, weights []float32, ldw int) {
	t.Helper()
	row, width := 0, a.heads*a.d
	for i, query := range a.queries {
		for r := range query.Rows {
			n := query.N
			if query.Causal {
				n += r
			}
			for h := range a.heads {
				w := softmax64(a.q[row*a.ldq+h*a.d:][:a.d], a.k[i][h*a.d:], width, n)
				for c := range a.d {
					var want float64
					for p := range n {
						want += w[p] * float64(a.v[i][p*width+h*a.d+c])
					}
					if got := out[row*a.ldo+h*a.d+c]; !near(got, float32(want), 1e-5) {
						t.Fatalf("%s: row %d, head %d, column %d is %v, want %v", what, row, h, c, got, want)
					}
				}
				if weights == nil {
					continue
				}
				for p, got := range weights[(row*a.heads+h)*ldw:][:ldw] {
					if p < n && !near(got, float32(w[p]), 3e-6) || p >= n && got != poison {
						t.Fatalf("%s: weight %d of row %d, head %d is %v", what, p, row, h, got)
					}
				}
			}
			row++
		}
	}
}

func softmax64(q, keys []float32, stride, n int) []float64 {
	w := make([]float64, n)
	var sum float64
	for p := range w {
		var s float64
		for c, x := range q {
			s += float64(x) * float64(keys[p*stride+c])
		}
		w[p] = math.Exp(s)
		sum += w[p]
	}
	for p := range w {
		w[p] /= sum
	}
	return w
}

func TestAttendF32(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache newCache) {
		for _, threads := range []int{1, 3} {
			p := newPool(t, threads)
			for _, d := range []int{1, 16, 20, 64} {
				for _, n := range []int{1, 2, 16, 17, 130} {
					for _, rows := range []int{1, 2, 5, 6, 7, 23} {
						heads := 1 + rows%3
						for _, causal := range []bool{false, true} {
							what := fmt.Sprintf("%d threads, %d rows over %d, d %d, causal %v", threads, rows, n, d, causal)
							a := newAttention(p, newCache, heads, d, 20, Query{Rows: rows, N: n, Causal: causal})
							ldw := (n + rows) * (rows % 2)
							out, weights := a.run(t, p, ldw)
							a.check(t, what, out, weights, ldw)
						}
					}
				}
			}
			for _, n := range []int{700, 1500} { // blocks of rows and of positions
				a := newAttention(p, newCache, 2, 64, 0, Query{Rows: 53, N: n})
				out, _ := a.run(t, p, 0)
				a.check(t, fmt.Sprintf("%d positions", n), out, nil, 0)
			}
			a := newAttention(p, newCache, 3, 16, 5, Query{Rows: 1, N: 30}, Query{Rows: 70, N: 19}, Query{Rows: 4, N: 2, Causal: true}, Query{Rows: 1, N: 1})
			out, weights := a.run(t, p, 31)
			a.check(t, "several caches", out, weights, 31)
		}
	})
}

// TestAttendF32Alone checks that a row's result has the same bits alone, in another
// cache, on another number of threads, with weights and without.
func TestAttendF32Alone(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache newCache) {
		one, three := newPool(t, 1), newPool(t, 3)
		for _, n := range []int{5, 483, 1100} {
			a := newAttention(one, newCache, 2, 64, 0, Query{Rows: 75, N: n})
			want, _ := a.run(t, three, 0)
			b := *a
			b.queries = slices.Clone(a.queries)
			larger := newCache(2, 64, n+500)
			larger.fill(inf)
			larger.CopyFrom(a.queries[0].Cache, n)
			b.queries[0] = Query{Cache: larger, N: n}
			for _, rows := range []int{1, 4, 7} {
				b.queries[0].Rows = rows
				for from := 0; from+rows <= 75; from += rows {
					b.q = a.q[from*a.ldq:][:rows*a.ldq]
					got, _ := b.run(t, one, n*(from%2))
					for i := range rows {
						if !slices.Equal(got[i*a.ldo:][:128], want[(from+i)*a.ldo:][:128]) {
							t.Fatalf("n %d: row %d differs when computed among %d", n, from+i, rows)
						}
					}
				}
			}
		}
	})
}

// TestAttendF32Causal checks that a causal row has the bits that it has alone, where
// it cannot see what comes later: not even NaN.
func TestAttendF32Causal(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache newCache) {
		p := newPool(t, 2)
		a := newAttention(p, newCache, 2, 20, 4, Query{Rows: 9, N: 28, Causal: true})
		want, _ := a.run(t, p, 0)
		bad := make([]float32, 40)
		for i := range bad {
			bad[i] = nan
		}
		p.PutKV(a.queries[0].Cache, 36-1, 1, bad, 40, bad, 40)
		got, _ := a.run(t, p, 0)
		if !slices.Equal(got[:8*a.ldo], want[:8*a.ldo]) {
			t.Error("a row changes with a position that it must not see")
		}
		if got[8*a.ldo] == got[8*a.ldo] {
			t.Error("the last row does not see the last position")
		}
	})
}

func TestAttendF32Specials(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache newCache) {
		p := newPool(t, 1)
		for _, c := range []struct {
			name   string
			k      [3]float32 // keys of width 1; q is 1, values are 1, 2, 3
			want   float32
			weight [3]float32
		}{
			{"masked entries", [3]float32{-inf, 0, -inf}, 2, [3]float32{0, 1, 0}},
			{"all masked", [3]float32{-inf, -inf, -inf}, 0, [3]float32{}},
			{"NaN", [3]float32{0, nan, 0}, nan, [3]float32{nan, nan, nan}},
			{"+Inf", [3]float32{0, inf, 0}, nan, [3]float32{nan, nan, nan}},
			{"far apart", [3]float32{-200, 65000, 0}, 2, [3]float32{0, 1, 0}},
			{"equal", [3]float32{-5, -5, -5}, 2, [3]float32{1. / 3, 1. / 3, 1. / 3}},
		} {
			cache, out, weights := newCache(1, 1, 3), []float32{poison}, []float32{poison, poison, poison}
			p.PutKV(cache, 0, 3, c.k[:], 1, []float32{1, 2, 3}, 1)
			p.AttendF32(out, 1, []float32{1}, 1, []Query{{Cache: cache, Rows: 1, N: 3}}, weights, 3)
			compare(t, c.name, out, []float32{c.want}, 1e-6)
			compare(t, c.name, weights, c.weight[:], 1e-6)
		}
	})
}

func TestAttendBounds(t *testing.T) {
	p := newPool(t, 1)
	c, x := NewKVCache(2, 4, 16), make([]float32, 100)
	ok := Query{Cache: c, Rows: 1, N: 1}
	for name, call := range map[string]func(){
		"cache of nothing":       func() { NewKVCache(2, 4, 0) },
		"put beyond":             func() { p.PutKV(c, 16, 1, x, 8, x, 8) },
		"put from too little":    func() { p.PutKV(c, 0, 2, x[:15], 8, x, 8) },
		"copy to another shape":  func() { c.CopyFrom(NewKVCache(4, 2, 16), 1) },
		"copy to another type":   func() { c.CopyFrom(NewKVCacheF16(2, 4, 16), 1) },
		"copy beyond":            func() { c.CopyFrom(NewKVCache(2, 4, 32), 17) },
		"no positions":           func() { p.AttendF32(x, 8, x, 8, []Query{{Cache: c, Rows: 1}}, nil, 0) },
		"positions beyond":       func() { p.AttendF32(x, 8, x, 8, []Query{{Cache: c, Rows: 1, N: 17}}, nil, 0) },
		"causal rows beyond":     func() { p.AttendF32(x, 8, x, 8, []Query{{Cache: c, Rows: 2, N: 16, Causal: true}}, nil, 0) },
		"caches of other shapes": func() { p.AttendF32(x, 8, x, 8, []Query{ok, {NewKVCache(4, 2, 16), 1, 1, false}}, nil, 0) },
		"out short":              func() { p.AttendF32(x[:7], 8, x, 8, []Query{ok}, nil, 0) },
		"q short":                func() { p.AttendF32(x, 8, x[:15], 8, []Query{ok, ok}, nil, 0) },
		"rows overlap":           func() { p.AttendF32(x, 7, x, 8, []Query{ok, ok}, nil, 0) },
		"weights short":          func() { p.AttendF32(x, 8, x, 8, []Query{ok}, x[:1], 1) },
		"weights overlap":        func() { p.AttendF32(x, 8, x, 8, []Query{{Cache: c, Rows: 1, N: 3}}, x, 2) },
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

// BenchmarkAttendF32 has an encoder layer of tiny and base in a short and in a full
// window, and one token's cross-attention. The best run counts.
func BenchmarkAttendF32(b *testing.B) {
	for _, s := range []struct{ rows, n, heads int }{{483, 483, 6}, {1500, 1500, 6}, {1500, 1500, 8}, {1, 483, 6}, {1, 1500, 6}, {1, 483, 8}, {1, 1500, 8}, {1, 40, 6}} {
		for _, threads := range []int{1, 2} {
			for kind, newCache := range map[string]newCache{"f32": NewKVCache, "f16": NewKVCacheF16} {
				b.Run(fmt.Sprintf("%dx%dx%d/threads=%d/%s", s.rows, s.n, s.heads, threads, kind), func(b *testing.B) {
					p := newPool(b, threads)
					a := newAttention(p, newCache, s.heads, 64, 0, Query{Rows: s.rows, N: s.n})
					out := make([]float32, s.rows*a.ldo)
					seconds := best(b, func() { p.AttendF32(out, a.ldo, a.q, a.ldq, a.queries, nil, 0) })
					b.ReportMetric(4*float64(s.rows*s.n*s.heads*64)/seconds/1e9, "GFLOP/s")
					b.ReportMetric(seconds*1e6, "µs")
				})
			}
		}
	}
}

// BenchmarkPutKV fills a cache of tiny's 6 heads. The best run counts.
func BenchmarkPutKV(b *testing.B) {
	const width = 6 * 64
	p := newPool(b, 1)
	kv := make([]float32, 1500*3*width)
	for kind, newCache := range map[string]newCache{"f32": NewKVCache, "f16": NewKVCacheF16} {
		c := newCache(6, 64, 1500)
		for _, n := range []int{1, 483, 1500} {
			b.Run(fmt.Sprintf("n=%d/%s", n, kind), func(b *testing.B) {
				seconds := best(b, func() { p.PutKV(c, 0, n, kv[width:], 3*width, kv[2*width:], 3*width) })
				b.ReportMetric(seconds*1e6, "µs")
			})
		}
	}
}
