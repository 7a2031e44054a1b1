package cpu

import "fmt"

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
// overlap. Sums are in float32 over either kind of cache; a float16 key or value that is
// infinite counts like one in float32.
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
