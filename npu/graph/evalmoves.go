package graph

import "slices"

// view is a way through a tensor: element (i, j, k, l) is at begin + Σ index·stride.
type view struct {
	begin         int
	shape, stride [4]int
}

// dense is the view of all of a tensor, with leading dimensions of 1.
func dense(shape []int) view {
	v := view{shape: [4]int{1, 1, 1, 1}}
	step := 1
	for i := range shape {
		from, to := len(shape)-1-i, 3-i
		v.shape[to], v.stride[to] = shape[from], step
		step *= shape[from]
	}
	return v
}

// copy writes the elements in row-major order.
func (v view) copy(dst, src []float32) {
	n := 0
	for i := range v.shape[0] {
		for j := range v.shape[1] {
			for k := range v.shape[2] {
				at := v.begin + i*v.stride[0] + j*v.stride[1] + k*v.stride[2]
				for range v.shape[3] {
					dst[n] = src[at]
					at += v.stride[3]
					n++
				}
			}
		}
	}
}

// into writes dense src to where v says.
func (v view) into(dst, src []float32) {
	n := 0
	for i := range v.shape[0] {
		for j := range v.shape[1] {
			for k := range v.shape[2] {
				at := v.begin + i*v.stride[0] + j*v.stride[1] + k*v.stride[2]
				for l := range v.shape[3] {
					dst[at+l*v.stride[3]] = src[n]
					n++
				}
			}
		}
	}
}

// part is the view of the elements of a tensor from begin on, size of them.
func part(shape, begin, size []int) view {
	v := dense(shape)
	for i := range shape {
		d := 4 - len(shape) + i
		v.begin += begin[i] * v.stride[d]
		v.shape[d] = size[i]
	}
	return v
}

// broadcast repeats x along dimensions that it has not, or has as 1.
func broadcast(x []float32, from, to []int) []float32 {
	if slices.Equal(from, to) {
		return x
	}
	v := dense(from)
	target := dense(to).shape
	for i := range v.shape {
		if v.shape[i] == 1 {
			v.stride[i] = 0
		}
	}
	v.shape = target
	out := make([]float32, target[0]*target[1]*target[2]*target[3])
	v.copy(out, x)
	return out
}

// rearrange is TRANSPOSE, SLICE, CONCATENATION and PAD.
func (o *Operation) rearrange(out []float32, in [][]float32) {
	x, shape := in[0], o.In[0].Shape
	switch o.Kind {
	case Transpose:
		source, v := dense(shape), dense(o.Out.Shape)
		lead := 4 - len(shape)
		for i, p := range o.Attr.Permutation {
			v.stride[lead+i] = source.stride[lead+p]
		}
		v.copy(out, x)
	case Slice:
		part(shape, o.Attr.Begin, o.Attr.Shape).copy(out, x)
	case Pad:
		part(o.Out.Shape, o.Attr.Before, shape).into(out, x)
	case Concat:
		begin := make([]int, len(shape))
		for i, t := range o.In {
			part(o.Out.Shape, begin, t.Shape).into(out, in[i])
			begin[o.Attr.Axis] += t.Shape[o.Attr.Axis]
		}
	}
}
