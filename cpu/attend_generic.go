package cpu

// putKVGeneric defines [Pool.PutKV].
func putKVGeneric(p *Pool, c *KVCache, at, n int, k []float32, ldk int, v []float32, ldv int) {
	p.share(c.heads, 4*n*c.heads*c.d, func(h int) {
		for i := range n {
			keys, values := k[i*ldk+h*c.d:][:c.d], v[i*ldv+h*c.d:][:c.d]
			if c.f16 != nil {
				putGeneric(c, c.f16, h, at+i, keys, values, roundF16Generic)
			} else {
				putGeneric(c, c.f32, h, at+i, keys, values, func(x float32) float32 { return x })
			}
		}
	})
}

// putGeneric puts one position of one head into the cache's data.
func putGeneric[T float32 | uint16](c *KVCache, data []T, head, at int, k, v []float32, as func(float32) T) {
	keys := data[head*c.headSize():]
	values := keys[c.capacity*c.d:]
	for i := range k {
		keys[at/panelRows*panelRows*c.d+i*panelRows+at%panelRows] = as(k[i])
		values[(i/panelRows*c.capacity+at)*panelRows+i%panelRows] = as(v[i])
	}
}

// attendF32Generic defines [Pool.AttendF32].
func attendF32Generic(p *Pool, a *attendArgs) {
	row := 0
	for _, q := range a.queries {
		first := row
		p.share(a.heads*q.Rows, a.heads*q.Rows*q.N*a.d, func(i int) {
			r, n := i/a.heads, q.N
			if q.Causal {
				n += r
			}
			a.rowGeneric(q.Cache, first+r, i%a.heads, n)
		})
		row += q.Rows
	}
}

// rowGeneric is one head of one row over the first n positions of c.
func (a *attendArgs) rowGeneric(c *KVCache, row, head, n int) {
	scores := make([]float32, n)
	if a.weights != nil {
		scores = a.weights[(row*a.heads+head)*a.ldw:][:n]
	}
	q, out := a.q[row*a.ldq+head*a.d:], a.out[row*a.ldo+head*a.d:][:a.d]
	keys := head * c.headSize()
	c.productGeneric(scores, q, keys, a.d, a.d)
	scale := float32(0) // all masked
	if sum := expSumF32Generic(scores); sum != 0 {
		scale = float32(1 / sum)
	}
	c.productGeneric(out, scores, keys+c.capacity*c.d, c.capacity, n)
	scaleF32Generic(out, scale)
	scaleF32Generic(scores, scale)
}

// productGeneric is one row of [GemmF32], where W lies in the cache from element `at`
// on and has kcap columns.
func (c *KVCache) productGeneric(dst, a []float32, at, kcap, k int) {
	if c.f16 != nil {
		gemmGeneric(dst, len(dst), a, 0, 1, c.f16[at:], kcap, 0, len(dst), k, nil, dotF16Generic)
		return
	}
	gemmGeneric(dst, len(dst), a, 0, 1, c.f32[at:], kcap, 0, len(dst), k, nil, dotF32Generic)
}
