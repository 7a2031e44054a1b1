package cpu

// putKVGeneric defines [Pool.PutKV].
func putKVGeneric(p *Pool, c *KVCache, at, n int, k []float32, ldk int, v []float32, ldv int) {
	p.share(c.heads, 4*n*c.heads*c.d, func(h int) {
		keys, values := c.keys(h), c.values(h)
		for i := range n {
			keys.SetRow(at+i, k[i*ldk+h*c.d:][:c.d])
			values.SetCol(at+i, v[i*ldv+h*c.d:][:c.d])
		}
	})
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
	gemmF32Generic(scores, n, q, 0, 1, c.keys(head), 0, n, a.d, nil)
	scale := float32(0) // all masked
	if sum := expSumF32Generic(scores); sum != 0 {
		scale = float32(1 / sum)
	}
	gemmF32Generic(out, a.d, scores, 0, 1, c.values(head), 0, a.d, n, nil)
	scaleF32Generic(out, scale)
	scaleF32Generic(scores, scale)
}
