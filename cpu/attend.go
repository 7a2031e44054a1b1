package cpu

import "fmt"

// KVCache holds the keys and values of one attention layer for one sequence of
// positions: K and V [positions, H·d]. A decoder adds a position for each token, an
// encoder or a cross-attention fills it at once. It is packed for [Pool.AttendF32]:
// for each head the keys in panels of 16 positions, [P/16, d, 16], then the values in
// panels of 16 of the head's columns, [ceil(d/16), P, 16], P being the capacity.
//
// It is not safe for concurrent use.
type KVCache struct {
	heads, d, capacity int
	data               []float32
}

// NewKVCache returns a cache for H heads of width d with room for so many positions,
// rounded up to 16.
func NewKVCache(heads, d, positions int) *KVCache {
	if heads < 1 || d < 1 || positions < 1 {
		panic(fmt.Sprintf("BUG: cache of %d positions for %d heads of width %d", positions, heads, d))
	}
	c := &KVCache{heads: heads, d: d, capacity: roundUp(positions, panelRows)}
	c.data = alignedF32(heads * c.headSize())
	return c
}

// Capacity returns how many positions there is room for.
func (c *KVCache) Capacity() int { return c.capacity }

// CopyFrom copies the first n positions of a cache of the same heads, which may
// have another capacity.
func (c *KVCache) CopyFrom(src *KVCache, n int) {
	if c.heads != src.heads || c.d != src.d || n < 0 || n > c.capacity || n > src.capacity {
		panic(fmt.Sprintf("BUG: copy %d positions from %v to %v", n, src, c))
	}
	for h := range c.heads {
		to, from := c.keys(h), src.keys(h)
		copy(to.data[:panels(n)*panelRows*c.d], from.data)
		c.values(h).CopyFrom(src.values(h), c.d, n)
	}
}

// String describes the cache's size.
func (c *KVCache) String() string {
	return fmt.Sprintf("cache of %d positions for %d heads of width %d", c.capacity, c.heads, c.d)
}

func (c *KVCache) headSize() int { return c.capacity * (c.d + roundUp(c.d, panelRows)) }

// keys is K [P, d] of one head, sharing memory with c.
func (c *KVCache) keys(head int) *PackedF32 {
	return &PackedF32{n: c.capacity, k: c.d, data: c.data[head*c.headSize():][:c.capacity*c.d]}
}

// values is Vᵀ [d, P] of one head, sharing memory with c.
func (c *KVCache) values(head int) *PackedF32 {
	return &PackedF32{n: c.d, k: c.capacity, data: c.data[head*c.headSize()+c.capacity*c.d:][:c.capacity*roundUp(c.d, panelRows)]}
}

// PutKV overwrites n positions of the cache from position at on. Row i of k and of v,
// H·d values each, is at i*ldk and i*ldv.
func (p *Pool) PutKV(c *KVCache, at, n int, k []float32, ldk int, v []float32, ldv int) {
	width := c.heads * c.d
	switch {
	case at < 0 || n < 0 || at+n > c.capacity:
		panic(fmt.Sprintf("BUG: %d positions from %d on into %v", n, at, c))
	case n == 0:
		return
	case ldk < 0 || ldv < 0 || len(k) < (n-1)*ldk+width || len(v) < (n-1)*ldv+width:
		panic(fmt.Sprintf("BUG: %d positions of %d values, %d and %d apart, from %d and %d", n, width, ldk, ldv, len(k), len(v)))
	}
	defer p.lock().Unlock()
	active.jobs.putKV(p, c, at, n, k, ldk, v, ldv)
}

// Query is a run of neighbouring rows that attend over one cache.
type Query struct {
	Cache *KVCache
	Rows  int
	// N is how many positions they see, from 0 on. Where Causal is set, each row after
	// the first sees one more than the row before.
	N      int
	Causal bool
}

// last is how many positions the last row sees.
func (q Query) last() int {
	if q.Causal {
		return q.N + q.Rows - 1
	}
	return q.N
}

// attendRoom is how many scores a thread of C holds at once: 160 KB, 24 rows of a
// full window. One head's keys and values of a short window stay beside them in a
// second-level cache of 512 KB.
const attendRoom = 40 << 10

type attendArgs struct {
	out     []float32
	ldo     int
	q       []float32
	ldq     int
	queries []Query
	weights []float32
	ldw     int

	rows, heads, d int
}

// AttendF32 computes, for every head h (columns h·d to h·d+d-1) of every row r,
//
//	out[r*ldo+h·d…] = Σ_p softmax_p(q[r*ldq+h·d…]·K[p])·V[p]
//
// over the positions p that r sees. The rows of the queries follow each other in q
// and out; all caches have the same heads. There is no scaling by 1/√d: it belongs
// into q. weights, unless nil, takes the softmax: row r's for head h start at
// (r*H+h)*ldw.
//
// Softmax is [SoftmaxF32] with its rules for NaN and −Inf, except that the sum
// divides the result. A row's result has the same bits in any company and whatever
// the caches' capacities are. out may be q, with the same ldo and ldq; else they must not
// overlap.
func (p *Pool) AttendF32(out []float32, ldo int, q []float32, ldq int, queries []Query, weights []float32, ldw int) {
	a := attendArgs{out: out, ldo: ldo, q: q, ldq: ldq, queries: queries, weights: weights, ldw: ldw}
	if a.check(); a.rows == 0 {
		return
	}
	defer p.lock().Unlock()
	p.attend = a
	active.jobs.attendF32(p, &p.attend)
	p.attend = attendArgs{}
}

func (a *attendArgs) check() {
	for i, q := range a.queries {
		if i == 0 {
			a.heads, a.d = q.Cache.heads, q.Cache.d
		}
		if q.Rows < 1 || q.N < 1 || q.last() > q.Cache.capacity || q.Cache.heads != a.heads || q.Cache.d != a.d {
			panic(fmt.Sprintf("BUG: %d rows over %d positions (causal: %v) of %v", q.Rows, q.N, q.Causal, q.Cache))
		}
		if a.weights != nil && a.ldw < q.last() {
			panic(fmt.Sprintf("BUG: weights of %d positions %d apart", q.last(), a.ldw))
		}
		a.rows += q.Rows
	}
	width := a.heads * a.d
	switch {
	case a.rows == 0:
	case a.ldo < width && a.rows > 1 || a.ldq < 0 || len(a.out) < (a.rows-1)*a.ldo+width || len(a.q) < (a.rows-1)*a.ldq+width:
		panic(fmt.Sprintf("BUG: attention of %d rows of %d values, %d apart in %d, into %d apart in %d",
			a.rows, width, a.ldq, len(a.q), a.ldo, len(a.out)))
	case a.weights != nil && len(a.weights) < (a.rows*a.heads-1)*a.ldw+a.ldw:
		panic(fmt.Sprintf("BUG: weights of %d rows and %d heads, %d apart, into %d values", a.rows, a.heads, a.ldw, len(a.weights)))
	}
}

func roundUp(n, unit int) int { return ceilDiv(n, unit) * unit }
