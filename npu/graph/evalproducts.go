package graph

// products is out[r, j] = Σ x[r, i]·w[j, i] + bias[j] over i < k, for the rows of x; bias
// may be nil. Sums go from i = 0 on. Two rows by four columns are computed at a time.
func products(out, x, w, bias []float32, k int) {
	rows, columns := len(x)/k, len(w)/k
	inParallel(rows, func(from, to int) {
		for j := 0; j < columns; j += 4 {
			for r := from; r < to; r += 2 {
				if r+2 > to || j+4 > columns {
					productsOneByOne(out, x, w, k, r, min(r+2, to), j, min(j+4, columns))
					continue
				}
				twoByFour(out[r*columns+j:], columns, x[r*k:(r+2)*k], w[j*k:(j+4)*k], k)
			}
		}
		for r := from; r < to && bias != nil; r++ {
			row := out[r*columns : (r+1)*columns]
			for j, b := range bias {
				row[j] += b
			}
		}
	})
}

func productsOneByOne(out, x, w []float32, k, r0, r1, j0, j1 int) {
	columns := len(w) / k
	for r := r0; r < r1; r++ {
		for j := j0; j < j1; j++ {
			out[r*columns+j] = dot(x[r*k:(r+1)*k], w[j*k:(j+1)*k])
		}
	}
}

func dot(x, w []float32) (sum float32) {
	for i, v := range x {
		sum += v * w[i]
	}
	return sum
}

func twoByFour(out []float32, columns int, x, w []float32, k int) {
	x0, x1 := x[:k], x[k:][:k]
	w0, w1, w2, w3 := w[:k], w[k:][:k], w[2*k:][:k], w[3*k:][:k]
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	for i, a := range x0 {
		b := x1[i]
		v0, v1, v2, v3 := w0[i], w1[i], w2[i], w3[i]
		s00 += a * v0
		s01 += a * v1
		s02 += a * v2
		s03 += a * v3
		s10 += b * v0
		s11 += b * v1
		s12 += b * v2
		s13 += b * v3
	}
	out[0], out[1], out[2], out[3] = s00, s01, s02, s03
	out = out[columns:]
	out[0], out[1], out[2], out[3] = s10, s11, s12, s13
}

// patches returns for each place of a CONV_2D's output what the filter lies over there,
// [H'·W', FH·FW·I].
func patches(o *Operation, x []float32) []float32 {
	in, filter, out := o.In[0].Shape, o.In[1].Shape, o.Out.Shape
	if filter[1] == 1 && filter[2] == 1 && o.Attr.StrideH == 1 && o.Attr.StrideW == 1 {
		return x
	}
	width := filter[2] * filter[3] // of the filter's rows, which lie together in x
	all := make([]float32, 0, out[1]*out[2]*filter[1]*width)
	for h := range out[1] {
		for w := range out[2] {
			for f := range filter[1] {
				at := ((h*o.Attr.StrideH+f)*in[2] + w*o.Attr.StrideW) * in[3]
				all = append(all, x[at:at+width]...)
			}
		}
	}
	return all
}

func batchMatMul(o *Operation, out, a, b []float32) {
	n := len(o.In[1].Shape)
	rows, columns := o.In[1].Shape[n-2], o.In[1].Shape[n-1] // of b
	batches, k := len(b)/(rows*columns), columns
	if !o.Attr.TransposeB {
		turned := make([]float32, len(b))
		view{shape: [4]int{1, batches, columns, rows}, stride: [4]int{0, rows * columns, 1, columns}}.copy(turned, b)
		b, k = turned, rows
	}
	la, lb, lout := len(a)/batches, rows*columns, len(out)/batches
	for i := range batches {
		products(out[i*lout:][:lout], a[i*la:][:la], b[i*lb:][:lb], nil, k)
	}
}
